import { describe, expect, onTestFinished, test } from 'vitest'
import { createOpenAi } from '../../../src/agent/models/openai.ts'
import { createPrecheck } from '../../../src/agent/precheck.ts'
import { createSummarize } from '../../../src/agent/summarize.ts'
import { type Content, type MediaPart, textContent } from '../../../src/core/content.ts'
import type { MediaId } from '../../../src/core/ids.ts'
import { toSessionId } from '../../../src/core/ids.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import type { Model, ModelMessage } from '../../../src/core/model.ts'
import { SILENCE } from '../../../src/core/silence.ts'
import type { JournalDraft, TurnRequest } from '../../../src/core/turn.ts'
import { dialectOf } from '../../../src/rehearsal/openai/dialects.ts'
import { refusal } from '../../../src/rehearsal/openai/refusals.ts'
import { DIALECTS, type DialectName } from '../../../src/rehearsal/openai/refused.ts'
import { playReplies, type Reply, type ReplyPart } from '../../../src/rehearsal/openai/script.ts'
import { type OpenAiServer, type OpenAiServerOptions, startOpenAiServer } from '../../../src/rehearsal/openai/server.ts'
import { pictureStore } from '../../contracts/model-contract.ts'
import { DOT } from '../../fakes/pictures.ts'
import { sample } from '../../sample.ts'
import { movedClock } from '../moved-clock.ts'
import { agentWith, never, type Played, play, tool, turnRequest } from '../turns.ts'

const THOUGHT = 'They mean the garden, I suppose.'
const thought: ReplyPart = { type: 'reasoning', reasoning: THOUGHT }
const text = (words: string): ReplyPart => ({ type: 'text', text: words })
const call = (at: string): ReplyPart => ({ type: 'tool_call', name: 'look', arguments: { at } })
const step = (...parts: readonly ReplyPart[]): Reply => ({ parts: [thought, ...parts] })
const user = (words: string): ModelMessage => ({ role: 'user', content: textContent(words) })

interface Rig {
  readonly server: OpenAiServer
  readonly model: Model
  /** Plays a turn with a tool that looks. */
  turn(more?: Partial<TurnRequest>, looks?: Content): Promise<Played & { readonly shown: readonly string[] }>
}

/** A model of a dialect that gives these replies, the last of them again and again. */
async function rigOf(
  dialect: DialectName,
  replies: readonly [Reply, ...Reply[]],
  options: OpenAiServerOptions = {},
  name = 'alpha',
): Promise<Rig> {
  const server = await startOpenAiServer({ dialect, script: playReplies(...replies), ...options })
  onTestFinished(() => server.close())
  const { apiKey, baseUrl } = server
  const model = await createOpenAi({ apiKey, baseUrl, model: name, clock: movedClock(), media: pictureStore })
  return {
    server,
    model,
    async turn(more = {}, looks = textContent('A gate.')) {
      const shown: string[] = []
      const run = agentWith(model, [tool('look', { run: async () => ({ content: looks }) })])
      return { ...(await play(run(turnRequest({ show: (said) => void shown.push(said), ...more }), never()))), shown }
    },
  }
}

/**
 * Nothing that was thought is in the answer or stands in a chat at its end. A thought without a mark in front can be
 * known as one only when it ends: it may have been shown until then, once.
 */
function expectNoThought({ result, shown }: Awaited<ReturnType<Rig['turn']>>, dialect: DialectName): void {
  const last = dialectOf(dialect).thoughts === 'unopened' ? shown.slice(-1) : shown
  const said = [...last, result.kind === 'final' ? result.text : '']
  expect(said).not.toContainEqual(expect.stringMatching(/suppose|<\/?think>/))
}

