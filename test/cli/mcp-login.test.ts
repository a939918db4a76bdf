import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import type { McpAddress } from '../../src/core/mcp.ts'
import { createMcpOperator } from '../../src/daemon/make-mcp.ts'
import { type LoginServer, startLoginServer } from '../fakes/login-server.ts'
import { rig } from './rig.ts'

/** The commands over the parts of the daemon; whoever opens the address is on another machine and pastes. */
async function parley(server: LoginServer, login?: McpAddress['login']) {
  const stdin = new PassThrough()
  stdin.write('what?\n')
  const operator = createMcpOperator('1')
  const made = await rig({
    stdin,
    mcp: async () => ({
      ...operator,
      login(config, name, talk) {
        const open = (url: string, redirect: string) => {
          talk.open(url, redirect)
          void server.visit(url).then((back) => stdin.write(`${back}\n`))
        }
        return operator.login(config, name, { ...talk, open })
      },
    }),
  })
  const at = { kind: 'address', url: server.url, headers: {}, ...(login && { login }) } as const
  const program = { kind: 'program', command: 'none', args: [], env: {} } as const
  const mcp = [
    { name: 'files', at, inside: [], timeoutMs: 1 },
    { name: 'local', at: program, inside: [], timeoutMs: 1 },
  ]
  Object.assign(made.loaded.config, { mcp })
  return { ...made, file: join(made.loaded.config.dataDir, 'mcp-logins', 'files.json') }
}

it('mcp login shows the address to open, takes what is pasted, and shows no secret', async () => {
  const server = await startLoginServer()
  const one = await parley(server)
  expect(await one.run('mcp', 'login', 'files')).toBe(0)
  expect(one.out()).toContain(`  ${server.origin}/authorize?`)
  expect(one.out()).toContain('✓ Logged in at files (read).')
  expect(one.err()).toBe('This is not the address at which the browser has arrived for this login.\n')
  expect([...server.secrets].filter((secret) => `${one.out()}${one.err()}`.includes(secret))).toEqual([])
  expect([...server.secrets].filter((secret) => readFileSync(one.file, 'utf8').includes(secret))).toHaveLength(2)
  expect(await one.run('mcp', 'logout', 'files')).toBe(0)
  expect(one.out()).toContain('its server has taken the tokens back')
  expect(existsSync(one.file)).toBe(false)
  await one.run('mcp', 'logout', 'files')
  expect(one.out()).toContain('There was no login at files.')
})

it('mcp login --localhost has the browser come back to that name, and says which scopes were not given', async () => {
  const one = await parley(await startLoginServer({ registered: 'parley' }), {
    clientId: 'parley',
    scopes: ['read', 'write'],
  })
  expect(await one.run('mcp', 'login', 'files', '--localhost')).toBe(0)
  expect(one.out()).toContain('The browser then goes to http://localhost:')
  expect(one.out()).toContain('✓ Logged in at files (read).\nAsked for too, and not in the answer: write.')
})

it('mcp login --json has the address in a line of its own, then what came of it', async () => {
  const one = await parley(await startLoginServer())
  expect(await one.run('mcp', 'login', 'files', '--json')).toBe(0)
  const [first = '', ...rest] = one.out().split('\n')
  expect(Object.keys(JSON.parse(first) as object)).toEqual(['open', 'redirect'])
  expect(JSON.parse(rest.join('\n'))).toEqual({ server: 'files', login: 'kept', scopes: ['read'] })
})

it.each([
  ['elsewhere', 1, 'There is no tool server elsewhere; known: files, local.'],
  ['local', 2, 'local is a program that is started here; one logs in at a server with a url.'],
])('mcp login %s says why it cannot', async (name, exitCode, words) => {
  const one = await parley(await startLoginServer())
  expect(await one.run('mcp', 'login', name)).toBe(exitCode)
  expect(one.err()).toContain(words)
})

it('mcp login takes no port that is none', async () => {
  const one = await parley(await startLoginServer())
  expect(await one.run('mcp', 'login', 'files', '--port', '0')).toBe(2)
})
