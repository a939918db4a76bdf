import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import type { McpArguments, McpBounds, McpServer } from '../../src/core/mcp.ts'
import { boundCall } from '../../src/mcp/bound-call.ts'
import { readTools } from '../../src/mcp/read-tools.ts'

const top = realpathSync(mkdtempSync(join(tmpdir(), 'parley-calls-')))
afterAll(() => rmSync(top, { recursive: true, force: true }))
const notes = join(top, 'notes')
mkdirSync(notes)
symlinkSync('/etc', join(notes, 'etc'))

const server = (taken: Partial<McpArguments>, bounds: Partial<McpBounds> = {}): McpServer => ({
  name: 'files',
  at: { kind: 'program', command: 'none', args: [], env: {}, folder: notes },
  inside: [],
  bounds: {
    ...{ tier: 'sandboxed', folders: [notes], allowedCommands: ['ls', 'git', 'make all && make test'] },
    arguments: [{ tools: ['*'], paths: [], command: [], ...taken }],
    ...bounds,
  },
  timeoutMs: 1,
})

const LISTED = ['path', 'paths', 'edits', 'files', 'text', 'command', 'args']
const call = (made: McpServer, args: Record<string, unknown>) => {
  return boundCall(made, { name: 'use', names: LISTED }, args)
}
const refused = { code: 'forbidden', message: expect.stringMatching(/^Denied: /) }

describe('C47: a call with paths', () => {
  it.each([
    ['path', { path: 'a' }, { path: join(notes, 'a') }],
    ['paths[]', { paths: ['a', './b'] }, { paths: [join(notes, 'a'), join(notes, 'b')] }],
    ['paths[]', { paths: [] }, { paths: [] }],
    ['edits[].path', { edits: [{ path: 'a', by: '/etc' }] }, { edits: [{ path: join(notes, 'a'), by: '/etc' }] }],
    ['files.list[].at', { files: { list: [{ at: 'a' }] } }, { files: { list: [{ at: join(notes, 'a') }] } }],
    ['path', { text: '/etc/passwd' }, { text: '/etc/passwd' }],
  ])('%s is passed on as it was checked: %j', async (way, args, passed) => {
    expect(await call(server({ paths: [way] }), args)).toEqual(passed)
  })

  it.each([
    ['path', { path: '/etc/passwd' }],
    ['path', { path: 'etc/passwd' }],
    ['path', { path: ['a'] }],
    ['path', { path: { a: 1 } }],
    ['path', { path: null }],
    ['path', { path: 7 }],
    ['paths[]', { paths: 'a' }],
    ['paths[]', { paths: { 0: '/etc/passwd', length: 1 } }],
    ['paths[]', { paths: ['a', '/etc/passwd'] }],
    ['paths[]', { paths: ['a', ['/etc/passwd']] }],
    ['edits[].path', { edits: [{ path: 'a' }, { path: '../x' }] }],
    ['edits[].path', { edits: { path: 'a' } }],
    ['edits[].path', { edits: ['/etc/passwd'] }],
    ['files', { files: { '/etc/passwd': 'text' } }],
    ['path', { path: 'a', Path: '/etc/passwd' }],
    ['path', { path: 'a', 'path ': '/etc/passwd' }],
    ['path', JSON.parse('{"path": "a", "__proto__": {"path": "/etc/passwd"}}') as Record<string, unknown>],
  ])('%s is refused where it leads elsewhere, or has another form: %j', async (way, args) => {
    await expect(call(server({ paths: [way] }), args)).rejects.toMatchObject(refused)
  })

  it('says which argument and what may be reached', async () => {
    await expect(call(server({ paths: ['path'] }), { path: '/etc/passwd' })).rejects.toThrow(
      `Denied: the argument path leads outside of ${notes}, which is all that may be reached.`,
    )
  })

  it('goes anywhere with tier full, and as the model wrote it without bounds', async () => {
    const full = server({ paths: ['path'] }, { tier: 'full', folders: [] })
    expect(await call(full, { path: '../x' })).toEqual({ path: '../x' })
    const { bounds: _none, ...unbound } = server({})
    expect(await call(unbound, { any: '/etc' })).toEqual({ any: '/etc' })
  })
})

