import { describe, expect, it, test } from 'vitest'
import type { Applicant } from '../../src/core/admission.ts'
import type { Decision, TraceStep } from '../../src/core/dispatch.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import { type SummarizedRow, type SummaryFacts, summarizeRow } from '../../src/sessions/commands/summarize-row.ts'
import { commandCall } from '../fakes/command-call.ts'
import { userMessage } from '../fakes/session-events.ts'

const OWNER: SummaryFacts = { settings: true }
const GUEST: SummaryFacts = { settings: false }
const { identity, route } = commandCall('why', '').decision
const PASSED: TraceStep = { stage: 'access', verdict: 'pass', because: 'who: public', config: 'groups[0].who' }

function stopped(because: string, config?: string): readonly TraceStep[] {
  const step = { stage: 'group-rule', verdict: 'stop', because, ...(config === undefined ? {} : { config }) } as const
  return [PASSED, step]
}

function run(changes: Partial<SummarizedRow>): SummarizedRow {
  const step: TraceStep = { stage: 'group-rule', verdict: 'pass', because: 'a direct chat' }
  const decision = { kind: 'run', reason: 'direct', route, addressed: true, identity, trace: [PASSED, step] } as const
  return { decision, state: 'done', ...changes }
}

function done(decision: Decision, outcome: SummarizedRow['outcome']): SummarizedRow {
  return { decision, state: 'done', ...(outcome === undefined ? {} : { outcome }) }
}

function refused(kind: Applicant['kind']): SummarizedRow {
  const asks = { kind, key: 'telegram:555' }
  const trace = stopped('direct chats are for known people only, not for a stranger', 'routing.access.direct')
  return done({ kind: 'refuse', reason: 'stranger', asks, identity, trace }, 'refused: stranger')
}

describe('a message that owes an answer', () => {
  test.each<[Partial<SummarizedRow>, string]>([
    [{ outcome: 'answered' }, 'Answered: a direct chat.'],
    [{ state: 'waiting' }, 'Waiting for its turn: a direct chat; `/stop` ends it.'],
    [{ state: 'claimed' }, 'Being answered now: a direct chat; `/stop` ends it.'],
    [{ outcome: 'silent' }, 'Read and not answered: the agent chose to say nothing; its instructions change that.'],
    [
      { outcome: 'refused: queue_full' },
      'Refused: too many messages waited in this conversation; the setting session.queue.max changes that.',
    ],
    [
      { outcome: 'refused: send_policy' },
      'Answered and not sent: sending was denied by then; `/send on` there or the setting session.sendPolicy changes that.',
    ],
  ])('%j', (changes, sentence) => {
    expect(summarizeRow(run(changes), OWNER)).toBe(sentence)
  })

  test.each<[ErrorCode, string]>([
    ['model_auth', 'the model provider refused the key; set a valid key in apiKey of its server and start'],
    ['model_unconfigured', 'the agent has no model that can be called; choose another model with `/model`'],
    ['internal', 'something unexpected failed; look for the cause in the log'],
  ])('that failed with %s has cause and remedy', (error, words) => {
    expect(summarizeRow(run({ outcome: 'failed' }), { ...OWNER, error })).toContain(`Not answered: ${words}`)
  })

  test.each<[ErrorCode, string | undefined, string]>([
    ['model_auth', 'openai/gpt', 'set a valid key in models.openai.apiKey (or OPENAI_API_KEY) and start'],
    ['model_auth', 'groq/llama', 'set a valid key in models.groq.apiKey and start'],
    ['model_failed', 'ollama/qwen3', 'check the network of this machine and models.ollama.baseUrl; the next'],
    ['model_failed', undefined, 'check the network of this machine and baseUrl of its server; the next'],
    ['model_failed', 'scripted/x.yaml', 'check the network of this machine and baseUrl of its server; the next'],
    ['model_unconfigured', 'ollama/none', 'choose another model with `/model`, or provide this one at its server; '],
    ['model_unconfigured', 'ollama/none', 'after a change of the agent or of models.ollama start the daemon again.'],
    ['model_overloaded', 'ollama/none', 'wait a few minutes; the next message is tried anew.'],
  ])('that failed with %s of %s names the settings of that server', (error, model, words) => {
    const sentence = summarizeRow(run({ outcome: 'failed' }), { ...OWNER, error, model })
    expect(sentence).toContain(words)
    expect(sentence).not.toContain('<server>')
  })

  it('that failed names no setting to people who may not change it', () => {
    const sentence = summarizeRow(run({ outcome: 'failed' }), { ...GUEST, error: 'model_auth' })
    expect(sentence).toBe('Not answered: the model provider refused the key.')
  })

  it('has a sentence about the messages of the channel that its thread was shown, where there are any', () => {
    const message = userMessage('hello')
    const shown = (messages: (typeof message)[], more = {}) =>
      summarizeRow(run({ outcome: 'answered' }), { ...GUEST, context: { thread: { messages, leftOut: 0, ...more } } })
    const begin = 'Answered: a direct chat.'
    expect(shown([message], { channel: true })).toBe(
      `${begin} It was shown 1 message of the channel from before this thread.`,
    )
    expect(shown([message, message], { channel: true })).toContain(' 2 messages of the channel from')
    expect([shown([], { channel: true }), shown([message])]).toEqual([begin, begin])
  })
})

