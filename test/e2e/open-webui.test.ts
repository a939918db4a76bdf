import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import { echoScript } from '../../src/rehearsal/anthropic/script.ts'
import { type ChatHouse, startChatHouse } from './chat-clients.ts'

interface Sent {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: object
}

/** The requests as its backend sends them, with the people's headers that it can be told to add. */
const SENT: Readonly<Record<'models' | 'chat' | 'title' | 'tags' | 'remembered', Sent>> = JSON.parse(
  readFileSync(new URL('../fixtures/openwebui/requests.json', import.meta.url), 'utf8'),
)

const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be brief.', tools: [] }]

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

it('Open WebUI is answered, and whatever it says of its people makes no session', async () => {
  const home = await startChatHouse({ script: echoScript, config: { agents } })
  const send = await sender(home)
  const models = await send(SENT.models)
  expect(JSON.parse(models.text)).toMatchObject({ object: 'list', data: [{ id: 'main', object: 'model' }] })

  const { status, type, text } = await send(SENT.chat)
  expect([status, type]).toEqual([200, expect.stringMatching(/^text\/event-stream/)])
  const chunks = chunksOf(text)
  const words = chunks.flatMap(({ choices }) => choices[0]?.delta.content ?? []).join('')
  expect(words).toContain('echo Out of these?')
  expect(chunks.at(-2).choices[0].finish_reason).toBe('stop')
  expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } })
  const [request] = home.anthropic?.ledger.requests() ?? []
  expect(request?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  expect(JSON.stringify(request?.messages)).toContain('"type":"image"')

  for (const task of [SENT.title, SENT.tags]) {
    const answer = await send(task)
    expect(JSON.parse(answer.text)).toMatchObject({ choices: [{ message: { role: 'assistant' } }] })
  }
  expect(await home.sessions()).toEqual([])
})

it('S42: with a user in its parameters the chat is a session, whose own log is the truth', async () => {
  const home = await startChatHouse({ script: echoScript, config: { agents } })
  const send = await sender(home)
  const words = chunksOf((await send(SENT.remembered)).text)
    .flatMap(({ choices }) => choices[0]?.delta.content ?? [])
    .join('')
  expect(words).toBe('echo And tomorrow?')
  expect(await home.sessions()).toEqual(['api:ui:bob'])
  expect(JSON.stringify(home.anthropic?.ledger.requests()[0]?.messages)).not.toContain('Pancakes')
})
