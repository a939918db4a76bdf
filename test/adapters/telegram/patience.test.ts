import { describe, expect, test } from 'vitest'
import { Patience } from '../../../adapters/telegram/connection/patience.ts'
import { ManualClock } from './manual-clock.ts'

function open() {
  const clock = new ManualClock()
  const patience = new Patience(clock)
  const ended: string[] = []
  const { signal: never } = new AbortController()
  const wait = (name: string, deadlineMs = 1000, signal = never) => {
    const waiting = patience.wait({ deadlineMs, signal }, (reason) => {
      if (patience.over(waiting)) ended.push(`${name}: ${reason}`)
    })
    return waiting
  }
  return { clock, patience, ended, wait }
}

describe('Patience', () => {
  test('a call alone is given up at its deadline and not before', async () => {
    const { clock, ended, wait } = open()
    wait('a')
    await clock.advance(999)
    expect(ended).toEqual([])
    await clock.advance(1)

    expect(ended).toEqual(['a: no answer within 1 s'])
  })

  test('a call that began soon after another is given up with it, a later one at its own deadline', async () => {
    const { clock, ended, wait } = open()
    wait('a')
    await clock.advance(199)
    wait('b')
    await clock.advance(1)
    wait('c')
    await clock.advance(800)
    expect(ended).toHaveLength(2)
    await clock.advance(199)
    expect(ended).toHaveLength(2)
    await clock.advance(1)

    expect(ended.at(-1)).toMatch(/^c/)
  })

  test('calls of different deadlines do not touch each other', async () => {
    const { clock, ended, wait } = open()
    wait('long', 3000)
    wait('short', 1000)
    wait('long too', 3000)
    await clock.advance(2999)
    expect(ended).toEqual(['short: no answer within 1 s'])
    await clock.advance(1)

    expect(ended).toHaveLength(3)
  })

  test('a call that was over before is not given up', async () => {
    const { clock, patience, ended, wait } = open()
    const call = wait('a')

    expect([patience.over(call), patience.over(call)]).toEqual([true, false])
    await clock.advance(5000)
    expect(ended).toEqual([])
  })

  test('a call after an answered one has its whole time', async () => {
    const { clock, patience, ended, wait } = open()
    patience.over(wait('a'))
    await clock.advance(900)
    wait('b')
    await clock.advance(999)
    expect(ended).toEqual([])
    await clock.advance(1)

    expect(ended).toHaveLength(1)
  })

  test('a clock that is set back takes no time from a call', async () => {
    const { clock, ended, wait } = open()
    wait('a')
    await clock.advance(900)
    clock.setBy(-800)
    wait('b')
    await clock.advance(100)
    expect(ended).toEqual(['a: no answer within 1 s'])
    await clock.advance(899)
    expect(ended).toHaveLength(1)
    await clock.advance(1)

    expect(ended).toHaveLength(2)
  })

  test('once no call is waited for, no timer is left', async () => {
    const { clock, patience, wait } = open()
    const call = wait('a', 40_000)
    patience.over(wait('b', 15_000))
    patience.over(call)
    await clock.advance(200)

    expect(clock.pending).toBe(0)
  })

  test('a signal ends the calls under it, all of them and no other', () => {
    const { ended, wait } = open()
    const stop = new AbortController()
    wait('a', 1000, stop.signal)
    wait('b', 2000, stop.signal)
    wait('c')
    stop.abort()

    expect(ended).toEqual(['a: stopped', 'b: stopped'])
  })
})
