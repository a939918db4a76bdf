import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { HookSettings } from '../../src/config/config.ts'
import { Secret } from '../../src/config/secrets.ts'
import type { HookMoment } from '../../src/core/hook.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { type Household, startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'

const ADA = 111
const PATH = { PATH: new Secret(process.env.PATH ?? '') }
const SECRET = 'canary-of-the-hook'

interface Heard {
  readonly headers: IncomingHttpHeaders
  readonly body: string
  readonly call: { readonly on: HookMoment; readonly [field: string]: unknown }
}

/** A hook's own server; `answer` returns the body, or nothing to leave the call open. */
async function startReceiver(answer: (call: Heard['call']) => string | undefined = () => '') {
  const heard: Heard[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (chunk: Buffer) => {
      body += chunk
    })
    request.on('end', () => {
      const call = JSON.parse(body) as Heard['call']
      heard.push({ headers: request.headers, body, call })
      const text = answer(call)
      if (text !== undefined) response.end(text)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { heard, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` }
}

function toAddress(url: string, on: readonly HookMoment[], timeoutMs = 5_000): HookSettings {
  return { name: 'watcher', on, at: { kind: 'address', url, secret: new Secret(SECRET) }, timeoutMs }
}

function shell(on: HookMoment, code: string, timeoutMs = 5_000): HookSettings {
  const at = { kind: 'command', command: 'sh', args: ['-c', code], env: PATH, folder: '/' } as const
  return { name: 'program', on: [on], at, timeoutMs }
}

const echo: Script = (request) => textReply(`you said: ${lastUserText(request)}`)

const withHooks = (hooks: readonly HookSettings[], script = echo): Promise<Household> =>
  startHousehold({ script, streaming: false, config: { hooks } })

async function say({ telegram: { world, ledger } }: Household, text: string): Promise<string> {
  const after = ledger.mark()
  world.say({ from: ADA, text })
  return (await ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === ADA })).text
}

it('R8: hooks are told of a session, of what is saved in it, of its turns and of its end, each call signed', async () => {
  const { heard, url } = await startReceiver()
  const house = await withHooks([toAddress(url, ['session_create', 'session_save', 'session_delete', 'after_turn'])])
  await say(house, 'good morning')
  await vi.waitFor(() => expect(heard.map(({ call }) => call.on)).toContain('after_turn'))
  const created = heard.find(({ call }) => call.on === 'session_create')
  const session = String(created?.call.session)
  expect(session).toMatch(/^telegram:/)
  expect(heard.find(({ call }) => call.on === 'after_turn')?.call).toMatchObject({ session, outcome: 'answered' })
  const saved = heard.filter(({ call }) => call.on === 'session_save').map(({ body }) => body)
  expect(saved.join()).toContain('good morning')

  await house.daemon.operator.sessions.delete(session)
  await vi.waitFor(() => expect(heard.map(({ call }) => call.on)).toContain('session_delete'))
  for (const { headers, body } of heard) {
    const [, at = '', mark] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(String(headers['x-parley-signature'])) ?? []
    expect(mark).toBe(createHmac('sha256', SECRET).update(`${at}.${body}`).digest('hex'))
    expect(body).not.toContain(SECRET)
  }
})

it('R8: a hook changes what is stored and shown of a message, its quotation and its edit; the raw text stays beside it', async () => {
  const mask = ({ text }: Heard['call']): string =>
    JSON.stringify({ text: String(text).replaceAll(/\d{4,}/g, '[number]') })
  const { heard, url } = await startReceiver(mask)
  const house = await withHooks([toAddress(url, ['before_save', 'session_save'])])
  expect(await say(house, 'call 5551234 for me')).toBe('you said: call [number] for me')
  const { world } = house.telegram
  const secretive = world.say({ from: ADA, text: 'and 7778888' })
  world.say({ from: ADA, text: 'this one, 9990000', replyTo: secretive.message_id })
  await house.telegram.ledger.nextFromBot('sent', { where: ({ text }) => text.includes('this one') })
  world.edit({ chat: ADA, message: secretive.message_id, text: 'or rather 6665555' })
  await say(house, 'and now?')
  const prompts = JSON.stringify(house.anthropic?.ledger.entries)
  expect(prompts).toContain('this one, [number]')
  expect(prompts).not.toMatch(/5551234|7778888|9990000|6665555/)
  const saved = heard
    .filter(({ call }) => call.on === 'session_save')
    .map(({ body }) => body)
    .join()
  expect(saved).toContain('"text":"call [number] for me","raw":"call 5551234 for me"')
})

it.each([
  ['fails', shell('before_save', 'exit 3')],
  [
    'is not there',
    {
      ...shell('before_save', ''),
      at: { kind: 'command', command: '/no/program', args: [], env: PATH, folder: '/' },
    } as const,
  ],
  ['answers nonsense', shell('before_save', 'echo "["')],
  ['answers a list', shell('before_save', 'echo "[1]"')],
  ['floods', shell('before_save', 'yes')],
  ['never ends, nor lets go of its output', shell('before_save', 'sleep 600 & sleep 600', 200)],
])('R8: a hook that %s breaks nothing: the message is stored as it came', async (_how, hook) => {
  const house = await withHooks([hook])
  expect(await say(house, 'hello')).toBe('you said: hello')
})

/** The example of a hook. */
function maskNumbers(): HookSettings {
  const command = fileURLToPath(new URL('../../config/hooks/mask-numbers.mjs', import.meta.url))
  const at = { kind: 'command', command, args: [], env: PATH, folder: '/' } as const
  return { name: 'mask', on: ['before_save'], at, timeoutMs: 5_000 }
}

it('R8: the example of a hook hides long numbers', async () => {
  const house = await withHooks([maskNumbers()])
  expect(await say(house, 'my card is 4111 1111 1111 1111, the room is 212')).toBe(
    'you said: my card is [number], the room is 212',
  )
})

it('R8: a hook refuses a call of a tool; the model reads the reason, and no person is asked', async () => {
  const { heard, url } = await startReceiver(({ tool }) =>
    tool === 'current_time' ? '{"deny":"no clocks here"}' : '{}',
  )
  const script: Script = (request) => {
    const result = toolResult(request)
    return result === undefined
      ? { blocks: [{ type: 'tool_use', name: 'current_time', input: {} }] }
      : textReply(`it says: ${result}`)
  }
  const house = await withHooks([toAddress(url, ['before_tool'])], script)
  expect(await say(house, 'what time is it?')).toBe('it says: Denied by a rule of the machine I run on: no clocks here')
  expect(heard[0]?.call).toMatchObject({ on: 'before_tool', tool: 'current_time', args: {} })
})

it('R8: a hook gets no secret of the daemon, in its environment or in what it is told', async () => {
  const { heard, url } = await startReceiver()
  const printed = shell(
    'before_save',
    `printf '{"text":"%s"}' "$(env | grep -vc -e ^PATH= -e ^PWD= -e ^SHLVL= -e ^_=)"`,
  )
  const house = await startHousehold({
    script: echo,
    streaming: false,
    config: {
      agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools: [] }],
      secrets: [new Secret('hunter2-hunter2')],
      hooks: [toAddress(url, ['session_save']), printed],
    },
  })
  expect(await say(house, 'the word is hunter2-hunter2')).toBe('you said: 0')
  await vi.waitFor(() => expect(heard.length).toBeGreaterThan(1))
  expect(heard.map(({ body }) => body).join()).not.toContain('hunter2')
})

it('R8: a question aside reaches no model past the hook', async () => {
  const house = await withHooks([shell('before_save', `cat > /dev/null; printf '{"text": "masked"}'`)])
  await say(house, 'hello')
  expect(await say(house, '/side my card is 4711')).toContain('you said: masked')
  expect(JSON.stringify(house.anthropic?.ledger.requests())).not.toContain('4711')
})

it('R8: what a command has remembered, named or said later reaches no model past the hook', async () => {
  const agents = [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Be brief.', tools: ['memory'] }]
  const house = await startHousehold({ script: echo, streaming: false, config: { hooks: [maskNumbers()], agents } })
  await say(house, 'hello')
  expect(await say(house, '/remember my card is 4711 4711 4711 4711')).toContain('#1 my card is [number]')
  expect(await say(house, '/memory correct 1 my other card is 8159 8159 8159 8159')).toContain('other card is [number]')
  expect(await say(house, '/title the card 1234 1234 1234 1234')).toContain('the card [number]')
  await say(house, '/remind in 2 hours pay with 9876 9876 9876 9876')
  expect(await say(house, '/remind list')).toMatch(/pay with \[?number/)
  expect(await say(house, '/memory')).toContain('#1 my other card is [number]')
  await house.daemon.stop()
  const kept = readFileSync(join(house.dataDir, 'parley.db'), 'latin1')
  expect(kept).not.toMatch(/4711 4711 4711 4711|8159 8159 8159 8159|9876 9876 9876 9876/)
})
