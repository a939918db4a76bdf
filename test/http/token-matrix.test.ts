import { expect, it } from 'vitest'
import { NAMESPACE_SCOPES, SCOPES } from '../../src/core/token.ts'
import { isChatPath } from '../../src/http/chat-errors.ts'
import { type ApiHouse, startApiHouse } from '../e2e/api-house.ts'
import { setClock } from '../e2e/set-clock.ts'
import { sample } from '../sample.ts'
import { filled, GUARDED } from './known-routes.ts'
import { storeDigest } from './store-digest.ts'

const DESK = 'api:desk'
/** All but the one that says to anybody whether the daemon is ready, and to a token why not. */
const CLOSED = GUARDED.filter(({ path }) => path !== '/readyz')
const NOWHERE = [
  { method: 'GET', path: '/v1/models' },
  { method: 'POST', path: '/v1/chat/nothing' },
  { method: 'GET', path: '/' },
  { method: 'POST', path: '/v1/nothing' },
  { method: 'DELETE', path: '/v1/sessions' },
  { method: 'OPTIONS', path: '/v1/sessions' },
  { method: 'PUT', path: '/v1/sessions/{name}' },
]

async function withDesk(clock?: ReturnType<typeof setClock>): Promise<ApiHouse> {
  const house = await startApiHouse(clock ? { clock } : {})
  await house.daemon.operator.sessions.post(DESK, { text: 'hello' })
  return house
}

it('F-K01: without a token, with a wrong one, a revoked one and an expired one every path gives one answer and stores nothing', async () => {
  const clock = setClock('2026-11-21T09:30:00Z')
  const house = await withDesk(clock)
  const expired = await house.bearer({ owner: true, scopes: SCOPES, days: 1 })
  const revoked = await house.bearer({ owner: true, scopes: SCOPES })
  await house.daemon.operator.tokens.revoke(revoked.id)
  clock.setBy(86_400_000)
  const before = storeDigest(house.config.store.path)
  const [, , secret = ''] = expired.headers.authorization.split('_')
  const kinds: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    none: {},
    empty: { authorization: 'Bearer ' },
    basic: { authorization: `Basic ${Buffer.from('x:y').toString('base64')}` },
    wrong: { authorization: `Bearer ply_${'0'.repeat(12)}_${'a'.repeat(43)}` },
    mixed: { authorization: `Bearer ply_${revoked.id}_${secret}` },
    revoked: revoked.headers,
    expired: expired.headers,
  }
  // Clients of OpenAI are answered in their own form, at every path below theirs. A hook may need no token: whoever
  // brings none is asked for the signature, whatever the name of the hook.
  const said = { ours: new Set<string>(), openai: new Set<string>(), hooks: new Set<string>() }
  let asked = 0
  for (const [kind, headers] of Object.entries(kinds)) {
    for (const { method, path } of [...sample(CLOSED, 6), ...NOWHERE]) {
      // Whoever brings twenty wrong tokens within a minute is told to wait.
      if (++asked % 15 === 0) clock.skip(61_000)
      const { status, text } = await house.ask(filled(path, DESK), { method, headers })
      expect([kind, method, path, status]).toEqual([kind, method, path, 401])
      said[isChatPath(path) ? 'openai' : text.includes('signature') ? 'hooks' : 'ours'].add(text)
      expect([path, text.includes('signature')]).toEqual([path, kind === 'none' && path.startsWith('/v1/hooks/')])
    }
  }
  expect([said.ours.size, said.openai.size]).toEqual([1, 1])
  expect(said.hooks.size).toBeLessThanOrEqual(1)
  expect(storeDigest(house.config.store.path)).toEqual(before)
})

it('F-K01: a token without the scope of a route is refused by every one, and stores nothing', async () => {
  const house = await withDesk()
  const tokens = new Map<string, Readonly<Record<string, string>>>()
  for (const scope of new Set(GUARDED.flatMap(({ scope: one }) => one ?? [])))
    tokens.set(scope, (await house.bearer({ owner: true, scopes: SCOPES.filter((one) => one !== scope) })).headers)
  const before = storeDigest(house.config.store.path)
  for (const { method, path, scope = '' } of GUARDED) {
    const headers = tokens.get(scope)
    if (headers === undefined) continue
    const { status, text } = await house.ask(filled(path, DESK), { method, headers, body: '{}' })
    expect([method, path, status, text]).toEqual([method, path, 403, expect.stringContaining(`no scope ${scope}`)])
  }
  expect(storeDigest(house.config.store.path)).toEqual(before)
})

it('F-K01, S42: a token of another namespace finds nothing at any route, and stores nothing', async () => {
  const house = await withDesk()
  const { headers } = await house.bearer({ namespace: 'web', scopes: NAMESPACE_SCOPES })
  const before = storeDigest(house.config.store.path)
  for (const { method, path, scope } of GUARDED.filter((route) => route.path.includes('{name}'))) {
    const ask = (name: string) => house.ask(filled(path, name), { method, headers, body: '{}' })
    const [forbidden, absent] = [await ask(DESK), await ask('api:none')]
    expect([method, path, forbidden.status]).not.toEqual([method, path, 200])
    expect([method, path, forbidden.text.replaceAll(DESK, '?')]).toEqual([
      method,
      path,
      absent.text.replaceAll('api:none', '?'),
    ])
    expect([method, path, scope, forbidden.text]).not.toEqual([method, path, scope, expect.stringContaining('hello')])
  }
  for (const { method, path, scope } of GUARDED) {
    if (NAMESPACE_SCOPES.some((one) => one === scope)) continue
    const { status } = await house.ask(filled(path, DESK), { method, headers, body: '{}' })
    // What needs a token and no scope is open to each.
    expect([method, path, status]).toEqual([method, path, scope === undefined ? expect.any(Number) : 403])
  }
  expect((await house.ask('/v1/sessions?inactive=true', { headers })).json).toMatchObject({ sessions: [], total: 0 })
  expect(storeDigest(house.config.store.path)).toEqual(before)
})

it('F-K01: a token of its scope is answered by every route that asks for it', async () => {
  const house = await withDesk()
  const { headers } = await house.bearer({ owner: true, scopes: SCOPES })
  for (const { method, path } of GUARDED.filter(({ path: one }) => !one.includes('events'))) {
    const { status } = await house.ask(filled(path, 'api:none'), {
      method,
      headers,
      ...(method === 'GET' ? {} : { body: '{}' }),
    })
    expect([method, path, [401, 403, 500].includes(status)]).toEqual([method, path, false])
  }
})
