import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { connectLocal } from '../../src/cli/local-client.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { withDatabase } from '../store/temp-database.ts'
import { mulberry } from './random.ts'
import { CASE, rounds } from './rounds.ts'
import { ADA, BOB, KILLED, type Scene, startScene } from './scene.ts'

const LIMIT = 20_000
const COST = 1_100
/** The longest answer, and so the most that a call may cost beside its prompt. */
const ANSWER = 1_000

const script: Script = (request) =>
  JSON.stringify(request.messages.at(-1)).includes('goodbye')
    ? textReply('goodbye', { usage: { input_tokens: 1, output_tokens: 1 } })
    : textReply('fine', { usage: { input_tokens: 1_000, output_tokens: 100 } })

const config = {
  agents: [
    { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be calm.', tools: [], answerTokens: ANSWER },
  ],
  budgets: { timezone: 'UTC', warnAt: 1, prices: {}, total: { month: { tokens: LIMIT } } },
}

function totals({ socketPath }: Pick<Scene, 'socketPath'>) {
  return withDatabase(join(dirname(socketPath), 'parley.db'), (database) => ({
    counts: database.prepare('SELECT tokens, held_tokens FROM budget_counts').all() as readonly {
      readonly tokens: number
      readonly held_tokens: number
    }[],
    holds: database.prepare('SELECT id FROM budget_holds').all(),
  }))
}

describe.concurrent('a kill around a call that is paid for', CASE, () => {
  const cases = [
    // The call was not made: it counts as if it had been, and is made again.
    ['CP33-cost-held', 1],
    // Made and counted, not recorded: it is made, and costs, again.
    ['CP34-cost-settled', 2],
    ['CP6-model-answer-uncommitted', 2],
    // Recorded: it is counted once.
    ['CP10-outbox-planned', 1],
  ] as const
  for (const [point, asked] of rounds(cases, 3)) {
    it(`C33: ${point}: it is counted at its cost or at the most it may cost, never less and never twice`, async (test) => {
      const scene = await startScene(test, { script, config })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: ADA, text: 'hello' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('fine')
      await scene.finish()
      const { counts, holds } = totals(scene)
      const calls = scene.anthropic.ledger.requests().length
      expect(calls).toBe(asked)
      expect(holds).toEqual([])
      expect(counts).toMatchObject([{ held_tokens: 0 }])
      const tokens = counts[0]?.tokens ?? 0
      if (point !== 'CP33-cost-held') return expect(tokens).toBe(asked * COST)
      expect(tokens).toBeGreaterThan(COST + ANSWER)
      expect(tokens).toBeLessThan(COST + 2 * ANSWER)
    })
  }
})

it(
  'C33: a kill between a call that failed and the one that is made in its place: that one alone counts',
  CASE,
  async (test) => {
    const overloaded = { error: { status: 529, type: 'overloaded_error' } }
    const scene = await startScene(test, {
      config,
      script: (request, turn) => (turn === 0 ? overloaded : script(request, turn)),
    })
    await scene.daemon.start('CP34-cost-settled')
    scene.telegram.world.say({ from: ADA, text: 'hello' })
    expect(await scene.daemon.exited()).toEqual(KILLED)
    expect(totals(scene)).toEqual({ counts: [{ tokens: 0, held_tokens: 0 }], holds: [] })
    await scene.daemon.start()
    await scene.sent('fine')
    await scene.finish()
    expect(totals(scene)).toEqual({ counts: [{ tokens: COST, held_tokens: 0 }], holds: [] })
  },
)

describe.concurrent('50 conversations and a kill', CASE, () => {
  it('C33, F-I12: the limit holds, over the kill too, by less than the cost of one call', async (test) => {
    const scene = await startScene(test, { script, config })
    const { world } = scene.telegram
    const people = Array.from({ length: 50 }, (_, at) => 20_000 + at)
    for (const id of people) world.addUser({ id, firstName: `P${id}` })
    await scene.daemon.start('CP34-cost-settled:6')
    for (const from of people) world.say({ from, text: 'hello' })
    expect(await scene.daemon.exited()).toEqual(KILLED)
    await scene.daemon.start()
    await Promise.all(people.map((chat) => scene.sent('', { chat })))
    await scene.finish()
    const { counts, holds } = totals(scene)
    expect(holds).toEqual([])
    expect(counts[0]?.tokens).toBeLessThanOrEqual(LIMIT)
    const calls = scene.anthropic.ledger.requests().length
    expect(calls * COST).toBeLessThanOrEqual(LIMIT + COST)
    expect(calls).toBeGreaterThan(5)
    const texts = people.flatMap((chat) => scene.texts(chat))
    expect(texts.filter((text) => text.startsWith('My budget as a whole')).length).toBeGreaterThan(20)
  })

  it('C33, F-I12: the limit holds over kills at any moment, and nothing stays held', async (test) => {
    const scene = await startScene(test, { script, config })
    const { world } = scene.telegram
    const people = Array.from({ length: 50 }, (_, at) => 20_000 + at)
    for (const id of people) world.addUser({ id, firstName: `P${id}` })
    const random = mulberry(36)
    for (let life = 0; life < 4; life++) {
      await scene.daemon.start()
      if (life === 0) for (const from of people) world.say({ from, text: 'hello' })
      await pause(random() * 900)
      expect(await scene.daemon.kill()).toEqual(KILLED)
    }
    await scene.daemon.start()
    await Promise.all(people.map((chat) => scene.sent('', { chat })))
    await scene.finish()
    const { counts, holds } = totals(scene)
    expect(holds).toEqual([])
    expect(counts).toMatchObject([{ held_tokens: 0 }])
    // A call that was under way is counted at more than it cost.
    expect(counts[0]?.tokens).toBeLessThanOrEqual(LIMIT)
    expect(scene.anthropic.ledger.requests().length * COST).toBeLessThanOrEqual(LIMIT)
  })
})

describe.concurrent('a kill around a call that does not fit', CASE, () => {
  const words = async ({ socketPath }: Scene): Promise<unknown> =>
    (await (await connectLocal(socketPath))?.status())?.budgets?.map((one) => one.words)

  for (const point of rounds(['CP10-outbox-planned', 'CP11-sending-committed', 'CP13-response-read'] as const, 1)) {
    it(`C33: the budget is named as one that a call did not fit, over the kill too (${point})`, async (test) => {
      const budgets = { ...config.budgets, total: { month: { tokens: 100 } } }
      const scene = await startScene(test, { script, config: { ...config, budgets } })
      await scene.daemon.start(point)
      scene.telegram.world.say({ from: BOB, text: 'hello' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      await scene.sent('My budget as a whole', { chat: BOB })
      expect(await words(scene)).toEqual([expect.stringMatching(/ 0 of 100 tokens; .*; a call did not fit$/)])
      await scene.finish()
      expect(scene.anthropic.ledger.requests()).toEqual([])
    })
  }

  it('C33: what a kill has counted may leave too little for the turn that goes on: it is said, and shown', async (test) => {
    const budgets = { ...config.budgets, total: { month: { tokens: COST + ANSWER } } }
    const scene = await startScene(test, { script, config: { ...config, budgets } })
    await scene.daemon.start('CP33-cost-held')
    scene.telegram.world.say({ from: BOB, text: 'hello' })
    expect(await scene.daemon.exited()).toEqual(KILLED)
    await scene.daemon.start()
    await scene.sent('My budget as a whole', { chat: BOB })
    expect(await words(scene)).toEqual([expect.stringMatching(/a call did not fit$/)])
    await scene.finish()
    const [count] = totals(scene).counts
    expect(count).toMatchObject({ held_tokens: 0 })
    expect(count?.tokens).toBeLessThanOrEqual(COST + ANSWER)
    expect(scene.anthropic.ledger.requests()).toEqual([])
  })
})

describe.concurrent('a kill around a notice of a budget', CASE, () => {
  const cases = [
    ['a warning', 8_000, 'Of my budget as a whole for this month'],
    ['a stop', 100, 'My budget as a whole for this month'],
  ] as const

  for (const [notice, tokens, said] of cases)
    it(`C33: owners are told of ${notice}, once`, async (test) => {
      const budgets = { ...config.budgets, warnAt: 0.1, total: { month: { tokens } } }
      const scene = await startScene(test, { script, config: { ...config, budgets } })
      await scene.daemon.start('CP52-budget-notice-planned')
      // Owners are notified where they have written in private.
      scene.telegram.world.say({ from: ADA, text: '/status' })
      await scene.sent('', { chat: ADA })
      scene.telegram.world.say({ from: BOB, text: 'hello' })
      expect(await scene.daemon.exited()).toEqual(KILLED)
      await scene.daemon.start()
      scene.telegram.world.say({ from: BOB, text: 'hello again' })
      await scene.sent(said, { chat: ADA })
      await scene.finish()
      expect(scene.texts(ADA).filter((text) => text.includes(said))).toHaveLength(1)
    })
})
