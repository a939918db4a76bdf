import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { echoScript } from '../../src/rehearsal/anthropic/script.ts'
import { member, policy } from '../fakes/routing-policy.ts'
import { type ChatHouse, startChatHouse, user } from './chat-clients.ts'
import type { HouseholdOptions } from './household.ts'

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: object
}

/** Requests as the programs send them, once their headers are set as `config/operating.md` says. */
function recorded<Content>(name: string): Content {
  return JSON.parse(readFileSync(new URL(`../fixtures/chat-programs/${name}.json`, import.meta.url), 'utf8'))
}

const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be brief.', tools: [] }]
const house = (more: HouseholdOptions = {}) => startChatHouse({ script: echoScript, config: { agents }, ...more })

async function sender(home: ChatHouse) {
  const token = await home.token()
  return async ({ method, path, headers, body }: Sent) => {
    const response = await fetch(`${home.baseURL}${path}`, {
      method,
      headers: { ...headers, authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    return { status: response.status, type: response.headers.get('content-type') ?? '', text: await response.text() }
  }
}

/** The chunks of a stream, as a reader of lines finds them. */
function chunksOf(text: string) {
  const lines = text.split('\n').filter((line) => line.startsWith('data: '))
  expect(lines.pop()).toBe('data: [DONE]')
  return lines.map((line) => JSON.parse(line.slice('data: '.length)))
}

function wordsOf({ type, text }: { readonly type: string; readonly text: string }): string {
  if (!type.startsWith('text/event-stream')) return JSON.parse(text).choices[0].message.content
  return chunksOf(text)
    .flatMap(({ choices }) => choices[0]?.delta.content ?? [])
    .join('')
}

type OpenWebUi = 'models' | 'chat' | 'title' | 'tags' | 'followUps'
type WithHeaders = 'remembered' | 'temporary' | 'formerlyTemporary' | 'channel' | 'unfilled' | 'unfilledTask'

describe('Open WebUI', () => {
  const sent = recorded<Readonly<Record<OpenWebUi | WithHeaders, Sent>>>('open-webui')

  it('is answered, and whatever it says of its people and chats makes no session by itself', async () => {
    const home = await house()
    const send = await sender(home)
    const models = await send(sent.models)
    expect(JSON.parse(models.text)).toMatchObject({ object: 'list', data: [{ id: 'main', object: 'model' }] })

    const answer = await send(sent.chat)
    expect([answer.status, answer.type]).toEqual([200, expect.stringMatching(/^text\/event-stream/)])
    expect(wordsOf(answer)).toContain('echo Out of these?')
    const chunks = chunksOf(answer.text)
    expect(chunks.at(-2).choices[0].finish_reason).toBe('stop')
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } })
    const [request] = home.anthropic?.ledger.requests() ?? []
    expect(request?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    expect(JSON.stringify(request?.messages)).toContain('"type":"image"')

    expect(await home.sessions()).toEqual([])
  })

  it('S44: by one connection each chat is a session, its own tools are taken, and a title is said in none', async () => {
    const home = await house()
    const send = await sender(home)
    expect(wordsOf(await send(sent.remembered))).toBe('echo And tomorrow?')
    const name = `api:ui:${sent.remembered.headers['X-Parley-Session']}`
    const before = await home.daemon.operator.sessions.history(name, { limit: 200 })
    for (const task of [sent.title, sent.tags, sent.followUps]) {
      const { text } = await send(task)
      expect(JSON.parse(text)).toMatchObject({ choices: [{ message: { role: 'assistant' } }] })
    }
    expect(await home.sessions()).toEqual([name])
    expect(await home.daemon.operator.sessions.history(name, { limit: 200 })).toEqual(before)
    const [first] = home.anthropic?.ledger.requests() ?? []
    expect(JSON.stringify(first?.messages)).not.toContain('Pancakes')
    expect(JSON.stringify(first?.tools ?? [])).not.toContain('view_note')
  })

  it('S44: a temporary chat and a channel are whole in themselves', async () => {
    const home = await house()
    const send = await sender(home)
    for (const one of [sent.temporary, sent.formerlyTemporary, sent.channel])
      expect(wordsOf(await send(one))).toBe('echo hush')
    expect(await home.sessions()).toEqual([])
  })

  it('S42: the header of its person is `user`, and counts where the body says another', async () => {
    const { 'X-Parley-User': id = '' } = sent.remembered.headers
    const access = { direct: 'allowlist', groups: [] } as const
    const send = await sender(await house({ routing: policy({ people: [member('bob', `api:ui:${id}`)], access }) }))
    for (const user of [undefined, id, 'eve', 7]) {
      const one = { ...sent.temporary, body: { ...sent.temporary.body, user } }
      expect((await send(one)).status).toBe(200)
      const others = { ...one, headers: { ...one.headers, 'X-Parley-User': 'eve' } }
      expect((await send(others)).status).toBe(403)
      // An empty one names nobody.
      const unnamed = { ...one, headers: { ...one.headers, 'X-Parley-User': ' ' } }
      expect([user, (await send(unnamed)).status]).toEqual([user, user === id ? 200 : 403])
    }
  })

  it('a placeholder that an old version does not fill is refused with the remedy', async () => {
    const home = await house()
    const send = await sender(home)
    for (const [request, words] of [
      [sent.unfilled, /update the client/],
      [sent.unfilledTask, /update the client/],
    ] as const) {
      const { status, text } = await send(request)
      expect([status, JSON.parse(text).error.message]).toEqual([400, expect.stringMatching(words)])
    }
    for (const name of ['X-Parley-Session', 'X-Parley-User', 'X-Parley-Task']) {
      const { temporary } = sent
      const { text } = await send({ ...temporary, headers: { ...temporary.headers, [name]: '{{SOMETHING}}' } })
      const message = `${name} has a placeholder that the client does not fill: update the client.`
      expect(JSON.parse(text).error).toMatchObject({ message, param: name })
      // A value that the client does not have is none.
      for (const none of ['null', 'undefined', ' '])
        expect((await send({ ...temporary, headers: { ...temporary.headers, [name]: none } })).status).toBe(200)
    }
    expect(await home.sessions()).toEqual([])
  })
})

describe('LibreChat', () => {
  type Named = 'models' | 'first' | 'second' | 'other' | 'new' | 'title' | 'structuredTitle'
  const sent = recorded<Readonly<Record<Named, Sent>>>('librechat')
  const { user: id } = sent.first.body as { readonly user: string }

  it('S44: two chats of one person are two sessions, and a title is said in neither', async () => {
    const home = await house()
    const send = await sender(home)
    expect(JSON.parse((await send(sent.models)).text)).toMatchObject({ data: [{ id: 'main' }] })
    // Its instructions are words of whoever sends them.
    expect(wordsOf(await send(sent.first))).toMatch(/^echo .*\n\nPlan a trip$/)
    expect(wordsOf(await send(sent.second))).toContain('echo Where is this?')
    expect(wordsOf(await send(sent.other))).toBe('echo A poem')
    const names = [sent.first, sent.other].map(({ headers }) => `api:ui:${headers['X-Parley-Session']}`)
    expect(new Set(await home.sessions())).toEqual(new Set(names))
    const shown = JSON.stringify(home.anthropic?.ledger.requests().at(-1)?.messages)
    expect(shown).not.toContain('trip')
    // A chat that has no id yet is whole in itself.
    expect(wordsOf(await send(sent.new))).toBe('echo no id yet')
    expect((await send(sent.title)).status).toBe(200)
    const structured = await send(sent.structuredTitle)
    expect([structured.status, JSON.parse(structured.text).error.param]).toEqual([400, 'response_format.type'])
    expect(await home.sessions()).toHaveLength(2)
  })

  it('S42: its `user` is a person where that id is somebody’s, and nobody else', async () => {
    const access = { direct: 'allowlist', groups: [] } as const
    const routing = policy({ people: [member('bob', `api:ui:${id}`)], access })
    const send = await sender(await house({ routing }))
    expect((await send(sent.first)).status).toBe(200)
    const others = { ...sent.first, body: { ...sent.first.body, user: '64f0c3a9d2b1e8f7a6c5b4d4' } }
    expect((await send(others)).status).toBe(403)
  })
})

it('the programs that speak to OpenAI are answered with the fields that they always send', async () => {
  const others = recorded<Readonly<Record<string, { readonly body: object }>>>('others')
  const home = await house()
  const send = await sender(home)
  for (const [name, sent] of Object.entries(others)) {
    const body = { model: 'main', messages: [user('hello')], ...sent.body }
    const answer = await send({ method: 'POST', path: '/chat/completions', headers: {}, body })
    expect([name, answer.status, answer.status === 200 ? wordsOf(answer) : answer.text]).toEqual([
      ...[name, 200],
      expect.stringContaining('hello'),
    ])
  }
  expect(await home.sessions()).toEqual([])
})
