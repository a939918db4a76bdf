import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { HOOK_MOMENTS } from '../../src/core/hook.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { SCOPES } from '../../src/core/token.ts'
import { lastUserText, type ReplyBlock, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { openLocal } from '../http/open-stream.ts'
import { type ApiHouse, startApiHouse, tokenWith } from './api-house.ts'
import { forgettingHouse, holding } from './forgetting-house.ts'
import { parley } from './house-command.ts'
import { type Household, recorded } from './household.ts'
import { callIn, toolResult } from './obedient.ts'
import { isCheckpoint, noting } from './remembering.ts'

/** Every thought and signature has it; the searches are for these bytes. */
const CANARY = 'zq9thought'
const THOUGHT: ReplyBlock = {
  type: 'thinking',
  thinking: `pondering ${CANARY}-words`,
  signature: `${CANARY}-signature`,
}

/** Thinks before each call that somebody asks for with "do", and keeps in mind what was said. */
const thoughtful: Script = (request) => {
  if (isCheckpoint(request)) return noting(['working_memory', { text: 'They talk about tools.' }])(request)
  if (JSON.stringify(request.system ?? '').includes('You condense'))
    return textReply(`Tools. ${'So it was. '.repeat(20)}`)
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says ${result}`)
  const asked = callIn(lastUserText(request))
  if (asked === undefined || !('blocks' in asked)) return textReply(`heard ${lastUserText(request).split('\n').at(-1)}`)
  return { ...asked, blocks: [THOUGHT, { type: 'text', text: 'Let me see.' }, ...asked.blocks] }
}

type Forgetting = Awaited<ReturnType<typeof forgettingHouse>>

/** A hook's own server, which keeps what it is told. */
async function startReceiver() {
  const told: string[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    told.push(body)
    response.end('')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { told, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

async function tell({ telegram }: Household, text: string): Promise<string> {
  const after = telegram.ledger.mark()
  telegram.world.say({ from: 111, text })
  return (await telegram.ledger.nextFromBot('sent', { after })).text
}

/** Everything that came over a stream, up to the end of a turn. */
async function follow(house: Household, path: string): Promise<() => Promise<string>> {
  const stream = await openLocal(join(house.dataDir, 'parley.sock'), path)
  return async () => {
    let text = ''
    for (;;) {
      const frame = await stream.next()
      if (frame === undefined) throw new Error(`${path} ended`)
      text += frame.data
      if (frame.data.includes('turn_completed"')) break
    }
    stream.close()
    return text
  }
}

function withoutThoughts(content: string | readonly { readonly type: string }[]): unknown {
  return typeof content === 'string' ? content : content.filter(({ type }) => type !== 'thinking')
}

const SESSION = 'telegram:direct:111'
/** Streams, which are followed above. */
const STREAMS = ['/v1/events', '/v1/sessions/{name}/events']
const FORMATS = ['workflow', 'jsonl', 'markdown']

/** The answers of every route that reads, each for the session, and of those that take a choice for each of them. */
async function everythingRead({ ask }: ApiHouse, headers: Readonly<Record<string, string>>) {
  const { json } = await ask('/v1/openapi.json', { headers })
  const { paths } = json as { readonly paths: Readonly<Record<string, { readonly get?: object }>> }
  const read = Object.entries(paths).flatMap(([path, { get }]) => (get && !STREAMS.includes(path) ? [path] : []))
  const at = (path: string): string =>
    path
      .replaceAll('{name}', encodeURIComponent(SESSION))
      .replace('{no}', '1')
      .replaceAll(/\{\w+\}/g, 'main')
  const chosen = FORMATS.map((format) => `/v1/sessions/${encodeURIComponent(SESSION)}/export?format=${format}`)
  const answers = new Map<string, string>()
  for (const path of [...read.map(at), ...chosen]) answers.set(path, (await ask(path, { headers })).text)
  return answers
}

it('C26: what a model thought before a call is in the store and in bundles, and in nothing that anybody is shown', async () => {
  const { told, url } = await startReceiver()
  const agents = [
    { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be brief.', tools: ['time', 'sessions', 'memory'] },
  ]
  const at = { kind: 'address', url, secret: new Secret('the secret of the hook') } as const
  const hooks = [{ name: 'watcher', on: HOOK_MOMENTS, at, timeoutMs: 5_000 }]
  const house = await startApiHouse({ script: thoughtful, streaming: false, config: { agents, hooks } })
  const headers = await tokenWith(house, SCOPES)

  const shown: [where: string, text: string][] = []
  shown.push(['the first answer', await tell(house, 'do current_time {}')])
  const ofSession = await follow(house, `/v1/sessions/${encodeURIComponent(SESSION)}/events?deltas=true`)
  const ofAll = await follow(house, '/v1/events?deltas=true')
  await tell(house, '/verbose full')
  await tell(house, '/think low')
  await tell(house, 'do current_time {"zone":"UTC"}')
  shown.push(['a stream', await ofSession()], ['the stream of all', await ofAll()])
  for (const n of [1, 2, 3, 4]) await tell(house, `message ${n}`)
  for (const command of ['/status', '/usage', '/why', '/compact', '/side what was that?', '/retry'])
    await tell(house, command)
  await tell(house, `do sessions_history {"sessionKey":"${SESSION}","includeTools":true,"limit":50}`)
  await tell(house, 'do session_search {"query":"pondering"}')
  await house.daemon.operator.sessions.checkpoint(SESSION)
  const chat = { model: 'main', messages: [{ role: 'user', content: 'do current_time {}' }] }
  for (const stream of [false, true])
    shown.push([
      'the door for clients of OpenAI',
      (await house.ask('/v1/chat/completions', { headers, body: { ...chat, stream } })).text,
    ])
  await recorded(house)

  const answers = await everythingRead(house, headers)
  expect(answers.size).toBeGreaterThan(20)
  expect(answers.get(`/v1/archives/${encodeURIComponent(SESSION)}`)).toContain('assistant_step')
  for (const format of FORMATS)
    expect(answers.get(`/v1/sessions/${encodeURIComponent(SESSION)}/export?format=${format}`)).toContain('current_time')
  shown.push(...answers)
  for (const format of FORMATS) {
    const done = await parley(house.config, ['export', SESSION, '--format', format, '--out', format])
    expect(done.code, done.err).toBe(0)
    shown.push([`a file of ${format}`, readFileSync(join(house.dataDir, format), 'utf8')])
  }
  for (const argv of [['status'], ['sessions', 'list'], ['sessions', 'show', SESSION], ['why', 'nothing']])
    for (const more of [[], ['--json']]) {
      const { out, err } = await parley(house.config, [...argv, ...more])
      shown.push([`parley ${argv.join(' ')}`, out + err])
    }
  await vi.waitFor(() => expect(told.join()).toContain('session_save'))
  shown.push(['hooks', told.join()], ['the log', JSON.stringify(house.log.lines)])
  shown.push(['Telegram', JSON.stringify(house.telegram.ledger.entries)])
  const requests = house.anthropic?.ledger.requests() ?? []
  const ofOthers = requests.filter(({ messages }) => !JSON.stringify(messages.at(-1)).includes('tool_result'))
  expect(ofOthers.length).toBeGreaterThan(8)
  shown.push(['requests of other turns, summaries and checkpoints', JSON.stringify(ofOthers)])
  // Within its turn a thought goes back as such, and in no result of a tool that reads the log.
  const beside = requests.flatMap(({ messages }) => messages.map(({ content }) => withoutThoughts(content)))
  shown.push(['words and results of any request', JSON.stringify(beside)])
  expect(told.join()).toContain('assistant_step')

  expect(shown.filter(([, text]) => text.includes(CANARY)).map(([where]) => where)).toEqual([])

  const within = requests.filter(({ messages }) => JSON.stringify(messages).includes(`${CANARY}-signature`))
  expect(within.length).toBeGreaterThan(0)
  const done = await parley(house.config, ['export', SESSION, '--bundle', 'session.parley'])
  expect(done.code, done.err).toBe(0)
  expect(readFileSync(join(house.dataDir, 'session.parley'), 'utf8')).toContain(`${CANARY}-signature`)
  const bundle = `/v1/sessions/${encodeURIComponent(SESSION)}/export?format=bundle`
  expect((await house.ask(bundle, { headers })).text).toContain(`${CANARY}-signature`)
  expect(holding(house.dataDir, `${CANARY}-signature`).filter((name) => !name.startsWith('parley.db'))).toEqual([
    'session.parley',
  ])
})

it.each<[string, (house: Forgetting) => Promise<unknown>]>([
  ['the last exchange', ({ say }) => say('/forget last')],
  ['the words of a person', ({ say }) => say('/forget me yes')],
  ['a span', ({ say }) => say('/forget 1w yes')],
  ['the chat', ({ say }) => say('/forget chat yes')],
  ['a session that has succeeded', async ({ say }) => [await say('/new'), await say('/forget me yes')]],
  [
    'a copy as well',
    async ({ home, say }) => {
      await home.daemon.operator.archives.relocate(SESSION, { kind: 'fork', to: 'api:copy', confirmed: true })
      await say('/forget me yes')
    },
  ],
  [
    'a session that is deleted, once the daemon has ended',
    async ({ home }) => {
      await home.daemon.operator.sessions.delete(SESSION)
      await home.daemon.stop()
    },
  ],
])('S41, C26: what a model thought is forgotten with its step: %s', async (_, forget) => {
  const agent = { id: toAgentId('main'), model: 'anthropic/claude-haiku-4-5', prompt: 'Talk.', tools: ['time'] }
  const house = await forgettingHouse({ script: thoughtful, config: { agents: [agent] } })
  expect(await house.say('do current_time {}')).toContain('it says')
  expect(holding(house.home.dataDir, `${CANARY}-signature`)).not.toEqual([])
  await forget(house)
  await expect.poll(() => holding(house.home.dataDir, CANARY)).toEqual([])
})
