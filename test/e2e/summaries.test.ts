import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Reply, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import { AwaitedLog } from './awaited-log.ts'
import { type Household, startHousehold } from './household.ts'

const SUMMARY = `Ada plans a trip to Lisbon with Bob. ${'They leave on the 3rd of May by train. '.repeat(3)}`.trim()
const MODEL = 'anthropic/claude-haiku-4-5'
const WRITTEN = 'A summary stands for older turns'

/** Answers each message with its number; `summary` answers the request for a summary. */
const answering =
  (summary: Reply, read?: (question: string) => number): Script =>
  (request) => {
    if (isSummary(request)) return summary
    const question = lastUserText(request).split('\n').at(-1) ?? ''
    const usage = read && { usage: { input_tokens: read(question), output_tokens: 9 } }
    return textReply(`answer to ${question}`, usage)
  }

function isSummary({ system }: { readonly system?: unknown }): boolean {
  return JSON.stringify(system ?? '').includes('You condense')
}

interface HouseholdWays {
  readonly contextTokens?: number
  readonly summaryModel?: string
  readonly script?: () => Reply
  /** The tokens that the model reads for a question, as its server counts them. */
  readonly read?: (question: string) => number
}

async function household(summary: Reply, { script = () => summary, read, ...more }: HouseholdWays = {}) {
  const logger = new AwaitedLog()
  const agents = [{ id: toAgentId('main'), model: MODEL, prompt: 'Be brief.', tools: [], ...more }]
  const home = await startHousehold({
    script: (request, turn) => answering(isSummary(request) ? script() : summary, read)(request, turn),
    streaming: false,
    logger,
    config: { agents },
  })
  return { ...home, logger }
}

async function say({ telegram }: Pick<Household, 'telegram'>, text: string): Promise<string> {
  const mark = telegram.ledger.mark()
  telegram.world.say({ from: 111, text })
  return (await telegram.ledger.nextFromBot('sent', { after: mark })).text
}

/** The texts of a request, in order. */
function textsOf({ messages }: { readonly messages: readonly { readonly content: unknown }[] }): readonly string[] {
  return messages.map(({ content }) => {
    const texts =
      typeof content === 'string' ? content : (content as { text?: string }[]).map(({ text }) => text ?? '').join('')
    return texts
      .split('\n')
      .filter((line) => !line.startsWith('[time:'))
      .join('\n')
  })
}