/** What each scenario is tried on: a name and the run. */
const SCENARIOS: readonly (readonly [string, (dialect: DialectName) => Promise<void>])[] = [
  [
    'tools in two steps, with thoughts in each',
    async (dialect) => {
      const rig = await rigOf(dialect, [
        step(call('gate')),
        step(text('Wait.'), call('pond'), call('roof')),
        step(text('All is well.')),
      ])
      const played = await rig.turn()
      expect(played.result).toMatchObject({
        kind: 'final',
        text: expect.stringMatching(/^\s*All is well\.$/),
        steps: 3,
      })
      expect(calledWith(played.journal)).toEqual([{ at: 'gate' }, { at: 'pond' }, { at: 'roof' }])
      expectNoThought(played, dialect)
    },
  ],
  [
    'a message that joins the running turn behind a tool',
    async (dialect) => {
      const rig = await rigOf(dialect, [step(call('gate')), step(call('pond')), step(text('Both are shut.'))])
      const joining = [[textContent('And the pond?')]]
      const played = await rig.turn({ steer: async () => joining.shift() ?? [] })
      expect(played.result).toMatchObject({ kind: 'final', text: expect.stringContaining('Both are shut.') })
      expect(JSON.stringify(rig.server.ledger.requests().at(-1)?.messages)).toContain('And the pond?')
      expectNoThought(played, dialect)
    },
  ],
  [
    'a picture that a tool returns',
    async (dialect) => {
      const rig = await rigOf(dialect, [step(call('gate')), step(call('pond')), step(text('A red dot.'))])
      const played = await rig.turn({}, [...textContent('Here.'), picture])
      expect(played.result).toMatchObject({ kind: 'final', text: expect.stringContaining('A red dot.') })
      expect(JSON.stringify(rig.server.ledger.requests().at(-1))).toContain(Buffer.from(DOT).toString('base64'))
    },
  ],
  [
    'a picture that a tool returns to a model without eyes',
    async (dialect) => {
      const rig = await rigOf(dialect, [step(call('gate')), step(text('I cannot see it.'))], { lacks: ['pictures'] })
      const played = await rig.turn({}, [...textContent('Here.'), picture])
      expect(played.result).toMatchObject({ kind: 'final', text: expect.stringContaining('I cannot see it.') })
      expect(JSON.stringify(rig.server.ledger.requests().at(-1))).toContain('garden.png')
    },
  ],
  [
    'silence behind thoughts',
    async (dialect) => {
      const played = await (await rigOf(dialect, [step(text(SILENCE))])).turn({ chatType: 'group' })
      expect(played.result).toMatchObject({
        kind: 'final',
        text: expect.stringMatching(new RegExp(`^\\s*${SILENCE}$`)),
      })
      expectNoThought(played, dialect)
    },
  ],
  [
    'a pre-check behind thoughts',
    async (dialect) => {
      const { model } = await rigOf(dialect, [step(text('no: they talk among themselves'))])
      const check = createPrecheck({
        models: async () => model,
        called() {},
        clock: movedClock(),
        logger: silentLogger,
      })
      const { verdict } = await check({ model: model.id, messages: [user('hi all')] }, never())
      expect(verdict).toMatchObject({ answer: false, because: 'they talk among themselves' })
    },
  ],
  [
    'a summary behind thoughts',
    async (dialect) => {
      const words = `Ada wants the garden done by Friday. ${'Bob agreed to it. '.repeat(6)}`.trim()
      const { model } = await rigOf(dialect, [step(text(words))])
      const services = {
        models: async () => model,
        called() {},
        rests: () => false,
        clock: movedClock(),
        logger: silentLogger,
      }
      const agent = { ...turnRequest().agent, model: model.id }
      const summary = await createSummarize(services)(
        { agent, sessionId: toSessionId('cli:test'), messages: [user('the garden')] },
        never(),
      )
      expect(summary?.text).toBe(words)
    },
  ],
  [
    'a conversation that is too long',
    async (dialect) => {
      const rig = await rigOf(dialect, [step(text('Yes.'))], {
        contextTokens: dialectOf(dialect).reservesAnswer ? 10_096 : 6_000,
      })
      const older = Array.from({ length: 8 }, (_, nth) => [
        user(`${nth} ${'word '.repeat(800)}`),
        { role: 'assistant', text: 'Noted.', calls: [] } as ModelMessage,
      ]).flat()
      const played = await rig.turn({
        messages: [...older, user('Is it late?')],
        earlier: { messages: older.length, summary: false, said: 0 },
      })
      expect(played.result).toMatchObject({ kind: 'final', text: expect.stringContaining('Yes.') })
      expect(JSON.stringify(rig.server.ledger.requests().at(-1))).toContain('Is it late?')
    },
  ],
  [
    'another dialect that goes on in the middle of the turn',
    async (dialect) => {
      const broken = { error: { status: 400, type: 'invalid_request_error', message: 'gone' } }
      const first = await (await rigOf(dialect, [step(text('Wait.'), call('gate')), broken])).turn()
      expect(first.result.kind).toBe('failed')
      const next = otherThan(dialect)
      const other: ReplyPart = { type: 'reasoning', reasoning: 'First the pond.' }
      const second = await rigOf(next, [{ parts: [other, call('pond')] }, step(text('All is well.'))], {}, 'beta')
      const played = await second.turn({ messages: [user('look'), ...stepsIn(first.journal)] })
      expect(played.result).toMatchObject({ kind: 'final', text: expect.stringContaining('All is well.') })
      expect(JSON.stringify(second.server.ledger.requests())).not.toContain('suppose')
    },
  ],
  [
    'the cost, with the tokens of thoughts',
    async (dialect) => {
      const beside = dialectOf(dialect).countsThoughtsBeside
      const usage = { prompt_tokens: 50, completion_tokens: beside ? 6 : 95, reasoning_tokens: 89 }
      const played = await (await rigOf(dialect, [{ parts: [thought, text('Yes.')], usage }])).turn()
      expect(played.result).toMatchObject({ kind: 'final', usage: { input: 50, output: 95 } })
    },
  ],
  [
    'a rate limit, no credit and an overload are told as such',
    async (dialect) => {
      for (const kind of ['rateLimit', 'noCredit', 'overloaded'] as const) {
        const { result } = await (await rigOf(dialect, [refusal(kind, dialect)])).turn()
        const code = kind === 'noCredit' && dialect !== 'gemini' ? 'model_no_credit' : 'model_overloaded'
        expect([kind, result]).toMatchObject([kind, { kind: 'failed', code }])
        // Gemini has the same words for both.
        if (result.kind !== 'failed' || (dialect === 'gemini' && kind === 'noCredit')) continue
        expect([kind, result.cause]).toMatchObject([kind, { advice: { retry: kind !== 'noCredit' } }])
      }
    },
  ],
]

