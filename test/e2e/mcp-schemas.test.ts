import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { McpSettings } from '../../src/config/config.ts'
import { Secret } from '../../src/config/secrets.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { createMcpOperator } from '../../src/daemon/make-mcp.ts'
import { DIALECTS, type DialectName } from '../../src/rehearsal/openai/refused.ts'
import { type Script, textReply } from '../../src/rehearsal/openai/script.ts'
import { rehearse } from '../rehearsal/openai/rehearsal.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'
import { startHousehold } from './household.ts'
import { toolHousehold } from './tool-servers.ts'

const HOSTILE = fileURLToPath(new URL('../mcp/hostile-server.mjs', import.meta.url))
removeTempFolders()

/** A server with odd schemas, and what it was called with. */
function oddServer() {
  const record = join(tempFolder(), 'calls')
  const at = { kind: 'program', command: process.execPath, args: [HOSTILE, 'quaint', record], env: {} } as const
  const settings: McpSettings = { name: 'odd', at, inside: [{ tools: ['*'] }], timeoutMs: 20_000 }
  const calls = () =>
    readFileSync(record, 'utf8')
      .split('\n')
      .flatMap((line) => (/^[a-z]+ \{/.test(line) ? [line] : []))
  return { settings, calls }
}

const LONG = 'x'.repeat(64)
/** What a model makes of the offer, some of it as text. */
const ARGS = {
  ...{ filter: 'a eq 1', [LONG]: '["one"]', count: '3', free: '{"b":1}', pattern: '7' },
  rows: [{ id: '5', tags: [] }, { id: null }],
}
/** The same by the names of the server. */
const TAKEN = {
  ...{ $filter: 'a eq 1', [`${LONG}x`]: ['one'], count: 3, free: { b: 1 }, pattern: '7' },
  rows: [{ '@id': 5, tags: [] }, { '@id': null }],
  scale: 'css',
}

describe('T39: a tool server whose schemas no provider takes as they are', () => {
  it('is called by its own names, with its defaults, by a model of Anthropic', async () => {
    const { settings, calls } = oddServer()
    const { say, use, house } = await toolHousehold([settings])
    await say(111, use('odd__query', ARGS), 'it says')
    await say(111, use('odd__bare', {}), 'it says')
    await say(111, use('odd__lax', { more: [1] }), 'it says')
    const [query = '', ...others] = calls()
    expect(JSON.parse(query.slice('query '.length))).toEqual(TAKEN)
    expect(others).toEqual(['bare {}', 'lax {"more":[1]}'])
    const [request] = house.anthropic?.ledger.requests() ?? []
    const names = request?.tools?.map(({ name }) => name)
    expect(names).toEqual(['send_message', 'odd__bare', 'odd__either', 'odd__lax', 'odd__query'])
  })

  it.each<DialectName>(['openai', ...DIALECTS])('is called so by a model of %s', async (dialect) => {
    const { settings, calls } = oddServer()
    const script: Script = ({ messages }) =>
      messages.at(-1)?.role === 'tool'
        ? textReply('done')
        : { parts: [{ type: 'tool_call', name: 'odd__query', arguments: ARGS }] }
    const server = await rehearse({ dialect, script })
    const { telegram } = await startHousehold({
      streaming: false,
      config: {
        agents: [{ id: toAgentId('main'), model: 'home/alpha', prompt: 'Obey.', tools: ['mcp.odd'] }],
        models: { home: { kind: 'openai', baseUrl: server.baseUrl, apiKey: new Secret(server.apiKey) } },
        mcp: [settings],
      },
    })
    const mark = telegram.ledger.mark()
    telegram.world.say({ from: 111, text: 'query it' })
    await telegram.ledger.nextFromBot('sent', { after: mark, where: ({ text }) => text.includes('done') })
    expect(calls().map((line) => JSON.parse(line.slice('query '.length)))).toEqual([TAKEN])
  })

  it('has the one that cannot be mended left out alone, and named', async () => {
    const config = { mcp: [oddServer().settings], dataDir: tempFolder() }
    const { tools, leftOut } = await createMcpOperator('1').test(config, 'odd')
    expect(tools.map(({ name }) => name)).toEqual(['odd__bare', 'odd__either', 'odd__lax', 'odd__query'])
    expect(leftOut).toEqual(['fetched (its arguments refer to another document)'])
  })
})