describe('C47: a call with a command', () => {
  const one = server({ command: ['command'] })

  it.each([
    'ls',
    'ls -la',
    'git log --oneline',
    'git  status',
    'git diff a.txt',
    'make all && make test',
    'ls --x=a',
    'git diff a..b',
    'ls a=b,c',
    'ls @a/b',
    'ls a=',
    'git clone git@host:team/x',
    'git log HEAD:a',
    'ls a:b:c',
  ])('passes: %s', async (command) => {
    expect(await call(one, { command })).toEqual({ command })
  })

  it.each([
    ...[
      '',
      ' ',
      'rm -rf x',
      '/bin/ls',
      './ls',
      'LS',
      'lsof',
      ' ls',
      'A=1 ls',
      'make',
      'make all',
      'make all && make test;',
    ],
    ...['ls; rm x', 'ls && rm x', 'ls | sh', 'ls & rm x', 'ls > x', 'ls < x', 'ls $(rm x)', 'ls `rm x`', 'ls $HOME'],
    ...['ls\nrm x', 'ls\trm', 'ls\0', 'ls \u00a0x', 'ls *', 'ls {a,b}', 'ls ~', 'ls "x"', "ls 'x'", 'ls \\x', 'ls #x'],
    ...[
      'ls /etc',
      'ls ..',
      'ls etc',
      'ls etc/passwd',
      'git --git-dir=/etc',
      'git -C/etc',
      'ls a/../../x',
      'git file:///etc',
      'git file:etc',
      'git clone git@host:/etc',
      'git clone host:../../x',
      'git clone host:etc/passwd',
      'git clone https://host/x',
      'ls x:file:///etc',
      'ls host:%2fetc',
    ],
    ...[
      'git -C..',
      'git -Cetc',
      'ls -xCetc',
      'git -C．．',
      'ls if=/etc/passwd',
      'ls a=../../x',
      'ls a=etc/passwd',
      'ls @/etc/passwd',
      'ls 1:/etc/passwd',
      'ls a,/etc/passwd',
      'ls +/etc/passwd',
      'ls --x=a=/etc/passwd',
      'ls --x=a,../../b',
    ],
  ])('is refused: %j', async (command) => {
    await expect(call(one, { command })).rejects.toMatchObject(refused)
  })

  it.each([{}, { command: null }, { command: ['ls'] }, { command: { ls: 1 } }])('is refused: %j', async (args) => {
    await expect(call(one, args)).rejects.toMatchObject(refused)
  })

  it('is put together from a program and its arguments', async () => {
    const two = server({ command: ['command', 'args[]'] })
    const args = { command: 'ls', args: ['-l', 'a b'] }
    expect(await call(two, args)).toEqual(args)
    await expect(call(two, { command: 'ls', args: ['/etc'] })).rejects.toMatchObject(refused)
    await expect(call(two, { command: 'ls', args: ['a /etc'] })).rejects.toMatchObject(refused)
    await expect(call(two, { command: 'ls', args: ['a -C..'] })).rejects.toMatchObject(refused)
    await expect(call(two, { command: 'ls', args: ['a; rm x'] })).rejects.toMatchObject(refused)
    await expect(call(two, { args: ['ls'] })).rejects.toMatchObject(refused)
  })

  it('is held to the allowed programs with tier full too, and none is allowed where none is named', async () => {
    const full = server({ command: ['command'] }, { tier: 'full' })
    expect(await call(full, { command: 'ls /etc' })).toBeTruthy()
    await expect(call(full, { command: 'rm /etc' })).rejects.toMatchObject(refused)
    const none = server({ command: ['command'] }, { allowedCommands: [] })
    await expect(call(none, { command: 'ls' })).rejects.toThrow('Allowed: none.')
  })
})

it('C47: a tool of which nothing is known, or that has none of the arguments, is left out where paths are bounded', async () => {
  const tool = (name: string, properties: object) => ({ name, inputSchema: { type: 'object', properties } })
  const listed = [tool('read', { path: {} }), tool('move', { from: {} }), tool('about', {}), tool('odd', { path: {} })]
  const made = server({}).bounds
  const taken = [
    { tools: ['read', 'move'], paths: ['path'], command: [] },
    { tools: ['about'], paths: [], command: [] },
  ]
  const files = (tier: McpBounds['tier']) => ({
    ...server({}),
    bounds: { ...(made as McpBounds), arguments: taken, tier },
  })
  const { tools, leftOut } = await readTools(files('workspace'), listed)
  expect(tools.map(({ name }) => name)).toEqual(['about', 'read'])
  expect(leftOut).toEqual(['move (it has no argument path)', 'odd (arguments says nothing of it)'])
  expect((await readTools(files('full'), listed)).tools).toHaveLength(4)
})

it('C47: an argument that is offered under another name is bounded by its own', async () => {
  const inputSchema = { type: 'object', properties: { '@path': { type: 'string' } } }
  const made = server({ paths: ['@path'] })
  const [tool] = (await readTools(made, [{ name: 'use', inputSchema }])).tools
  expect(tool?.spec.parameters.properties).toHaveProperty('path')
  const passed = (args: object) => tool && boundCall(made, tool, tool.restore({ ...args }))
  expect(await passed({ path: 'a' })).toEqual({ '@path': join(notes, 'a') })
  for (const args of [{ path: '/etc/passwd' }, { '@path': '/etc/passwd' }, { path: 'a', '@path': '/etc/passwd' }])
    await expect(passed(args)).rejects.toMatchObject(refused)
  await expect(passed({ more: '/etc/passwd' })).rejects.toMatchObject(refused)
})