describe('a message that owes none', () => {
  const overheard: Decision = {
    kind: 'context',
    reason: 'not_addressed',
    ...{ route, identity, addressed: false },
    trace: stopped('the bot was not addressed', 'groups[0].trigger'),
  }

  it('has the setting for an owner and the remedy in chat for others', () => {
    const begin = 'Remembered and not answered: the bot was not addressed; '
    expect(summarizeRow(done(overheard, 'context'), OWNER)).toBe(`${begin}the setting groups[0].trigger changes that.`)
    expect(summarizeRow(done(overheard, 'context'), GUEST)).toBe(`${begin}a message that mentions the bot is answered.`)
  })

  it('of an app has the setting that decides about apps, and no advice to mention the bot', () => {
    const known: Decision = { ...overheard, reason: 'bot', trace: stopped('apps are known', 'groups[0].bots') }
    const begin = 'Remembered and not answered: apps are known'
    expect(summarizeRow(done(known, 'context'), OWNER)).toBe(
      `${begin}; the setting groups[0].bots changes that, with its id in botIds.`,
    )
    expect(summarizeRow(done(known, 'context'), GUEST)).toBe(`${begin}.`)
    const unlisted: Decision = { ...known, trace: stopped('this app is not listed', 'groups[0].botIds') }
    expect(summarizeRow(done(unlisted, 'context'), OWNER)).toMatch(
      /listed; the setting groups\[0\].botIds changes that\.$/,
    )
  })

  test.each<[string, string]>([
    ['groups[0].bots', 'groups[0]'],
    ['routing.access.groups', 'a rule for this chat under routing.access.groups'],
  ])('of an app that is ignored has the setting by which the agent would know it: %s', (config, where) => {
    const ignored: Decision = { kind: 'ignore', reason: 'bot', identity, trace: stopped('apps are ignored', config) }
    const change = `\`bots: context\` in ${where} lets the agent know what they say`
    expect(summarizeRow(done(ignored, 'ignored: bot'), OWNER)).toBe(`Ignored: apps are ignored; ${change}.`)
    expect(summarizeRow(done(ignored, 'ignored: bot'), GUEST)).toBe('Ignored: apps are ignored.')
  })

  it('has the command where one changes it', () => {
    const muted: Decision = { ...overheard, reason: 'muted', trace: stopped('muted until /mute off') }
    expect(summarizeRow(done(muted, 'context'), OWNER)).toMatch(/muted until \/mute off; `\/mute off` there changes/)
  })

  test.each<[string | undefined, string]>([
    [undefined, '`/send on` or `/send inherit` there changes that'],
    ['session.sendPolicy.default', '`/send on` there or the setting session.sendPolicy.default changes that'],
  ])('that may not be sent to has the command, and the setting where one decided: %s', (config, change) => {
    const unsent: Decision = { ...overheard, reason: 'send_policy', trace: stopped('denied', config) }
    expect(summarizeRow(done(unsent, 'context'), OWNER)).toBe(`Remembered and not answered: denied; ${change}.`)
    expect(summarizeRow(done(unsent, 'context'), GUEST)).toBe('Remembered and not answered: denied.')
  })

  test.each<[SummaryFacts['asked'], string]>([
    [{ code: 'k7f3d', state: 'asked', kind: 'person' }, '`/admit k7f3d` lets them in'],
    [{ code: 'k7f3d', state: 'asked', kind: 'place' }, '`/admit k7f3d` opens this chat'],
    [
      { code: 'k7f3d', state: 'denied', kind: 'person' },
      'an owner denied it since, and `/admit k7f3d` takes that back',
    ],
    [{ code: 'k7f3d', state: 'admitted', kind: 'person' }, 'an owner let them in since'],
    [undefined, 'the setting routing.access.direct changes that'],
  ])('a refusal has the pending request: %j', (asked, change) => {
    expect(summarizeRow(refused('person'), { ...OWNER, asked })).toBe(
      `Refused: direct chats are for known people only, not for a stranger; ${change}.`,
    )
  })

  it('a refusal shows the code to nobody but an owner', () => {
    const asked = { code: 'k7f3d', state: 'asked', kind: 'person' } as const
    expect(summarizeRow(refused('person'), { ...GUEST, asked })).toMatch(/; an owner can let you in\.$/)
  })

  it('a command and what came of it', () => {
    const { decision } = commandCall('model', 'x')
    expect(summarizeRow(done(decision, 'control'), OWNER)).toBe('Run as a command: the message begins with /model.')
    expect(summarizeRow(done(decision, 'refused: Unknown model.'), OWNER)).toBe(
      'The command /model was refused: Unknown model.',
    )
  })
})
