import OpenAI, { type ClientOptions } from 'openai'
import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { ToolClass } from '../../src/core/model.ts'
import type { Tool } from '../../src/core/turn.ts'
import { type Reply, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate, type GateKeeper } from '../../src/rehearsal/deferred.ts'
import { assistant, type ChatHouse, startChatHouse, user } from './chat-clients.ts'
import { toolResult } from './obedient.ts'

const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be brief.', tools: ['till'] }]
const http = { host: '127.0.0.1', port: 0, hosts: [], origins: [] }

/** A tool whose calls are counted; it leaves nothing behind for a chat that is not kept. */
function counted(toolClass: ToolClass) {
  let runs = 0
  const tool: Tool = {
    ...{ class: toolClass, reach: 'inside' as const },
    spec: { name: 'charge', description: 'Charges a card.', parameters: { type: 'object' } },
    async run() {
      runs++
      return `charged ${runs}`
    },
  }
  return { tools: { till: [tool] }, runs: () => runs }
}

const CALL: Reply = { blocks: [{ type: 'tool_use', name: 'charge', input: {} }] }
/** Answers with nothing after the tool as long as it is down: a failure that clients repeat. */
function chargingWhileDown(model: { down: boolean }, usage = { input_tokens: 100, output_tokens: 10 }): Script {
  return (request) => {
    if (toolResult(request) === undefined) return { ...CALL, usage }
    return model.down ? textReply('', { usage: { input_tokens: 0, output_tokens: 0 } }) : textReply('done', { usage })
  }
}

/** Charges first, and answers with what the replies say from then on; the last one is said for ever. */
function charging(...replies: readonly Reply[]): Script {
  let at = 0
  return (request) => {
    if (toolResult(request) === undefined) return CALL
    return replies[Math.min(at++, replies.length - 1)] ?? textReply('done')
  }
}
const held = (gate: GateKeeper): Reply => textReply('one two three four', { holds: [{ beforeDelta: 1, gate }] })

async function house(script: Script, toolClass: ToolClass = 'pure') {
  const { tools, runs } = counted(toolClass)
  const home = await startChatHouse({ script, tools, config: { agents, http } })
  const apiKey = await home.token()
  const client = (maxRetries: number, more: ClientOptions = {}) =>
    new OpenAI({ apiKey, baseURL: home.baseURL, maxRetries, ...more })
  return { home, runs, client, apiKey }
}

const contentOf = ({ choices }: OpenAI.ChatCompletion) => choices[0]?.message.content
const saidIn = async ({ daemon }: ChatHouse) =>
  (await daemon.operator.sessions.history('api:ui:till', { limit: 200 })).events.filter(
    ({ type }) => type === 'user_message',
  )
async function wordsOf(stream: AsyncIterable<OpenAI.ChatCompletionChunk>): Promise<string> {
  let words = ''
  for await (const { choices } of stream) words += choices[0]?.delta.content ?? ''
  return words
}

const KEPT = { metadata: { session: 'till' } }
const asked = { model: 'main', messages: [user('charge it')] }
/** Only a tool that reads may run in a chat that is not kept. */
const CHATS = [
  ['with a session', KEPT, 'once'],
  ['with a session', KEPT, 'keyed'],
  ['without a session', {}, 'pure'],
] as const

describe.each(CHATS)('a request %s, with a tool that is counted', (_, more, toolClass) => {
  const request = { ...asked, ...more }

  it('that the official client sends again after its time is over joins the first: the tool runs once', async () => {
    const gate = createGate()
    const { client, runs, home } = await house(charging(held(gate)), toolClass)
    const again = createGate()
    let calls = 0
    // The client gives up the first time, and comes again by itself.
    const counting: typeof fetch = (...args) => {
      if (++calls === 2) void again.touch()
      return fetch(...args)
    }
    const answer = client(4, { timeout: 2_000, fetch: counting }).chat.completions.create(request)
    await again.reached
    gate.release()
    expect(contentOf(await answer)).toBe('one two three four')
    expect(runs()).toBe(1)
    expect(home.anthropic?.ledger.requests()).toHaveLength(2)
  })

  it('that comes twice at once is answered to both, whole and as a stream', async () => {
    const gate = createGate()
    const { client, runs, home } = await house(charging(held(gate)), toolClass)
    const { completions } = client(0).chat
    const [whole, stream] = [completions.create(request), completions.create({ ...request, stream: true })]
    await gate.reached
    gate.release()
    expect(contentOf(await whole)).toBe('one two three four')
    expect(await wordsOf(await stream)).toBe('one two three four')
    expect(runs()).toBe(1)
    expect(home.anthropic?.ledger.requests()).toHaveLength(2)
  })

  it('that comes again after 5xx continues behind its tool', async () => {
    const model = { down: true }
    const { client, runs } = await house(chargingWhileDown(model), toolClass)
    const ask = () => client(0).chat.completions.create(request)
    await expect(ask()).rejects.toMatchObject({ status: 502 })
    await expect(ask()).rejects.toMatchObject({ status: 502 })
    model.down = false
    expect(contentOf(await ask())).toBe('done')
    expect(runs()).toBe(1)
    // The same words, said again once they are answered, are new ones.
    expect(contentOf(await ask())).toBe('done')
    expect(runs()).toBe(2)
  })

  it('whose stream broke off is given its answer when it comes again', async () => {
    const gate = createGate()
    const { client, runs } = await house(charging(held(gate), textReply('done')), toolClass)
    const stream = await client(0).chat.completions.create({ ...request, stream: true })
    for await (const { choices } of stream) if (choices[0]?.delta.content) stream.controller.abort()
    gate.release()
    expect(contentOf(await client(0).chat.completions.create(request))).toMatch(/^(one two three four|done)$/)
    expect(runs()).toBe(1)
  })

  it('that says the same twice is answered twice', async () => {
    const { client, runs } = await house(charging(textReply('done')), toolClass)
    for (const times of [1, 2, 3]) {
      expect(contentOf(await client(0).chat.completions.create(request))).toBe('done')
      expect(runs()).toBe(times)
    }
    const stream = await client(0).chat.completions.create({ ...request, stream: true })
    expect(await wordsOf(stream)).toBe('done')
    expect(runs()).toBe(4)
  })

  it('that differs in a word, a file, the history or the user is another one', async () => {
    const gates = Array.from({ length: 5 }, createGate)
    let at = 0
    const { client, runs } = await house((message) => {
      if (toolResult(message) === undefined) return CALL
      return held(gates[at++] ?? createGate())
    }, toolClass)
    const file = (words: string) => ({
      type: 'file' as const,
      file: { file_data: `data:text/plain;base64,${Buffer.from(words).toString('base64')}`, filename: 'a.txt' },
    })
    const content = (words: string) => [{ type: 'text' as const, text: 'charge it' }, file(words)]
    const others = [
      { messages: [user('charge it!')] },
      { messages: [{ role: 'user' as const, content: content('one') }] },
      { messages: [{ role: 'user' as const, content: content('two') }] },
      { messages: [user('before'), assistant('yes'), user('charge it')] },
      { user: 'bob' },
    ]
    for (const gate of gates) gate.release()
    await Promise.all(others.map((changes) => client(0).chat.completions.create({ ...request, ...changes })))
    expect(runs()).toBe(5)
  })
})

