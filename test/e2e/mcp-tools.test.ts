import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { McpSettings } from '../../src/config/config.ts'
import { Secret } from '../../src/config/secrets.ts'
import type { ToolRule } from '../../src/core/approval.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { member, owner, policy } from '../fakes/routing-policy.ts'
import { codeOf } from './asking-household.ts'
import { startHousehold } from './household.ts'
import { toolResult } from './obedient.ts'

const NOTES = mkdtempSync(join(tmpdir(), 'parley-notes-'))
writeFileSync(join(NOTES, 'milk.txt'), 'two litres')
afterAll(() => rmSync(NOTES, { recursive: true, force: true }))

/** Returns the program of a package of somebody else's. */
function packaged(name: string): string {
  const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`)
  return join(dirname(manifest), 'dist', 'index.js')
}

type Marks = Partial<Pick<McpSettings, 'tools' | 'inside'>>

function program(name: string, args: readonly string[], marks: Marks = {}): McpSettings {
  const [, short = ''] = /server-(\w+)$/.exec(name) ?? []
  const at = { kind: 'program', command: process.execPath, args: [packaged(name), ...args], env: {} } as const
  return { name: short, at, inside: [], timeoutMs: 20_000, ...marks }
}

const files = (marks?: Marks) => program('@modelcontextprotocol/server-filesystem', [NOTES], marks)

/** Does what anybody says: `use <tool> <arguments>`. */
const script: Script = (request) => {
  const result = toolResult(request)
  if (result !== undefined) return textReply(`it says: ${result}`)
  const [, tool, args] = /use ([\w-]+) (\{.*\})/.exec(lastUserText(request)) ?? []
  if (tool === undefined || args === undefined) return textReply('fine')
  return { blocks: [{ type: 'tool_use', name: tool, input: JSON.parse(args) as Readonly<Record<string, unknown>> }] }
}

async function household(mcp: readonly McpSettings[], rules: readonly ToolRule[] = []) {
  const tools = ['message', ...mcp.map(({ name }) => `mcp.${name}`)]
  const house = await startHousehold({
    ...{ script, streaming: false },
    config: {
      agents: [{ id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.', tools }],
      mcp,
      toolPolicy: rules,
    },
    routing: policy({
      people: [owner('ada', 'telegram:111'), member('bob', 'telegram:444')],
      access: { direct: 'public', groups: [] },
    }),
  })
  const { world, ledger } = house.telegram
  const say = async (from: number, text: string, words = ''): Promise<string> => {
    const after = ledger.mark()
    world.say({ from, text })
    const where = ({ chatId, text: said }: { chatId: number; text: string }) => chatId === from && said.includes(words)
    return (await ledger.nextFromBot('sent', { after, where })).text
  }
  const use = (tool: string, args: object): string => `use ${tool} ${JSON.stringify(args)}`
  return { house, say, use }
}

const MILK = { path: join(NOTES, 'milk.txt') }
const ALL = { tools: ['*'], who: ['everybody'], action: 'allow' } as const

describe('the tools of a server of somebody else', () => {
  it('asks before each call, whatever the server says of itself, and makes exactly that one', async () => {
    const { say, use } = await household([files()])
    const card = await say(111, use('filesystem__read_text_file', MILK), 'May I use')
    expect(card).toContain('filesystem__read_text_file')
    expect(card).toContain('milk.txt')
    expect(await say(111, `/approve ${codeOf(card)}`, 'it says')).toContain('two litres')
  })

  it('is used without asking where the operator has marked it, and there alone', async () => {
    const inside = [{ tools: ['read_*'], in: ['telegram:direct:444'] }]
    const { say, use } = await household([files({ inside })])
    expect(await say(444, use('filesystem__read_text_file', MILK))).toContain('it says: two litres')
    expect(await say(111, use('filesystem__read_text_file', MILK))).toContain('May I use')
    expect(await say(444, use('filesystem__write_file', { ...MILK, content: 'none' }), 'my owner')).toBeTruthy()
  })

  it('has the tools that are allowed alone', async () => {
    const { house, say, use } = await household([files({ tools: ['read_text_file'] })], [ALL])
    expect(await say(111, use('filesystem__write_file', { ...MILK, content: 'none' }))).toContain('There is no tool')
    const offered = house.anthropic?.ledger.requests()[0]?.tools?.map((tool) => tool.name)
    expect(offered).toEqual(['send_message', 'filesystem__read_text_file'])
  })

  it('T32: returns nobody’s words: after them nothing is said elsewhere by the turn alone', async () => {
    const rules: ToolRule[] = [
      { tools: ['filesystem__*'], who: ['everybody'], action: 'allow' },
      { tools: ['send_message'], who: ['owner'], action: 'allow' },
    ]
    const { say, use } = await household([files()], rules)
    await say(444, 'hello')
    const post = use('send_message', { to: 'telegram:direct:444', text: 'hi' })
    expect(await say(111, post)).toContain('On its way')
    expect(await say(111, use('filesystem__read_text_file', MILK))).toContain('two litres')
    expect(await say(111, post)).toContain('May I use')
  })

  it('keeps a picture of a result as a file, and remembers across calls', async () => {
    const everything = program('@modelcontextprotocol/server-everything', [])
    const memory = program('@modelcontextprotocol/server-memory', [])
    const { house, say, use } = await household([everything, memory], [ALL])
    expect(await say(111, use('everything__echo', { message: 'hello' }))).toContain('Echo: hello')
    await say(111, 'use everything__get-tiny-image {}')
    const shown = JSON.stringify(house.anthropic?.ledger.requests().at(-1)?.messages)
    expect(shown).toContain('image/png')
    const entities = [{ name: 'Ada', entityType: 'person', observations: ['likes tea'] }]
    await say(111, use('memory__create_entities', { entities }), 'it says')
    expect(await say(111, use('memory__search_nodes', { query: 'tea' }))).toContain('Ada')
  })

  it('that cannot be reached has no tools, and the agent answers without them', async () => {
    const at = { kind: 'program', command: '/no/such/program', args: [], env: {} } as const
    const { say, use } = await household([{ name: 'gone', at, inside: [], timeoutMs: 1_000 }])
    expect(await say(111, 'hello')).toBe('fine')
    expect(await say(111, use('gone__add', {}))).toContain('There is no tool "gone__add"')
  })

  it('C34: is reached by HTTP on this machine, with its header, where the configuration names it', async () => {
    const port = await freePort()
    await startHttp(port)
    const at = { kind: 'address', url: `http://127.0.0.1:${port}/mcp`, headers: { 'x-key': new Secret('k') } } as const
    const { say, use } = await household([{ name: 'web', at, inside: [{ tools: ['*'] }], timeoutMs: 20_000 }])
    expect(await say(111, use('web__echo', { message: 'hello' }))).toContain('Echo: hello')
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

async function startHttp(port: number): Promise<ChildProcess> {
  const args = [packaged('@modelcontextprotocol/server-everything'), 'streamableHttp']
  const child = spawn(process.execPath, args, {
    env: { ...process.env, PORT: String(port) },
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  await new Promise<void>((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk
      if (said.includes('listening')) resolve()
    })
    child.on('exit', () => reject(new Error(`the server ended: ${said}`)))
  })
  return child
}
