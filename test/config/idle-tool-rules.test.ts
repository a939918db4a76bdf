import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { SEND_FILE } from '../../src/core/send-file.ts'
import { TOOL_NAMES } from '../../src/core/tool-names.ts'
import { WEB_SEARCH } from '../../src/core/web.ts'
import { load, refusal, TELEGRAM } from './loading.ts'

const warnings = async (tools: string): Promise<readonly string[]> =>
  (await load(`${TELEGRAM}tools: ${tools}`)).config.warnings.filter(
    (one) => one.includes('tools.') && !one.includes('no agent has its tools'),
  )

const rule = (...names: readonly string[]) => `policy: [{ tools: [${names}], who: [everybody], action: deny }]`

test.each([
  ['a slip', rule('web_fech'), 'tools[0]: no tool is called web_fech, so it does nothing; did you mean `web_fetch`?'],
  [
    'a group',
    rule('ask', 'web'),
    'tools[1]: no tool is called web, so it does nothing; a rule names tools: web_fetch, web_search',
  ],
  [
    'the group of a server',
    `mcp: { notes: { command: uvx } }, ${rule('mcp.notes')}`,
    'the tools of that server are notes__<tool>, all of them notes__*',
  ],
  ['one underscore', `mcp: { notes: { command: uvx } }, ${rule('notes_read')}`, 'no tool is called notes_read'],
  ['a server that is not there', rule('notes__read'), 'no tool is called notes__read'],
])('a rule is warned of whose tool is %s', async (_, tools, words) => {
  expect(await warnings(`{ ${tools} }`)).toEqual([expect.stringContaining(words)])
})

test('a rule may name tools of servers by their beginning, and those of own files, whose names are not known', async () => {
  const names = rule('notes__read', '"not*"', '"*"', 'skill', '"sessions_*"')
  expect(await warnings(`{ mcp: { notes: { command: uvx } }, ${names} }`)).toEqual([])
  expect(await warnings(`{ own: { dice: parley.yaml }, ${rule('roll')} }`)).toEqual([])
})

test.each([
  ['web', 'no tool is called web, so it does nothing, unless a file under tools.own has it; a rule names tools: web_'],
  ['web_fech', 'unless a file under tools.own has it; did you mean `web_fetch`?'],
  ['notes__read', 'no tool is called notes__read, so it does nothing'],
  ['own.dice', 'no tool is called own.dice, so it does nothing'],
])('files of tools of the own do not hide that a rule names %s', async (name, words) => {
  expect(await warnings(`{ own: { dice: parley.yaml }, ${rule(name)} }`)).toEqual([expect.stringContaining(words)])
})

test('a tool that is marked as inside and may not be used is warned of', async () => {
  const server =
    'mcp: { notes: { command: uvx, tools: ["read*"], inside: [write, read_all, { tools: ["a*", edit] }] } }'
  expect(await warnings(`{ ${server} }`)).toEqual([
    expect.stringContaining('tools.mcp.notes.inside: write is not among tools, so no agent has it; add it there'),
    expect.stringContaining('inside: edit is not among tools'),
  ])
})

test('the names of tools are those that the agent has', () => {
  const folder = fileURLToPath(new URL('../../src/agent/tools/', import.meta.url))
  const named = readdirSync(folder).flatMap((file) => {
    const source = readFileSync(`${folder}${file}`, 'utf8')
    return [...source.matchAll(/^ +name: '([a-z_]+)',$/gm)].map(([, name]) => name)
  })
  expect([...new Set([...named, SEND_FILE, WEB_SEARCH])].sort()).toEqual([...TOOL_NAMES].sort())
})

test('servers as other programs name them are refused with the name here', async () => {
  const servers = 'mcpServers: { notes: { command: uvx } }'
  expect(await refusal(`${TELEGRAM}${servers}`)).toContain('; here it is mcp, under tools')
  expect(await refusal(`${TELEGRAM}tools: { ${servers} }`)).toContain('in tools; did you mean `mcp`?')
})

test('a server whose tools no agent has is warned of', async () => {
  const server = 'tools: { mcp: { notes: { command: uvx } } }'
  const unused = 'tools.mcp.notes: no agent has its tools; add mcp.notes to agents[].tools'
  expect((await load(`${TELEGRAM}${server}`)).config.warnings).toContain(unused)
  const used = await load(`${TELEGRAM}agents: [{ id: main, tools: [mcp.notes] }]\n${server}`)
  expect(used.config.warnings).not.toContain(unused)
})

test.each([
  ['no type of chat', '"telegram:-100123"', '', 'write telegram:direct:<chat>, telegram:group:<chat> or telegram:'],
  ['another case', '"telegram:Group:-100123"', '', 'write telegram:direct:<chat>, telegram:group:<chat> or telegram:'],
  [
    'no session of its own',
    '"telegram:direct:7"',
    'session: { scope: global }',
    'all direct chats are one session, main',
  ],
])('a rule is warned of whose place has %s', async (_, place, more, words) => {
  const policy = `policy: [{ tools: [ask], who: [everybody], in: [${place}], action: deny }]`
  const mcp = `mcp: { notes: { command: uvx, inside: [{ tools: [read], in: [${place}] }] } }`
  const { config } = await load(`${TELEGRAM}tools: { ${policy}, ${mcp} }\n${more}\n`)
  const warned = config.warnings.filter((one) => one.includes('no session is called'))
  expect(warned).toEqual([expect.stringContaining(words), expect.stringContaining(words)])
  expect(warned.map((one) => one.split(':')[0])).toEqual(['tools.policy[0].in[0]', 'tools.mcp.notes.inside[0].in[0]'])
})

test('a rule may name whatever a session may be called', async () => {
  const places = ['telegram:group:-1/5', 'telegram@two:direct:7', 'telegram:group:-1|sender=ada', 'main', 'cron:rent']
  const keys = [...places, 'cli:home', 'web:direct:x', 'hook:mail', 'anything'].map((one) => JSON.stringify(one))
  expect(await warnings(`{ policy: [{ tools: [ask], who: [everybody], in: [${keys}], action: deny }] }`)).toEqual([])
})
