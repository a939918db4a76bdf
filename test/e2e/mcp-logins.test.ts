import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, it, onTestFinished } from 'vitest'
import { type LoginServer, startLoginServer } from '../fakes/login-server.ts'
import { PRODUCT } from '../faults/daemon-child.ts'
import { parley } from './house-command.ts'
import { toolHousehold } from './tool-servers.ts'

/** Runs the built `parley mcp login web` beside the daemon, with a person who opens what it shows; returns its words. */
async function logIn(server: LoginServer, dataDir: string): Promise<string> {
  const configFile = join(dataDir, 'login.yaml')
  // JSON is YAML.
  writeFileSync(configFile, JSON.stringify({ tools: { mcp: { web: { url: server.url } } } }))
  const env = { PATH: process.env.PATH, HOME: dataDir, STATE_DIRECTORY: dataDir, TELEGRAM_BOT_TOKEN: '7000001:a' }
  const child = spawn(process.execPath, [PRODUCT, 'mcp', 'login', 'web', '--config', configFile], { env })
  onTestFinished(() => void child.kill('SIGKILL'))
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => {
    said += String(chunk)
  })
  for await (const line of createInterface({ input: child.stdout })) {
    said += `${line}\n`
    const [open] = /http\S+\/authorize\?\S+/.exec(line) ?? []
    if (open !== undefined) void server.visit(open).then((back) => fetch(back))
  }
  if (child.exitCode === null) await once(child, 'exit')
  return said
}

it('T40: a server that asks at a call, and for a further scope, is used after parley mcp login, without a restart', async () => {
  const server = await startLoginServer({
    ...{ asksAt: 'tools/call', needs: { delete: 'write' }, grants: ['read', 'write'] },
    refusal: () => ({ challenge: 'Bearer scope="read"' }),
  })
  const at = { kind: 'address', url: server.url, headers: {} } as const
  const { house, say, use } = await toolHousehold([{ name: 'web', at, inside: [{ tools: ['*'] }], timeoutMs: 20_000 }])
  const listed = async () => (await parley(house.config, ['mcp', 'list'])).out
  const LOGIN = 'it asks for a login. Whoever runs Parley runs: parley mcp login web'

  expect(await say(111, use('web__who', {}))).toContain(LOGIN)
  expect(await listed()).toContain('web: it asks for a login. Run: parley mcp login web')
  expect(await logIn(server, house.dataDir)).toContain('✓ Logged in at web (read).')
  expect(await listed()).not.toContain('asks for a login')
  expect(await say(111, use('web__who', {}))).toContain('it says: ada')

  expect(await say(111, use('web__delete', {}))).toContain(
    'does not allow that. Whoever runs Parley runs: parley mcp login web',
  )
  expect(await logIn(server, house.dataDir)).toContain('✓ Logged in at web (read write).')
  expect(await say(111, use('web__delete', {}))).toContain('it says: ada')
})
