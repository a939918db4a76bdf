import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../../src/core/clock.ts'
import { loginFetch } from '../../../src/mcp/login/login-fetch.ts'
import { type Login, Logins } from '../../../src/mcp/login/logins.ts'
import { localFolder } from '../../fakes/local-folder.ts'

const URL = 'https://tools.example/mcp'
const LOGIN: Login = {
  ...{ url: URL, issuer: 'https://login.example', metadata: {} },
  client: { client_id: 'parley', client_secret: 'client-canary' },
  tokens: { access_token: 'access-canary', refresh_token: 'refresh-canary' },
}

async function asking(answer: () => Response, headers: Readonly<Record<string, string>> = {}) {
  const logins = new Logins(await localFolder(), systemClock)
  logins.write('files', LOGIN)
  const sent: (string | null)[] = []
  const fetch: typeof globalThis.fetch = async (_input, init) => {
    sent.push(new Headers(init?.headers).get('authorization'))
    return answer()
  }
  const at = { kind: 'address', url: URL, headers } as const
  const ask = loginFetch('files', at, { clock: systemClock, logins, fetch, authFetch: fetch })
  return { sent, ask: () => ask(URL, { headers }) }
}

test('C29: nothing that a login consists of comes back from its server', async () => {
  const { ask, sent } = await asking(() => new Response('access-canary refresh-canary client-canary'))
  expect(await (await ask()).text()).toBe('[secret] [secret] [secret]')
  expect(sent).toEqual(['Bearer access-canary'])
})

test('a server with a header of its own for that is asked with that one', async () => {
  const { ask, sent } = await asking(() => new Response('fine'), { Authorization: 'Bearer own' })
  await ask()
  expect(sent).toEqual(['Bearer own'])
})

test('a login that was given less than a call needs names the command to run', async () => {
  const headers = { 'www-authenticate': 'Bearer error="insufficient_scope"' }
  const { ask } = await asking(() => new Response('no', { status: 403, headers }))
  await expect(ask()).rejects.toThrow(/its login does not allow that\. Its operator runs: .*mcp login files/)
  const { ask: refused } = await asking(() => new Response('no', { status: 403 }))
  expect((await refused()).status).toBe(403)
})

test('a lock is left after a minute, though a process has its number still', async () => {
  const folder = await localFolder()
  const logins = new Logins(folder, systemClock)
  logins.write('files', LOGIN)
  const lock = join(folder, 'mcp-logins', 'files.json.lock')
  writeFileSync(lock, String(process.ppid))
  const before = (Date.now() - 61_000) / 1_000
  utimesSync(lock, before, before)
  expect(await logins.alone('files', async () => 'done')).toBe('done')
})

test('a lock is left at once where its process had the number of this one, and kept where it is this one', async () => {
  const folder = await localFolder()
  const logins = new Logins(folder, systemClock)
  logins.write('files', LOGIN)
  writeFileSync(join(folder, 'mcp-logins', 'files.json.lock'), String(process.pid))
  const order: string[] = []
  const first = logins.alone('files', async () => {
    order.push('first begins')
    await new Promise((resolve) => setTimeout(resolve, 300))
    order.push('first ends')
  })
  await Promise.all([first, new Logins(folder, systemClock).alone('files', async () => order.push('second'))])
  expect(order).toEqual(['first begins', 'first ends', 'second'])
})
