import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { toAgentId } from '../../src/core/ids.ts'
import type { McpBounds } from '../../src/core/mcp.ts'
import { codeOf } from './asking-household.ts'
import { AwaitedLog } from './awaited-log.ts'
import { program, toolHousehold } from './tool-servers.ts'

const top = realpathSync(mkdtempSync(join(tmpdir(), 'parley-bounded-')))
afterAll(() => rmSync(top, { recursive: true, force: true }))
const [notes, other, outside] = ['notes', 'other', 'outside'].map((name) => join(top, name)) as [string, string, string]
for (const folder of [notes, other, outside]) mkdirSync(folder)

beforeEach(() => {
  for (const folder of [notes, other, outside]) writeFileSync(join(folder, 'milk.txt'), `milk of ${folder}`)
  rmSync(join(notes, 'link'), { force: true })
})

const BOUNDS: McpBounds = {
  tier: 'sandboxed',
  folders: [notes],
  allowedCommands: [],
  arguments: [
    { tools: ['move_file'], paths: ['source', 'destination'], command: [] },
    { tools: ['read_multiple_files'], paths: ['paths[]'], command: [] },
    { tools: ['list_allowed_directories'], paths: [], command: [] },
    { tools: ['*'], paths: ['path'], command: [] },
  ],
}
const AGENT = { id: toAgentId('main'), model: 'anthropic/rehearsal', prompt: 'Obey.' }
const READS = [{ tools: ['read_*', 'list_*'] }]

/** The server itself may reach everything: what is refused is refused by the daemon. */
const files = (bounds: Partial<McpBounds> = {}) =>
  program('@modelcontextprotocol/server-filesystem', ['/'], { inside: READS, bounds: { ...BOUNDS, ...bounds } })

describe('C47: the tools of a server of files', () => {
  it('reach the folder of their tier, and nothing else by any way, whoever asks', async () => {
    const log = new AwaitedLog()
    const { say, use } = await toolHousehold([files()], { log })
    symlinkSync(outside, join(notes, 'link'))
    const read = (path: string) => say(111, use('filesystem__read_text_file', { path }), 'it says')
    expect(await read(join(notes, 'milk.txt'))).toContain(`milk of ${notes}`)
    const ways = [join(outside, 'milk.txt'), join(notes, 'link/milk.txt'), join(notes, '../outside/milk.txt')]
    for (const way of [...ways, '~/milk.txt', `file://${outside}/milk.txt`, `${notes}/%2e%2e/outside/milk.txt`]) {
      const answer = await read(way)
      expect(answer).toContain('Denied: the argument path')
      expect(answer).not.toContain('milk of')
    }
    const several = use('filesystem__read_multiple_files', {
      paths: [join(notes, 'milk.txt'), join(outside, 'milk.txt')],
    })
    expect(await say(111, several, 'it says')).toContain('Denied: the argument paths[]')
    const refused = log.lines.filter(({ sentence }) => sentence === 'A call of a tool was refused')
    expect(refused).toHaveLength(7)
    expect(JSON.stringify(refused)).not.toContain('milk')
  })

  it('ask before one writes, and nobody is asked about a call that is refused', async () => {
    const { say, use } = await toolHousehold([files()])
    const move = (destination: string) => use('filesystem__move_file', { source: join(notes, 'milk.txt'), destination })
    expect(await say(111, move(join(outside, 'moved.txt')))).toContain('Denied: the argument destination')
    const card = await say(111, move(join(notes, 'moved.txt')), 'May I use')
    expect(existsSync(join(notes, 'moved.txt'))).toBe(false)
    await say(111, `/approve ${codeOf(card)}`, 'it says')
    expect(readFileSync(join(notes, 'moved.txt'), 'utf8')).toBe(`milk of ${notes}`)
  })

  it('are looked at again when a call is made that was allowed before', async () => {
    const { say, use } = await toolHousehold([files()])
    mkdirSync(join(notes, 'link'))
    const path = join(notes, 'link', 'new.txt')
    const card = await say(111, use('filesystem__write_file', { path, content: 'x' }), 'May I use')
    rmSync(join(notes, 'link'), { recursive: true })
    symlinkSync(outside, join(notes, 'link'))
    expect(await say(111, `/approve ${codeOf(card)}`, 'it says')).toContain('Denied: the argument path')
    expect(existsSync(join(outside, 'new.txt'))).toBe(false)
  })

  it('reach each folder of a workspace, and any with tier full', async () => {
    const workspace = await toolHousehold([files({ tier: 'workspace', folders: [notes, other] })])
    const read = (path: string) => workspace.use('filesystem__read_text_file', { path })
    expect(await workspace.say(111, read(join(other, 'milk.txt')), 'it says')).toContain('milk of')
    expect(await workspace.say(111, read(join(outside, 'milk.txt')), 'it says')).toContain('Denied')
    const full = await toolHousehold([files({ tier: 'full', folders: [] })])
    expect(await full.say(111, read(join(outside, 'milk.txt')), 'it says')).toContain('milk of')
  })

  it('of which the operator has said nothing are not offered', async () => {
    const [, ...named] = BOUNDS.arguments
    const { house, say } = await toolHousehold([files({ arguments: named.slice(0, 2) })])
    await say(111, 'hello')
    const offered = house.anthropic?.ledger.requests()[0]?.tools?.map((tool) => tool.name)
    expect(offered).toEqual(['send_message', 'filesystem__list_allowed_directories', 'filesystem__read_multiple_files'])
  })

  it('are the only ones: no tool of the agent’s own starts a program or opens a file', async () => {
    const everything = ['time', 'sessions', 'message', 'task', 'schedule', 'web']
    const { house, say } = await toolHousehold([files()])
    await house.restart({ agents: [{ ...AGENT, tools: everything }] })
    await say(111, 'hello')
    const offered =
      house.anthropic?.ledger
        .requests()
        .at(-1)
        ?.tools?.map((tool) => tool.name) ?? []
    expect(offered.length).toBeGreaterThan(6)
    expect(offered.filter((name) => /shell|bash|exec|run|git|file|path|command/.test(name))).toEqual([])
  })
})