describe('a summary of what was said long ago', () => {
  it('R18, R20, R21, R22, R24: follows the turn that fills 80 % of the window and leaves the newest four turns as they are', async () => {
    const read = (question: string) => (question === 'question 6' ? 800 : 799)
    const home = await household(textReply(SUMMARY), { contextTokens: 1_000, read })
    for (const n of [1, 2, 3, 4, 5, 6]) await say(home, `question ${n}`)
    await home.logger.line(WRITTEN)
    await say(home, 'and now?')
    const requests = home.anthropic?.ledger.requests() ?? []
    expect(requests.map(isSummary)).toEqual([...Array(6).fill(false), true, false])
    const texts = textsOf(requests.at(-1) ?? { messages: [] })
    expect(texts.slice(0, 2)).toEqual([expect.stringMatching(/^\[summary of this conversation/), SUMMARY])
    expect(texts.slice(2, -1)).toEqual([3, 4, 5, 6].flatMap((n) => [`question ${n}`, `answer to question ${n}`]))
  })

  it('R19: is written again once six messages were said since the last one', async () => {
    const home = await household(textReply(SUMMARY), { contextTokens: 1_000, read: () => 900 })
    for (const n of [1, 2, 3, 4, 5]) await say(home, `question ${n}`)
    await home.logger.line(WRITTEN)
    for (const n of [6, 7, 8]) await say(home, `question ${n}`)
    await home.logger.line(WRITTEN, { nth: 2 })
    const requests = home.anthropic?.ledger.requests() ?? []
    expect(requests.flatMap((request, at) => (isSummary(request) ? [at] : []))).toEqual([5, 9])
    await say(home, 'and now?')
    const texts = textsOf(home.anthropic?.ledger.requests().at(-1) ?? { messages: [] })
    expect(texts.slice(2, -1)).toEqual([5, 6, 7, 8].flatMap((n) => [`question ${n}`, `answer to question ${n}`]))
  })

  it('R23: asks for at most 4,096 tokens at a temperature of 0.3, of the model for summaries, with the words as data', async () => {
    const home = await household(textReply(SUMMARY), { summaryModel: 'anthropic/claude-3-5-haiku' })
    for (const n of [1, 2, 3, 4, 5]) await say(home, `question ${n}`)
    expect(await say(home, '/compact')).toMatch(/^Done: a summary stands for 1 earlier turn /)
    const asked = home.anthropic?.ledger.requests().find(isSummary)
    expect(asked).toMatchObject({ model: 'claude-3-5-haiku', max_tokens: 4_096, temperature: 0.3 })
    expect(textsOf(asked ?? { messages: [] })[0]).toMatch(/> question 1\n> \[assistant\]\n> answer to question 1$/)
  })

  it('R18: is not written while there is room', async () => {
    const home = await household(textReply(SUMMARY), { contextTokens: 1_000 })
    for (const n of [1, 2, 3, 4, 5, 6]) await say(home, `question ${n}`)
    expect(await say(home, '/compact')).toMatch(/^Done: a summary stands for 2 earlier turns /)
    expect(home.anthropic?.ledger.requests().filter(isSummary)).toHaveLength(1)
  })

  it('R19: /compact has nothing to do where there are too few turns', async () => {
    const home = await household(textReply(SUMMARY))
    for (const n of [1, 2, 3, 4]) await say(home, `question ${n}`)
    expect(await say(home, '/compact')).toMatch(/^There is nothing to sum up yet/)
    expect(home.anthropic?.ledger.requests().filter(isSummary)).toEqual([])
  })

  it('R25: one that fails or is too short changes nothing, and the conversation continues', async () => {
    const refused: Reply = { error: { status: 400, type: 'invalid_request_error' } }
    const cut = textReply(SUMMARY, { stopReason: 'max_tokens' })
    const declined = textReply(SUMMARY, { stopReason: 'refusal' })
    for (const reply of [textReply('Short.'), refused, cut, declined]) {
      const home = await household(reply, { contextTokens: 100 })
      for (const n of [1, 2, 3, 4, 5]) await say(home, `question ${n}`)
      await home.logger.line('A summary could not be written; the conversation continues without')
      expect(await say(home, '/compact')).toMatch(
        /^I could not write a summary: the model (provider rejected|returned an empty|reached the longest|refused)/,
      )
      expect(await say(home, 'and now?')).toBe('answer to and now?')
      const last = home.anthropic?.ledger.requests().findLast((one) => !isSummary(one)) ?? { messages: [] }
      expect(textsOf(last)[0]).toBe('question 1')
    }
  })

  it('R25: an older summary stays in force where the next one is cut, with the turns behind it', async () => {
    const replies = [textReply(SUMMARY), textReply(`Torn. ${SUMMARY}`, { stopReason: 'max_tokens' })]
    const home = await household(replies[0] ?? textReply(''), { script: () => replies.shift() ?? textReply('') })
    for (const n of [1, 2, 3, 4, 5]) await say(home, `question ${n}`)
    expect(await say(home, '/compact')).toMatch(/^Done: a summary stands for 1 earlier turn /)
    for (const n of [6, 7]) await say(home, `question ${n}`)
    expect(await say(home, '/compact')).toMatch(/^There is nothing to sum up yet/)
    await say(home, 'question 8')
    expect(await say(home, '/compact')).toMatch(/^I could not write a summary: the model reached the longest answer/)
    await say(home, 'and now?')
    const texts = textsOf(home.anthropic?.ledger.requests().findLast((one) => !isSummary(one)) ?? { messages: [] })
    expect(texts.slice(0, 2)).toEqual([expect.stringMatching(/^\[summary of this conversation/), SUMMARY])
    expect(texts.slice(2, -1)).toEqual(
      [2, 3, 4, 5, 6, 7, 8].flatMap((n) => [`question ${n}`, `answer to question ${n}`]),
    )
    expect(texts.join()).not.toContain('Torn')
  })

  it('R25: after a failure the next turns go without, so that not each of them costs a call', async () => {
    const home = await household(textReply('Short.'), { contextTokens: 100 })
    for (const n of [1, 2, 3, 4, 5]) await say(home, `question ${n}`)
    await home.logger.line('A summary could not be written; the conversation continues without')
    for (const n of [6, 7, 8]) await say(home, `question ${n}`)
    expect(home.anthropic?.ledger.requests().filter(isSummary)).toHaveLength(1)
  })

  it('K33: has nothing of what a truncation hides', async () => {
    const home = await household(textReply(SUMMARY))
    for (const n of [1, 2, 3, 4, 5, 6, 7]) await say(home, `question ${n}`)
    const [session] = (await home.daemon.operator.sessions.list({ limit: 1, offset: 0, inactive: false })).sessions
    await home.daemon.operator.sessions.setHistory(session?.id ?? '', { kind: 'truncated', turns: 5 })
    expect(await say(home, '/compact')).toMatch(/^Done: a summary stands for 1 earlier turn /)
    const [asked = ''] = textsOf(home.anthropic?.ledger.requests().find(isSummary) ?? { messages: [] })
    expect(asked).toContain('question 3')
    expect(asked).not.toMatch(/question [12]/)
    await say(home, 'and now?')
    const texts = textsOf(home.anthropic?.ledger.requests().at(-1) ?? { messages: [] })
    expect(texts.slice(1, 3)).toEqual([SUMMARY, 'question 4'])
  })

  it('R22, R37: is still there after a start, and history and owner see what it stands for', async () => {
    const home = await household(textReply(SUMMARY))
    for (const n of [1, 2, 3, 4, 5, 6, 7]) await say(home, `question ${n}`)
    await say(home, '/compact')
    const daemon = await home.restart()
    await say(home, 'and now?')
    const texts = textsOf(home.anthropic?.ledger.requests().at(-1) ?? { messages: [] })
    expect(texts.slice(1, 3)).toEqual([SUMMARY, 'question 4'])
    const { message_id } = home.telegram.world.messages(111, { by: 'person' }).at(-1)?.message ?? {}
    const [why] = await daemon.operator.why(String(message_id))
    expect(why?.context).toMatch(
      /^read 8 earlier messages, 6 left out, a summary in the place of older ones, [\d,]+ tokens$/,
    )
    const [session] = (await daemon.operator.sessions.list({ limit: 1, offset: 0, inactive: false })).sessions
    const { events } = await daemon.operator.sessions.history(session?.id ?? '', { limit: 100 })
    expect(events.map(({ text }) => text)).toContainEqual(expect.stringContaining('question 1'))
    expect(events.filter(({ type }) => type === 'assistant_message')).toHaveLength(8)
    for (const { type, model, usage } of events)
      if (type === 'assistant_message') expect([model, usage]).toMatchObject([MODEL, { output: expect.any(Number) }])
    expect(events.filter(({ summary }) => summary)).toMatchObject([
      { type: 'context_compacted', text: `a summary stands for 3 turns: ${SUMMARY}`, model: MODEL, synthetic: true },
    ])
  })

  it('S41: of a session that was deleted meanwhile is written into no other one of its id', async () => {
    const gate = createGate()
    const logger = new AwaitedLog()
    const script: Script = (request) =>
      isSummary(request) ? textReply(SUMMARY, { holds: [{ beforeDelta: 0, gate }] }) : textReply('fine')
    const agents = [{ id: toAgentId('main'), model: MODEL, prompt: '', tools: [], contextTokens: 60 }]
    const { daemon } = await startHousehold({ script, streaming: false, logger, config: { agents } })
    const { sessions } = daemon.operator
    for (const n of [1, 2, 3, 4, 5]) await sessions.post('cli:desk', { text: `question ${n} of the old one` })
    await gate.reached
    await sessions.delete('cli:desk')
    await sessions.post('cli:desk', { text: 'hello, I am new' })
    gate.release()
    for (const n of [1, 2, 3]) await sessions.post('cli:desk', { text: `question ${n}` })
    const { events } = await sessions.history('cli:desk', { limit: 100 })
    expect(events.filter(({ type }) => type === 'context_compacted')).toEqual([])
  })

  it.each(['/undo', '/forget last'])('S41: during which %s took words out is not written', async (command) => {
    const gates = [createGate(), createGate()] as const
    let asked = 0
    const script: Script = (request) => {
      if (!isSummary(request)) return textReply('fine')
      const gate = gates[asked++]
      return textReply(SUMMARY, gate && { holds: [{ beforeDelta: 0, gate }] })
    }
    const agents = [{ id: toAgentId('main'), model: MODEL, prompt: '', tools: [], contextTokens: 60 }]
    const home = await startHousehold({ script, streaming: false, config: { agents } })
    for (const n of [1, 2, 3, 4, 5]) await say(home, `question ${n}`)
    await gates[0].reached
    await say(home, command)
    gates[0].release()
    const { sessions } = home.daemon.operator
    // The next one is asked for once the first has been thrown away.
    await say(home, 'question 6')
    await gates[1].reached
    const [session] = (await sessions.list({ limit: 1, offset: 0, inactive: false })).sessions
    const { events } = await sessions.history(session?.id ?? '', { limit: 200 })
    expect(events.filter(({ type }) => type === 'context_compacted')).toEqual([])
    gates[1].release()
  })
})
