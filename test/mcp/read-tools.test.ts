import { expect, it } from 'vitest'
import type { McpServer } from '../../src/core/mcp.ts'
import { readTools } from '../../src/mcp/read-tools.ts'

const named = (name: string): McpServer => ({
  ...{ name, inside: [], timeoutMs: 1_000 },
  at: { kind: 'address', url: 'http://127.0.0.1:1/', headers: {} },
})
const listed = (names: readonly string[]) => names.map((name) => ({ name, inputSchema: { type: 'object' } }))
/** Returns the names that are offered, by the server's own. */
async function offered(server: string, names: readonly string[]): Promise<Record<string, string>> {
  const { tools } = await readTools(named(server), listed(names))
  return Object.fromEntries(tools.map(({ name, spec }) => [name, spec.name]))
}

const LONG = ['createConfluencePageWithAttachmentsAndPermissions', 'deleteConfluencePageWithAttachmentsAndPermissions']

it.each([
  ['mcp', ['catalog.query', 'catalog_query', 'catalog/query']],
  ['atlassian-rovo-mcp-server-cloud', LONG],
  ['x', ['搜索', '查询', '']],
  ['x', ['Create CIFS Share', 'user-profile/update']],
])('tools of %s whose names become the same stay apart, in any order: %j', async (server, names) => {
  const shown = await offered(server, names)
  expect(new Set(Object.values(shown)).size).toBe(names.filter((name) => name !== '').length)
  for (const name of Object.values(shown)) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  expect(await offered(server, [...names].reverse())).toEqual(shown)
})

it('a name is changed no more than it has to be', async () => {
  expect(await offered('mcp', ['catalog.query', 'catalog_query', 'user.get'])).toEqual({
    'catalog.query': expect.stringMatching(/^mcp__catalog_query_[0-9a-f]{8}$/),
    catalog_query: 'mcp__catalog_query',
    'user.get': 'mcp__user_get',
  })
})

it('a description is not cut within a character', async () => {
  const listing = [{ name: 'a', description: `${'x'.repeat(999)}🛒`, inputSchema: {} }]
  const [tool] = (await readTools(named('x'), listing)).tools
  expect(tool?.spec.description).toBe('x'.repeat(999))
})

it('names of the configuration that no tool has are said, whatever they are for', async () => {
  const inside = [{ tools: ['read_*', 'raed'] }]
  const server: McpServer = { ...named('x'), tools: ['read_graph', 'write_graf', 'x__read_graph'], inside }
  expect((await readTools(server, listed(['read_graph', 'write_graph']))).unknown).toEqual([
    ...['write_graf', 'x__read_graph', 'raed'],
  ])
})

it('everything else has its turn while long schemas are read', async () => {
  const properties = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`p${at}`, { type: 'string' }]))
  const anyOf = Array.from({ length: 200 }, () => ({ $ref: '#/$defs/a' }))
  const inputSchema = { type: 'object', anyOf, $defs: { a: { type: 'object', properties } } }
  let turns = 0
  const timer = setInterval(() => turns++, 0)
  await readTools(
    named('x'),
    Array.from({ length: 10 }, (_, at) => ({ name: `t${at}`, inputSchema })),
  )
  clearInterval(timer)
  expect(turns).toBeGreaterThan(5)
})