describe('a request with a session', () => {
  it('whose answer was made while its client was gone is answered from the log, and said once', async () => {
    const gate = createGate()
    const { client, runs, home } = await house(charging(held(gate)), 'once')
    const gone = new AbortController()
    const first = client(0).chat.completions.create({ ...asked, ...KEPT }, { signal: gone.signal })
    await gate.reached
    gone.abort()
    await expect(first).rejects.toBeInstanceOf(OpenAI.APIUserAbortError)
    gate.release()
    await home.log.line('Answered')
    expect(contentOf(await client(0).chat.completions.create({ ...asked, ...KEPT }))).toBe('one two three four')
    expect(runs()).toBe(1)
    expect(await saidIn(home)).toHaveLength(1)
  })

  const failing = async (toolClass: ToolClass) => {
    const model = { down: true }
    const { client, runs, home } = await house(chargingWhileDown(model), toolClass)
    const ask = (content = 'charge it') =>
      client(0).chat.completions.create({ ...asked, ...KEPT, messages: [user(content)] })
    await expect(ask()).rejects.toMatchObject({ status: 502 })
    model.down = false
    return { runs, home, ask }
  }

  it.each(['once', 'keyed'] as const)(
    'that failed behind a tool that is %s, and whose session has gone on since, is refused once, and said anew when it is meant once more',
    async (toolClass) => {
      const { runs, ask } = await failing(toolClass)
      expect(contentOf(await ask('next'))).toBe('done')
      await expect(ask()).rejects.toMatchObject({ status: 400, code: 'conflict', message: /say it again/ })
      expect(runs()).toBe(2)
      expect(contentOf(await ask())).toBe('done')
      expect(runs()).toBe(3)
    },
  )

  it('that failed behind a tool that only reads, and whose session has gone on since, is said anew', async () => {
    const { home, ask } = await failing('pure')
    expect(contentOf(await ask('next'))).toBe('done')
    expect(contentOf(await ask())).toBe('done')
    expect(await saidIn(home)).toHaveLength(3)
  })

  it.each([
    ['whose session was deleted', ({ daemon }: ChatHouse) => daemon.operator.sessions.delete('api:ui:till')],
    [
      'whose session was forgotten',
      ({ daemon }: ChatHouse) =>
        daemon.operator.forgetting.forget({ kind: 'chat', name: 'api:ui:till', confirmed: true }),
    ],
    [
      'whose sender was forgotten',
      ({ daemon }: ChatHouse) => daemon.operator.forgetting.forget({ kind: 'person', name: 'ui', confirmed: true }),
    ],
  ])('that failed, and %s since, is said anew', async (_, change) => {
    const { home, ask } = await failing('once')
    await change(home)
    expect(contentOf(await ask())).toBe('done')
  })

  it('that was answered while its client was gone, and whose session was deleted since, is said anew', async () => {
    const gate = createGate()
    const { client, home } = await house(charging(held(gate), textReply('done')), 'once')
    const gone = new AbortController()
    const ask = (content: string, signal?: AbortSignal) =>
      client(0).chat.completions.create({ ...asked, ...KEPT, messages: [user(content)] }, { signal })
    const first = ask('charge it', gone.signal)
    await gate.reached
    gone.abort()
    await expect(first).rejects.toBeInstanceOf(OpenAI.APIUserAbortError)
    gate.release()
    await home.log.line('Answered')
    await home.daemon.operator.sessions.delete('api:ui:till')
    expect(contentOf(await ask('next'))).toBe('done')
    expect(contentOf(await ask('charge it'))).toBe('done')
  })

  it('counts the tokens of a turn that failed and was resumed once', async () => {
    const model = { down: true }
    const { client, home } = await house(chargingWhileDown(model), 'once')
    const ask = () => client(0).chat.completions.create({ ...asked, ...KEPT })
    await expect(ask()).rejects.toMatchObject({ status: 502 })
    model.down = false
    await ask()
    const { spentToday } = await home.daemon.operator.status()
    expect(spentToday?.usage).toMatchObject({ output: 20 })
  })
})
