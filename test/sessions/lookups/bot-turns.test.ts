import { describe, expect, it } from 'vitest'
import type { BotBudget } from '../../../src/core/bot-budget.ts'
import type { TraceId } from '../../../src/core/ids.ts'
import { decideRoute } from '../../../src/routing/decide-route.ts'
import { BotTurns } from '../../../src/sessions/lookups/bot-turns.ts'
import { dispatchOf, group, message, routeFacts, user } from '../../fakes/dispatch.ts'
import { household, routingOf } from '../../fakes/routing-policy.ts'

const BUDGET: BotBudget = { turns: 20, tokens: 50_000, quietMinutes: 30 }
const ROBOTS = ['1', '2', '3', '4']
const MINUTE = 60_000

/** A chat in which bots mention the agent, decided by the real rules; each answered turn takes some tokens. */
function chat({ tokens = 100, budget = BUDGET }: { readonly tokens?: number; readonly budget?: BotBudget } = {}) {
  const bots = new BotTurns(() => budget)
  const rule = { match: {}, who: 'public', trigger: 'mention', bots: 'mentioned', botIds: ROBOTS } as const
  const routing = routingOf(household({ access: { direct: 'owner', groups: [rule] }, botBudget: budget }))
  const facts = routeFacts({ botSpending: (place, at) => bots.spending(place, at) })
  let serial = 0
  let tripped = 0
  function say(
    sender: ReturnType<typeof user>,
    at: number,
    { topic, eventKey = `e${++serial}` }: { readonly topic?: string; readonly eventKey?: string } = {},
  ): boolean {
    const address = group('-100', topic === undefined ? {} : { topic })
    const traceId = `tr_${++serial}` as TraceId
    const dispatch = dispatchOf(message({ address, sender, mentioned: true, eventKey }), { traceId, receivedAt: at })
    const decision = decideRoute(routing, facts, dispatch)
    if (bots.decided(dispatch, decision)) tripped++
    if (decision.kind !== 'run') return false
    bots.ended(address, traceId, { input: tokens, output: 0 })
    return true
  }
  return {
    bots,
    tripped: () => tripped,
    person: (at: number) => say(user('999'), at),
    bot: (id: string, at: number, more: { readonly topic?: string; readonly eventKey?: string } = {}) =>
      say(user(id, { kind: 'bot' }), at, more),
    /** How many of these messages were answered. */
    loop(count: number, everyMs: number, who: (round: number) => string, topic?: (round: number) => string): number {
      const rounds = Array.from({ length: count }, (_, round) => round)
      return rounds.filter((round) =>
        this.bot(who(round), 1_000 + round * everyMs, topic ? { topic: topic(round) } : {}),
      ).length
    },
  }
}

const alternating = (round: number) => ROBOTS[round % 2] ?? ''
const rotating = (round: number) => ROBOTS[round % 4] ?? ''

describe('F-D11: a loop of bots', () => {
  it.each<[string, number, (round: number) => string]>([
    ['a fast pair', 50, alternating],
    ['a slow pair, one message in 8 s', 8_000, alternating],
    ['a very slow pair, one message in 20 minutes', 20 * MINUTE, alternating],
    ['four bots in turn', 1_000, rotating],
    ['one that repeats itself', 1_000, () => '1'],
  ])('%s is stopped within 20 turns, and the operator told once', (_, everyMs, who) => {
    const loop = chat()
    expect(loop.loop(200, everyMs, who)).toBe(20)
    expect(loop.tripped()).toBe(1)
  })

  it('is stopped also if it moves from topic to topic', () => {
    expect(chat().loop(60, 1_000, alternating, String)).toBe(20)
  })

  it('is stopped by its cost, one turn after it went beyond at most', () => {
    expect(chat({ tokens: 20_000 }).loop(60, 1_000, alternating)).toBe(3)
  })

  it('is not kept alive by what it says in vain', () => {
    const held = chat()
    held.loop(20, 1_000, alternating)
    expect(Array.from({ length: 50 }, (_, tens) => held.bot('1', 60_000 + tens * 10 * MINUTE))).not.toContain(true)
  })
})

describe('people in a chat with bots', () => {
  it('are answered during a loop, and begin a new budget', () => {
    const loop = chat()
    expect(loop.loop(30, 1_000, alternating)).toBe(20)
    expect(loop.person(40_000)).toBe(true)
    expect(loop.bot('1', 41_000)).toBe(true)
    expect(loop.bots.exhausted(41_000)).toEqual([])
  })
})

describe('the budget', () => {
  it('is whole again after a quiet time', () => {
    const loop = chat()
    loop.loop(21, 1_000, alternating)
    const last = 1_000 + 20 * 1_000
    expect(loop.bots.exhausted(last)).toEqual(['telegram:group:-100'])
    expect(loop.bot('1', last + 30 * MINUTE)).toBe(true)
    expect(loop.bots.exhausted(last + 30 * MINUTE)).toEqual([])
  })

  it('F-H14: is that of the policy in force', () => {
    let budget = { ...BUDGET, quietMinutes: 60 }
    const bots = new BotTurns(() => budget)
    const asked = message({ address: group('-100'), sender: user('1', { kind: 'bot' }), mentioned: true })
    const rule = { match: {}, who: 'public', trigger: 'mention', bots: 'mentioned', botIds: ROBOTS } as const
    const routing = routingOf(household({ access: { direct: 'owner', groups: [rule] } }))
    const dispatch = dispatchOf(asked, { receivedAt: MINUTE })
    bots.decided(dispatch, decideRoute(routing, routeFacts(), dispatch))
    expect(bots.spending(group('-100'), 31 * MINUTE).turns).toBe(1)
    budget = BUDGET
    expect(bots.spending(group('-100'), 31 * MINUTE).turns).toBe(0)
  })

  it('counts a message once that the platform tells of twice', () => {
    const { bot, bots } = chat()
    bot('1', 1_000, { eventKey: 'same' })
    bot('1', 1_001, { eventKey: 'same' })
    expect(bots.spending(group('-100'), 1_001)).toMatchObject({ turns: 1, tokens: 100 })
  })

  it('does not count what people ask', () => {
    const { person, bots } = chat()
    person(1_000)
    expect(bots.spending(group('-100'), 1_000)).toMatchObject({ turns: 0, tokens: 0 })
  })
})
