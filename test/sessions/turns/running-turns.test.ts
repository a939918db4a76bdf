import { expect, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { deferred } from '../../../src/core/deferred.ts'
import { type TurnId, toSessionId } from '../../../src/core/ids.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { createRunningTurns } from '../../../src/sessions/turns/running-turns.ts'
import type { StartedTurn } from '../../../src/sessions/turns/started-turn.ts'

const SESSION = toSessionId('telegram:1')
const TURN = { session: { id: SESSION } } as unknown as StartedTurn

const BREAKS: readonly (readonly [string, () => Promise<void>])[] = [
  [
    'before its first await',
    () => {
      throw new Error('broken')
    },
  ],
  ['after it', async () => Promise.reject(new Error('broken'))],
]

test.each(BREAKS)('a turn that breaks off %s has ended, and whoever waits for its end hears of it', async (_, run) => {
  const running = createRunningTurns(systemClock, silentLogger)
  const end = running.nextEnd(SESSION)
  await running.begin(TURN, run)
  await end
  expect(running.has(SESSION)).toBe(false)
})

test('a turn that ends after the next has begun leaves it running', async () => {
  const running = createRunningTurns(systemClock, silentLogger)
  const gate = deferred()
  let next: Promise<void> | undefined
  await running.begin(TURN, async () => {
    await Promise.resolve()
    next = running.begin(TURN, () => gate.promise)
  })
  expect(running.has(SESSION)).toBe(true)
  gate.resolve()
  await next
  expect(running.has(SESSION)).toBe(false)
})

test('a turn that is named is aborted, and no other that runs in its place by then', async () => {
  const running = createRunningTurns(systemClock, silentLogger)
  const [one, another] = ['turn_1' as TurnId, 'turn_2' as TurnId]
  const gate = deferred()
  let signal: AbortSignal | undefined
  const ended = running.begin({ ...TURN, id: one }, (given) => {
    signal = given
    return gate.promise
  })
  expect([running.abort(SESSION, another), signal?.aborted]).toEqual([undefined, false])
  const aborted = running.abort(SESSION, one)
  expect(signal?.aborted).toBe(true)
  gate.resolve()
  await Promise.all([aborted, ended])
  expect(running.abort(SESSION)).toBeUndefined()
})

test('the end of a turn is tried again with what the last attempt failed with', async () => {
  const running = createRunningTurns({ ...systemClock, after: (_, run) => systemClock.after(0, run) }, silentLogger)
  const failures: unknown[] = []
  const broken = new TypeError('broken')
  const stored = await running.untilStored(async (failure) => {
    failures.push(failure)
    if (failures.length < 2) throw broken
    return 'stored'
  })
  expect([stored, failures]).toEqual(['stored', [undefined, broken]])
})

test('a turn that comes to its question while the daemon stops is waited for no longer than one that was there', async () => {
  let looks = 0
  const running = createRunningTurns(systemClock, silentLogger, { waits: () => ++looks > 1 })
  const ended = running.begin(TURN, (signal) => new Promise((resolve) => signal.addEventListener('abort', resolve)))
  await running.drain(1_000_000)
  await ended
  expect(looks).toBeGreaterThan(1)
})
