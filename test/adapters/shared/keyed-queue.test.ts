import { expect, test } from 'vitest'
import { KeyedQueue } from '../../../adapters/shared/keyed-queue.ts'
import { TryLater } from '../../../adapters/shared/until-done.ts'
import { deferred } from '../../../src/rehearsal/deferred.ts'
import { ManualClock } from '../telegram/manual-clock.ts'

function open() {
  const clock = new ManualClock()
  const abort = new AbortController()
  const failures: string[] = []
  const madeUp: string[] = []
  const queue = new KeyedQueue({
    clock,
    signal: abort.signal,
    random: () => 0.999,
    failed: (error) => failures.push(String(error)),
    mostWaiting: 500,
    makeUp: (id) => async () => {
      madeUp.push(id)
    },
  })
  return { clock, abort, failures, madeUp, queue }
}

test('a key keeps its order while another goes on', async () => {
  const { clock, queue, failures } = open()
  const done: string[] = []
  let full = true
  queue.push('a', async () => {
    if (full) throw new Error('the disk is full')
    done.push('a1')
  })
  queue.push('a', async () => void done.push('a2'))
  queue.push('b', async () => void done.push('b1'))
  await clock.armed(500)
  expect([done, failures]).toEqual([['b1'], ['Error: the disk is full']])
  full = false
  await clock.advance(500)
  await queue.idle()
  expect(done).toEqual(['b1', 'a1', 'a2'])
})

test('what is tried again is told of once', async () => {
  const { clock, queue, failures, abort } = open()
  queue.push('a', () => Promise.reject(new Error('no')))
  for (const _ of [1, 2, 3]) {
    await clock.armed(10_000)
    await clock.advance(10_000)
  }
  abort.abort()
  await queue.idle()
  expect(failures).toEqual(['Error: no'])
})

test('more than 500 waiting are let go, and made up for afterwards', async () => {
  const { queue, madeUp } = open()
  const gate = deferred<void>()
  let done = 0
  queue.push('a', () => gate.promise)
  for (let count = 0; count < 600; count++) queue.push('a', async () => void done++)
  expect([madeUp, queue.isBehind('a')]).toEqual([[], true])
  gate.resolve()
  await queue.idle()
  expect([done, madeUp]).toEqual([499, ['a']])
  expect(queue.isBehind('a')).toBe(false)
})

test('after the end nothing is begun', async () => {
  const { queue, abort } = open()
  const gate = deferred<void>()
  const done: string[] = []
  queue.push('a', () => gate.promise)
  queue.push('a', async () => void done.push('late'))
  abort.abort()
  gate.resolve()
  await queue.idle()
  queue.push('a', async () => void done.push('later'))
  expect(done).toEqual([])
})

test('a key is known while a task of it waits or is under way, and then forgotten', async () => {
  const { queue } = open()
  const gate = deferred<void>()
  queue.push('a', () => gate.promise)
  queue.push('a', async () => {})
  expect([queue.has('a'), queue.has('b')]).toEqual([true, false])
  gate.resolve()
  await queue.idle()
  expect(queue.has('a')).toBe(false)
})

test('a task that says when it is to be done again is not done before', async () => {
  const { clock, queue } = open()
  let tries = 0
  queue.push('a', async () => {
    if (++tries === 1) throw new TryLater('not yet', 30_000)
  })
  await clock.armed(30_000)
  await clock.advance(29_999)
  expect(tries).toBe(1)
  await clock.advance(1)
  await queue.idle()
  expect(tries).toBe(2)
})
