import { expect, test } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { ParleyError } from '../../src/core/errors.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { fakeOperator } from '../fakes/operator.ts'
import { rig, serveDaemon } from './rig.ts'

const MCP = [
  {
    name: 'files',
    at: { kind: 'program', command: 'npx', args: ['--key', 'canary'], env: { TOKEN: new Secret('canary') } },
    inside: [],
    timeoutMs: 1,
  },
  { name: 'web', at: { kind: 'address', url: 'http://127.0.0.1:1/mcp', headers: {} }, inside: [], timeoutMs: 1 },
] as const

const none = () => Promise.reject(new Error('none'))
const NONE = { login: none, logout: none, endPrograms: none }

async function parley(mcp: typeof MCP | undefined = MCP, check?: () => never) {
  const main = { id: toAgentId('main'), model: 'scripted/echo', prompt: '', tools: ['mcp.files'] }
  const made = await rig({
    mcp: async () => ({
      ...NONE,
      test: async (_config, server) =>
        check?.() ?? {
          server,
          tools: [
            {
              name: 'files__read',
              description: 'Reads\n\u001b[2J a file',
              use: 'inside' as const,
              checked: 'path within /srv',
            },
          ],
          unknown: ['read_graf'],
          leftOut: ['odd (its arguments are no object)'],
        },
    }),
  })
  Object.assign(made.loaded.config, { agents: [main], ...(mcp === undefined ? {} : { mcp }) })
  return made
}

test('mcp list shows the servers and who has their tools, without what a program is started with', async () => {
  const one = await parley()
  expect(await one.run('mcp', 'list')).toBe(0)
  expect(
    one
      .out()
      .split('\n')
      .map((line) => line.split(/ {2,}/)),
  ).toEqual([
    ['SERVER', 'STATE', 'FOR', 'AT'],
    ['files', 'no daemon runs', 'main', 'npx'],
    ['web', 'no daemon runs', 'no agent', 'http://127.0.0.1:1/mcp'],
    [''],
  ])
  expect(await one.run('mcp', 'list', '--json')).toBe(0)
  expect(one.out()).not.toContain('canary')
})

test('mcp list shows how each server does, as the running daemon knows it', async () => {
  const one = await parley()
  await serveDaemon(one, fakeOperator())
  expect(await one.run('mcp', 'list')).toBe(0)
  expect(one.out().split('\n')).toEqual([
    'SERVER  STATE                   FOR       AT',
    'files   down, 3 tools           main      npx',
    'web     from the next start on  no agent  http://127.0.0.1:1/mcp',
    'files: it has ended with 1',
    '',
  ])
  expect(await one.run('mcp', 'list', '--json')).toBe(0)
  expect(one.out()).toContain('"status": "down"')
})

test('mcp list says where servers are named if there is none', async () => {
  const one = await parley([] as unknown as typeof MCP)
  expect(await one.run('mcp', 'list')).toBe(0)
  expect(one.out()).toBe('No tool server. tools.mcp in the configuration names them.\n')
})

test('mcp test shows the tools by the names of the policy, and those that are left out', async () => {
  const one = await parley()
  expect(await one.run('mcp', 'test', 'files')).toBe(0)
  expect(one.out()).toContain('  files__read  inside  path within /srv  Reads')
  expect(one.out()).not.toContain('\u001b')
  expect(one.out()).toContain('left out: odd (its arguments are no object)')
  expect(one.out()).toContain('tools.mcp.files names read_graf, and no tool has that name')
  expect(one.out()).toContain('files answers: 1 tool, for agents with tools: [mcp.files]')
})

test('mcp test of a server that does not answer exits 1 and says why', async () => {
  const one = await parley(MCP, () => {
    throw new ParleyError('unavailable', 'files cannot be reached: no such program')
  })
  expect(await one.run('mcp', 'test', 'files')).toBe(1)
  expect(one.err()).toContain('files cannot be reached: no such program')
})
