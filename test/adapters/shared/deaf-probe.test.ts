import { afterEach, describe, expect, test } from 'vitest'
import { DeafProbe } from '../../../adapters/shared/deaf-probe.ts'
import { ManualClock } from '../telegram/manual-clock.ts'

const PACE = 90_000
const aborts: AbortController[] = []
afterEach(() => {
  for (const abort of aborts.splice(0)) abort.abort()
})

type Answer = boolean | Error

function rig(answers: Answer[]) {
  const clock = new ManualClock()
  const abort = new AbortController()
  aborts.push(abort)
  const told: string[] = []
  const state = { well: true, asked: 0 }
  const probe = new DeafProbe({
    clock,
    signal: abort.signal,
    looksWell: () => state.well,
    probe() {
      state.asked++
      const answer = answers.shift() ?? false
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
    },
    deaf: () => told.push('deaf'),
    receives: () => told.push('hears'),
  })
  const running = probe.run()
  const pass = async (paces = 1) => {
    for (let pace = 0; pace < paces; pace++) {
      await clock.armed(8 * PACE)
      await clock.advance(PACE)
    }
  }
  return { clock, abort, told, state, probe, running, pass }
}

describe('an account is deaf', () => {
  test('F-K12: when two answers in a row show it, and not after one', async () => {
    const { told, pass } = rig([true, false, true, new Error('no answer'), true, true])
    await pass(5)
    expect(told).toEqual([])
    await pass()
    expect(told).toEqual(['deaf'])
  })

  test('not where something came between the two answers, nor is it asked then', async () => {
    const { told, state, probe, pass } = rig([true, true, true])
    await pass()
    probe.received()
    await pass()
    expect([state.asked, told]).toEqual([1, []])
    await pass()
    expect([state.asked, told]).toEqual([2, []])
  })

  test('not while the connection is known to be broken', async () => {
    const { told, state, pass } = rig([true, true, true])
    await pass()
    state.well = false
    await pass()
    state.well = true
    await pass()
    expect([state.asked, told]).toEqual([2, []])
  })

  test('until something comes', async () => {
    const { told, probe, pass } = rig([true, true])
    await pass(2)
    probe.received()
    probe.received()
    expect(told).toEqual(['deaf', 'hears'])
  })

  test('until nothing more is held', async () => {
    const { told, pass } = rig([true, true, false])
    await pass(4)
    expect(told).toEqual(['deaf', 'hears'])
  })

  test('again where a new connection did not help, ever more slowly up to eight times the pace', async () => {
    const { told, state, pass } = rig(Array.from({ length: 50 }, () => true))
    const paces: number[] = []
    for (let pace = 1; pace <= 44; pace++) {
      const before = told.length
      await pass()
      if (told.length > before) paces.push(pace)
    }
    expect(paces).toEqual([2, 6, 14, 30])
    expect(state.asked).toBe(9)
  })
})

test('a stop ends the probe and leaves no timer', async () => {
  const { clock, abort, running, pass } = rig([])
  await pass()
  abort.abort()
  await running
  expect(clock.pending).toBe(0)
})
