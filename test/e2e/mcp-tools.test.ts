import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import type { McpSettings } from '../../src/config/config.ts'
import { Secret } from '../../src/config/secrets.ts'
import type { ToolRule } from '../../src/core/approval.ts'
import { loginMcp } from '../../src/daemon/make-mcp.ts'
import { startLoginServer } from '../fakes/login-server.ts'
import { codeOf } from './asking-household.ts'
import { packaged, program, toolHousehold } from './tool-servers.ts'

const NOTES = mkdtempSync(join(tmpdir(), 'parley-notes-'))
writeFileSync(join(NOTES, 'milk.txt'), 'two litres')
afterAll(() => rmSync(NOTES, { recursive: true, force: true }))

const files = (marks?: Partial<McpSettings>) => program('@modelcontextprotocol/server-filesystem', [NOTES], marks)

const MILK = { path: join(NOTES, 'milk.txt') }
const ALL = { tools: ['*'], who: ['everybody'], action: 'allow' } as const

describe('the tools of a server of somebody else', () => {
  it('asks before each call, whatever the server says of itself, and makes exactly that one', async () => {
    const { say, use } = await toolHousehold([files()])
    const card = await say(111, use('filesystem__read_text_file', MILK), 'May I use')
    expect(card).toContain('filesystem__read_text_file')
    expect(card).toContain('milk.txt')
    expect(await say(111, `/approve ${codeOf(card)}`, 'it says')).toContain('two litres')
  })

  it('is used without asking where the operator has marked it, and there alone', async () => {
    const inside = [{ tools: ['read_*'], in: ['telegram:direct:444'] }]
    const { say, use } = await toolHousehold([files({ inside })])
    expect(await say(444, use('filesystem__read_text_file', MILK))).toContain('it says: two litres')
    expect(await say(111, use('filesystem__read_text_file', MILK))).toContain('May I use')
    expect(await say(444, use('filesystem__write_file', { ...MILK, content: 'none' }), 'my owner')).toBeTruthy()
  })

  it('has the tools that are allowed alone', async () => {
    const { house, say, use } = await toolHousehold([files({ tools: ['read_text_file'] })], { rules: [ALL] })
    expect(await say(111, use('filesystem__write_file', { ...MILK, content: 'none' }))).toContain('There is no tool')
    const offered = house.anthropic?.ledger.requests()[0]?.tools?.map((tool) => tool.name)
    expect(offered).toEqual(['send_message', 'filesystem__read_text_file'])
  })

  it('T32: returns nobody’s words: after them nothing is said elsewhere by the turn alone', async () => {
    const rules: ToolRule[] = [
      { tools: ['filesystem__*'], who: ['everybody'], action: 'allow' },
      { tools: ['send_message'], who: ['owner'], action: 'allow' },
    ]
    const { say, use } = await toolHousehold([files()], { rules })
    await say(444, 'hello')
    const post = use('send_message', { to: 'telegram:direct:444', text: 'hi' })
    expect(await say(111, post)).toContain('On its way')
    expect(await say(111, use('filesystem__read_text_file', MILK))).toContain('two litres')
    expect(await say(111, post)).toContain('May I use')
  })

  it('keeps a picture of a result as a file, and remembers across calls', async () => {
    const everything = program('@modelcontextprotocol/server-everything', [])
    const memory = program('@modelcontextprotocol/server-memory', [])
    const { house, say, use } = await toolHousehold([everything, memory], { rules: [ALL] })
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
    const { say, use } = await toolHousehold([{ name: 'gone', at, inside: [], timeoutMs: 1_000 }], { ready: 0 })
    expect(await say(111, 'hello')).toBe('fine')
    expect(await say(111, use('gone__add', {}))).toContain('There is no tool "gone__add"')
  })

  it('C34: is reached by HTTP on this machine, with its header, where the configuration names it', async () => {
    const port = await freePort()
    await startHttp(port)
    const at = { kind: 'address', url: `http://127.0.0.1:${port}/mcp`, headers: { 'x-key': new Secret('k') } } as const
    const { say, use } = await toolHousehold([{ name: 'web', at, inside: [{ tools: ['*'] }], timeoutMs: 20_000 }])
    expect(await say(111, use('web__echo', { message: 'hello' }))).toContain('Echo: hello')
  })

  it('C29: is used with the login of its operator, whose tokens stand nowhere, and says the command once it has ended', async () => {
    const server = await startLoginServer({ says: (authorization) => `you sent ${authorization}` })
    const at = { kind: 'address', url: server.url, headers: {} } as const
    const settings = { name: 'web', at, inside: [{ tools: ['*'] }], timeoutMs: 20_000 }
    const { house, say, use, log } = await toolHousehold([settings], { ready: 0 })
    await log.line('A tool server cannot be reached')
    const { dataDir } = house
    await loginMcp({ mcp: [settings], dataDir }, 'web', {
      open: (url) => void server.visit(url).then((back) => fetch(back)),
      wrong: () => undefined,
    })
    await log.line('The tools of a server are there')
    expect(await say(111, use('web__who', {}))).toContain('you sent Bearer [secret]')
    server.revoke()
    expect(await say(111, use('web__who', {}))).toContain('parley mcp login web')
    await house.daemon.stop()
    const kept = readdirSync(dataDir).filter((name) => name.startsWith('parley.db'))
    const rows = kept.map((name) => readFileSync(join(dataDir, name), 'latin1')).join('')
    expect(rows).toContain('[secret]')
    expect([...server.secrets].filter((secret) => rows.includes(secret))).toEqual([])
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
