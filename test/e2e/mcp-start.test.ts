import { createServer, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { Secret } from '../../src/config/secrets.ts'
import { AwaitedLog } from './awaited-log.ts'
import { toolHousehold } from './tool-servers.ts'

const LATE = fileURLToPath(new URL('../mcp/late-server.mjs', import.meta.url))
const EVERYBODY = { tools: ['*'], who: ['everybody'], action: 'allow' } as const

/** Returns a program that starts when it is let, and the way to let it. */
async function late() {
  let came: (socket: Socket) => void = () => undefined
  const connected = new Promise<Socket>((resolve) => {
    came = resolve
  })
  const server = createServer((socket) => came(socket.on('error', () => undefined)))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const at = { kind: 'program', command: process.execPath, args: [LATE, String(port)], env: {} } as const
  const settings = { name: 'late', at, inside: [], timeoutMs: 20_000 }
  return { settings, connected, go: async () => void (await connected).write('go') }
}

describe('T41: a tool server that is not there yet', () => {
  it('holds up no answer; the model is told, and the tools join once it is up', async () => {
    const { settings, connected, go } = await late()
    const { house, say, use, log } = await toolHousehold([settings], { rules: [EVERYBODY], ready: 0 })
    await connected
    expect(await say(111, 'hello')).toBe('fine')
    const { toolServers = [] } = await house.daemon.operator.status()
    expect(toolServers).toMatchObject([{ server: 'late', status: 'starting', agents: ['main'] }])
    const [first] = house.anthropic?.ledger.requests() ?? []
    expect(JSON.stringify(first?.system)).toContain(
      'You have no tools of these servers at the moment; they start, cannot be reached, or have none: late.',
    )
    await go()
    await log.line('The tools of a server are there')
    expect(await say(111, use('late__add', {}))).toBe('it says: added')
    const last = house.anthropic?.ledger.requests().at(-1)
    expect(JSON.stringify(last?.system)).not.toContain('no tools of these servers')
  })

  it('says in status, in the log and to its operator why, with the last words of its program, without secrets', async () => {
    const at = {
      kind: 'program',
      command: process.execPath,
      args: ['-e', 'console.error("npm error code ENOTFOUND for", process.env.KEY); process.exit(1)'],
      env: { KEY: new Secret('sk-planted-1') },
    } as const
    const log = new AwaitedLog()
    const { house, say } = await toolHousehold([{ name: 'off', at, inside: [], timeoutMs: 5_000 }], { log, ready: 0 })
    const { fields } = await log.line('A tool server cannot be reached')
    expect(fields.printed).toEqual(['npm error code ENOTFOUND for [secret]'])
    expect(await say(111, 'hello')).toBe('fine')
    const { toolServers = [] } = await house.daemon.operator.status()
    expect(toolServers).toMatchObject([
      { server: 'off', status: 'down', lastTrouble: { printed: ['npm error code ENOTFOUND for [secret]'] } },
    ])
    expect(toolServers[0]?.lastTrouble?.detail).toMatch(/^node ended with code 1 .*its registry cannot be reached/)
    expect(await say(111, '/status', 'off')).toContain('tools of off: down, node ended with code 1')
  })
})