const picture: MediaPart = {
  ...{ type: 'image', media: `media:${'a'.repeat(64)}` as MediaId, mime: 'image/png' },
  ...{ size: DOT.length, name: 'garden.png' },
}

function otherThan(dialect: DialectName): DialectName {
  return DIALECTS[(DIALECTS.indexOf(dialect as (typeof DIALECTS)[number]) + 1) % DIALECTS.length] ?? 'openai'
}

/** Returns the arguments of the calls of a journal. */
function calledWith(journal: readonly JournalDraft[]): unknown[] {
  return journal.flatMap((event) => (event.type === 'assistant_step' ? event.data.calls.map(({ args }) => args) : []))
}

/** Returns the messages of the steps of a journal, as a turn that goes on is given them. */
function stepsIn(journal: readonly JournalDraft[]): ModelMessage[] {
  return journal.flatMap((event): ModelMessage[] => {
    if (event.type !== 'assistant_step') return []
    const { text: said, calls, opaque } = event.data
    const asked = calls.map(({ callId: id, tool: name, args }) => ({ id, name, args }))
    const ids = asked.map(({ id }) => id)
    const results = journal.flatMap((one) =>
      one.type === 'tool_result' && ids.includes(one.data.callId)
        ? [{ id: one.data.callId, content: one.data.content, isError: one.data.isError }]
        : [],
    )
    return [
      { role: 'assistant', text: said, calls: asked, ...(opaque && { opaque }) },
      { role: 'tool', results },
    ]
  })
}

describe.each(SCENARIOS)('a turn over the dialects of servers: %s', (_name, run) => {
  test.each(sample(DIALECTS, 4))('%s', run)
})
