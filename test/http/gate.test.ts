import { createRoute, OpenAPIHono } from '@hono/zod-openapi'
import { expect, it } from 'vitest'
import { errorAnswer } from '../../src/http/errors.ts'
import { type ApiGuard, createGate } from '../../src/http/gate.ts'
import type { ApiEnv } from '../../src/http/route.ts'
import { createTokenGuard } from '../../src/http/token-guard.ts'
import { movedClock } from '../agent/moved-clock.ts'
import { fakeOperator } from '../fakes/operator.ts'

type Security = readonly Record<string, string[]>[] | undefined

/** A server with one route, before which everybody has every scope. */
function served(security: Security) {
  const routes = new OpenAPIHono<ApiEnv>()
  const about = { method: 'get', path: '/x', responses: { 200: { description: 'OK' } } } as const
  const route = createRoute({ ...about, ...(security === undefined ? {} : { security: [...security] }) })
  routes.openapi(route, (context) => context.body(null, 200))
  const guard: ApiGuard = {
    check() {},
    identify: async () => ({ api: fakeOperator(), scopes: new Set(['metrics']), holder: 'x' }),
    unknown: () => undefined,
    refused() {},
  }
  const app = new OpenAPIHono<ApiEnv>()
  app.onError((error, { json }) => json({}, errorAnswer(error).status))
  app.use(createGate(routes, guard))
  app.route('/', routes)
  return app
}

it.each<readonly [Security, number]>([
  [[{ token: ['metrics'] }], 200],
  [[{ token: [] }], 200],
  [[], 200],
  [[{ token: ['tokens'] }], 403],
  [[{ token: ['no-scope'] }], 404],
  [[{ other: ['metrics'] }], 404],
  [undefined, 404],
])(
  'F-K01: a route that needs %j answers %i: what it does not say in words of ours is open to nobody',
  async (...row) => {
    const [security, status] = row
    const app = served(security)
    expect((await app.request('/x')).status).toBe(status)
    expect((await app.request('/x', { method: 'HEAD' })).status).toBe(status)
  },
)

it('F-K07: of wrong tokens 10,000 addresses are remembered, and who was wrong longest ago is forgotten', async () => {
  const guard = createTokenGuard({
    ...{ clock: movedClock(0), allowed: { hosts: new Set<string>(), origins: new Set<string>() } },
    ...{
      verify: async () => undefined,
      apiOf: () => fakeOperator(),
      known() {},
      asks() {},
      connections: 3,
      requestsPerMinute: 1_000,
    },
  })
  const wrong = (remoteAddress: string): Promise<unknown> => {
    const context = { req: { header: () => 'Bearer x' }, env: { incoming: { socket: { remoteAddress } } } }
    return guard.identify(context as never).catch(({ code }: { code: string }) => code)
  }
  const codes = []
  for (let count = 0; count < 21; count++) codes.push(await wrong('first'))
  expect([codes.slice(0, 20).every((code) => code === 'unauthorized'), codes.at(-1)]).toEqual([true, 'too_many'])
  for (let no = 1; no < 10_000; no++) await wrong(String(no))
  expect(await wrong('first')).toBe('too_many')
  for (let no = 0; no < 10_000; no++) await wrong(`further ${no}`)
  expect(await wrong('first')).toBe('unauthorized')
})
