import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { type LimitedCall, linkedAbort, onAbort, underDeadline } from '../../../adapters/shared/deadline.ts'
import { ManualClock } from '../telegram/manual-clock.ts'

/** A call that ends when a test ends it, and counts how often it was cut. */
class Call implements LimitedCall<string> {
  begun = false
  cuts = 0
  end: (value: string) => void = () => {}

  begin(): Promise<string> {
    this.begun = true
    return new Promise((resolve) => {
      this.end = resolve
    })
  }

  cut(): void {
    this.cuts++
  }

  givenUp(why: string): string {
    return `given up: ${why}`
  }

  spoiled(value: string): boolean {
    return value === 'half an answer'
  }
}

function rig() {
  const clock = new ManualClock()
  const abort = new AbortController()
  const call = new Call()
  const outcome = underDeadline(clock, { deadlineMs: 15_000, signal: abort.signal }, call)
  const left = () => ({ timers: clock.pending, listeners: getEventListeners(abort.signal, 'abort').length })
  return { clock, abort, call, outcome, left }
}
const NOTHING = { timers: 0, listeners: 0 }

test('a call that ends in time gives what it ended in, is not cut, and leaves nothing behind', async () => {
  const { call, outcome, left } = rig()
  expect(left()).toEqual({ timers: 1, listeners: 1 })
  call.end('an answer')
  expect(await outcome).toBe('an answer')
  expect(call.cuts).toBe(0)
  expect(left()).toEqual(NOTHING)
})

test('a call that left something behind is cut', async () => {
  const { call, outcome } = rig()
  call.end('half an answer')
  expect(await outcome).toBe('half an answer')
  expect(call.cuts).toBe(1)
})

test('at its deadline a call is given up and cut, and what it ends in later is nothing', async () => {
  const { clock, call, outcome, left } = rig()
  await clock.advance(15_000)
  expect(await outcome).toBe('given up: no answer within 15 s')
  expect(call.cuts).toBe(1)
  call.end('too late')
  expect(await outcome).toBe('given up: no answer within 15 s')
  expect(left()).toEqual(NOTHING)
})

test('a time of day that is set ends no call', async () => {
  const { clock, call, outcome } = rig()
  clock.setBy(3_600_000)
  await clock.advance(14_999)
  call.end('an answer')
  expect(await outcome).toBe('an answer')
})

test('a call ends with its signal, and is not begun with one that has ended', async () => {
  const { abort, call, outcome, left } = rig()
  abort.abort()
  expect(await outcome).toBe('given up: stopped')
  expect(call.cuts).toBe(1)
  expect(left()).toEqual(NOTHING)
  const never = new Call()
  const limits = { deadlineMs: 1, signal: abort.signal }
  expect(await underDeadline(new ManualClock(), limits, never)).toBe('given up: stopped')
  expect(never.begun).toBe(false)
})

test('many calls share one listener of their signal, which goes with the last of them', async () => {
  const clock = new ManualClock()
  const { signal } = new AbortController()
  const calls = Array.from({ length: 100 }, () => new Call())
  const outcomes = calls.map((call) => underDeadline(clock, { deadlineMs: 1000, signal }, call))
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  for (const call of calls) call.end('an answer')
  await Promise.all(outcomes)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

test('what waits for a signal is called once, each by itself, and can be taken back', () => {
  const abort = new AbortController()
  const called: string[] = []
  onAbort(abort.signal, () => called.push('first'))
  const forget = onAbort(abort.signal, () => called.push('second'))
  onAbort(abort.signal, () => called.push('third'))
  forget()
  forget()
  abort.abort()
  expect(called).toEqual(['first', 'third'])
})

test('a linked controller aborts with its signal; aborted alone it lets the signal go', () => {
  const parent = new AbortController()
  const child = linkedAbort(parent.signal)
  const alone = linkedAbort(parent.signal)
  alone.abort()
  expect(parent.signal.aborted).toBe(false)
  expect(child.signal.aborted).toBe(false)
  parent.abort()
  expect(child.signal.aborted).toBe(true)
  expect(linkedAbort(parent.signal).signal.aborted).toBe(true)
})

test('a linked controller that was aborted alone leaves no listener behind', () => {
  const parent = new AbortController()
  linkedAbort(parent.signal).abort()
  expect(getEventListeners(parent.signal, 'abort')).toHaveLength(0)
})
