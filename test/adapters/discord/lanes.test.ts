import { expect, test } from 'vitest'
import { Lanes } from '../../../adapters/discord/inbound/lanes.ts'
import { deferred } from '../../../src/rehearsal/deferred.ts'
import { ManualClock } from '../telegram/manual-clock.ts'

function open() {
  const clock = new ManualClock()
  const abort = new AbortController()
  const failures: string[] = []
  const caughtUp: string[] = []
  const lanes = new Lanes({
    clock,
    signal: abort.signal,
    random: () => 0.999,
    failed: (error) => failures.push(String(error)),
    catchUp: (id) => async () => {
      caughtUp.push(id)
    },
  })
  return { clock, abort, failures, caughtUp, lanes }
}

test('a channel keeps its order while another goes on', async () => {
  const { clock, lanes, failures } = open()
  const done: string[] = []
  let full = true
  lanes.push('a', async () => {
    if (full) throw new Error('the disk is full')
    done.push('a1')
  })
  lanes.push('a', async () => void done.push('a2'))
  lanes.push('b', async () => void done.push('b1'))
  await clock.armed(500)
  expect([done, failures]).toEqual([['b1'], ['Error: the disk is full']])
  full = false
  await clock.advance(500)
  await lanes.idle()
  expect(done).toEqual(['b1', 'a1', 'a2'])
})

test('what is tried again is told of once', async () => {
  const { clock, lanes, failures, abort } = open()
  lanes.push('a', () => Promise.reject(new Error('no')))
  for (const _ of [1, 2, 3]) {
    await clock.armed(10_000)
    await clock.advance(10_000)
  }
  abort.abort()
  await lanes.idle()
  expect(failures).toEqual(['Error: no'])
})

test('more than 500 waiting are let go, and the channel is read again afterwards', async () => {
  const { lanes, caughtUp } = open()
  const gate = deferred<void>()
  let done = 0
  lanes.push('a', () => gate.promise)
  for (let count = 0; count < 600; count++) lanes.push('a', async () => void done++)
  expect(caughtUp).toEqual([])
  gate.resolve()
  await lanes.idle()
  expect([done, caughtUp]).toEqual([499, ['a']])
})

test('after the end nothing is begun', async () => {
  const { lanes, abort } = open()
  const gate = deferred<void>()
  const done: string[] = []
  lanes.push('a', () => gate.promise)
  lanes.push('a', async () => void done.push('late'))
  abort.abort()
  gate.resolve()
  await lanes.idle()
  lanes.push('a', async () => void done.push('later'))
  expect(done).toEqual([])
})
