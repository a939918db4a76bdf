import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRateLimiter, type RateLimiter } from '../../src/delivery/rate-limiter.ts'
import { at, DM, GROUP, TELEGRAM, UNLIMITED } from './rig.ts'
import { type SteppedClock, steppedClock } from './stepped-clock.ts'

function limiterOf(limits = TELEGRAM): { clock: SteppedClock; limiter: RateLimiter } {
  const clock = steppedClock(0)
  return { clock, limiter: createRateLimiter(clock, () => limits) }
}

test('a few messages to one chat pass at once, then one a second', () => {
  const { clock, limiter } = limiterOf()
  const taken = Array.from({ length: 5 }, () => limiter.take(at(DM)))
  expect(taken).toEqual([true, true, true, false, false])
  expect(limiter.takeChat(at(DM))).toBe(1_000)
  clock.moveTo(1_000)
  expect([limiter.take(at(DM)), limiter.take(at(DM))]).toEqual([true, false])
})

test('any minute of a group stays within its number, whatever the pauses', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 20_000 }), { maxLength: 200 }), (pauses) => {
      const { clock, limiter } = limiterOf()
      const sent: number[] = []
      for (const pause of pauses) {
        clock.moveTo(clock.now() + pause)
        if (limiter.take(at(GROUP))) sent.push(clock.now())
      }
      return sent.every((from) => sent.filter((time) => time >= from && time < from + 60_000).length <= 20)
    }),
  )
})

test('a slot that is given back is free again, and any minute of a group stays within its number', () => {
  const attempts = fc.array(fc.tuple(fc.integer({ min: 0, max: 5_000 }), fc.boolean()), { maxLength: 200 })
  fc.assert(
    fc.property(attempts, (all) => {
      const [one, other] = [limiterOf(), limiterOf()]
      const sent: number[] = []
      for (const [pause, leaves] of all) {
        one.clock.moveTo(one.clock.now() + pause)
        other.clock.moveTo(one.clock.now())
        if (leaves) {
          const taken = one.limiter.take(at(GROUP))
          expect(other.limiter.take(at(GROUP))).toBe(taken)
          if (taken) sent.push(one.clock.now())
        } else if (one.limiter.take(at(GROUP))) {
          one.limiter.giveBack(at(GROUP))
        }
      }
      return sent.every((from) => sent.filter((time) => time >= from && time < from + 60_000).length <= 20)
    }),
  )
})

test('any second of an account stays within its number, whatever the chats', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 120 }), { maxLength: 200 }), (pauses) => {
      const { clock, limiter } = limiterOf()
      const sent: number[] = []
      for (const [chat, pause] of pauses.entries()) {
        clock.moveTo(clock.now() + pause)
        if (limiter.take(at(`telegram:direct:${chat}`))) sent.push(clock.now())
      }
      return sent.every((from) => sent.filter((time) => time >= from && time < from + 1_000).length <= 30)
    }),
  )
})

test('booked slots of an account come one after the other in the order of asking', () => {
  const { limiter } = limiterOf()
  const waits = Array.from({ length: 30 }, () => limiter.bookAccount(at(DM)))
  expect(waits.slice(0, 6)).toEqual([0, 0, 0, 0, 0, 0])
  expect(waits.slice(6)).toEqual([...waits.slice(6)].sort((a, b) => a - b))
  expect(waits.at(-1)).toBe(1_000)
})

test('an edit that must leave slots is refused before the last ones are gone', () => {
  const { limiter } = limiterOf()
  expect([limiter.take(at(DM), { leaving: 2 }), limiter.take(at(DM), { leaving: 2 })]).toEqual([true, false])
  expect([limiter.take(at(DM)), limiter.take(at(DM)), limiter.take(at(DM))]).toEqual([true, true, false])
})

test('a direct chat has no limit a minute', () => {
  const { clock, limiter } = limiterOf()
  let sent = 0
  for (let second = 0; second < 60; second++) {
    clock.moveTo(second * 1_000)
    if (limiter.take(at(DM))) sent++
  }
  expect(sent).toBe(60)
})

test('accounts do not share a limit', () => {
  const { limiter } = limiterOf()
  for (let count = 0; count < 100; count++) limiter.bookAccount(at(DM))
  expect([limiter.take(at(DM)), limiter.take(at('telegram@second:direct:7'))]).toEqual([false, true])
})

test('a pause never shortens an earlier one, and ends', () => {
  const { clock, limiter } = limiterOf()
  limiter.pause(at(GROUP), 5_000)
  limiter.pause(at(GROUP), 1_000)
  expect([limiter.paused(at(`${GROUP}/9`)), limiter.takeChat(at(GROUP))]).toEqual([true, 5_000])
  clock.moveTo(5_000)
  expect([limiter.paused(at(GROUP)), limiter.takeChat(at(GROUP))]).toEqual([false, 0])
})

test('idle buckets are dropped: 100,000 chats leave few behind', () => {
  const { clock, limiter } = limiterOf(UNLIMITED)
  let most = 0
  for (let chat = 0; chat < 100_000; chat++) {
    clock.moveTo(chat)
    limiter.take(at(`telegram:direct:${chat}`))
    most = Math.max(most, limiter.size)
  }
  expect(most).toBeLessThanOrEqual(1_100)
})

/** What a rank took of a chat's topics and of other chats, with these pauses. */
const asks = fc.array(fc.record({ pause: fc.integer({ min: 0, max: 3_000 }), chat: fc.nat(9) }), { maxLength: 120 })
const ADDRESSES = [
  GROUP,
  `${GROUP}/1`,
  `${GROUP}/2`,
  DM,
  ...[1, 2, 3, 4, 5, 6].map((chat) => `telegram:direct:${chat}`),
]

test.each([
  [2, 1],
  [2, 0],
  [1, 0],
] as const)('whatever rank %i takes, chat, group and account have a slot for rank %i at once', (low, high) => {
  fc.assert(
    fc.property(asks, fc.constantFrom(GROUP, `${GROUP}/9`, DM), (given, to) => {
      const { clock, limiter } = limiterOf()
      for (const { pause, chat } of given) {
        clock.moveTo(clock.now() + pause)
        limiter.takeLow(at(ADDRESSES[chat] ?? DM), low)
      }
      return limiter.take(at(to), { rank: high })
    }),
  )
})

test('what is told to ask again is told for its own rank: nobody waits behind the line of those that come after', () => {
  const { limiter } = limiterOf()
  const chats = Array.from({ length: 300 }, (_, chat) => at(`telegram:direct:${chat}`))
  const last = Math.max(...chats.map((chat) => limiter.takeLow(chat, 2)))
  const waits = Array.from({ length: 5 }, (_, chat) => limiter.takeLow(at(`telegram:direct:${1_000 + chat}`), 1))
  expect(waits.slice(0, 3).map((wait) => wait > 0)).toEqual([false, false, true])
  expect(Math.max(...waits)).toBeLessThan(last / 10)
})

test('of an account that has one slot at a time, what was told to ask again has the next one before those behind it', () => {
  const { clock, limiter } = limiterOf({ perSecond: 5, perChatPerSecond: 1, perGroupPerMinute: 60 })
  const chats = Array.from({ length: 60 }, (_, chat) => at(`telegram:direct:${chat}`))
  for (const chat of chats) limiter.takeLow(chat, 2)
  const again = limiter.takeLow(at('telegram:direct:999'), 1)
  clock.moveTo(again)
  for (const chat of chats) expect(limiter.takeLow(chat, 2)).toBeGreaterThan(0)
  expect(limiter.takeLow(at('telegram:direct:999'), 1)).toBe(0)
})
