import { expect, it } from 'vitest'
import type { McpServer } from '../../src/core/mcp.ts'
import { readTools } from '../../src/mcp/read-tools.ts'

const named = (name: string): McpServer => ({
  ...{ name, inside: [], timeoutMs: 1_000 },
  at: { kind: 'address', url: 'http://127.0.0.1:1/', headers: {} },
})
const listed = (names: readonly string[]) => names.map((name) => ({ name, inputSchema: { type: 'object' } }))
/** Returns the names that are offered, by the server's own. */
const offered = (server: string, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(readTools(named(server), listed(names)).tools.map(({ name, spec }) => [name, spec.name]))

const LONG = ['createConfluencePageWithAttachmentsAndPermissions', 'deleteConfluencePageWithAttachmentsAndPermissions']

it.each([
  ['mcp', ['catalog.query', 'catalog_query', 'catalog/query']],
  ['atlassian-rovo-mcp-server-cloud', LONG],
  ['x', ['搜索', '查询', '']],
  ['x', ['Create CIFS Share', 'user-profile/update']],
])('tools of %s whose names become the same stay apart, in any order: %j', (server, names) => {
  const shown = offered(server, names)
  expect(new Set(Object.values(shown)).size).toBe(names.filter((name) => name !== '').length)
  for (const name of Object.values(shown)) expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
  expect(offered(server, [...names].reverse())).toEqual(shown)
})

it('a name is changed no more than it has to be', () => {
  expect(offered('mcp', ['catalog.query', 'catalog_query', 'user.get'])).toEqual({
    'catalog.query': expect.stringMatching(/^mcp__catalog_query_[0-9a-f]{8}$/),
    catalog_query: 'mcp__catalog_query',
    'user.get': 'mcp__user_get',
  })
})

it('a description is not cut within a character', () => {
  const [tool] = readTools(named('x'), [{ name: 'a', description: `${'x'.repeat(999)}🛒`, inputSchema: {} }]).tools
  expect(tool?.spec.description).toBe('x'.repeat(999))
})
