import { expect, it } from 'vitest'
import type { McpSettings } from '../../src/config/config.ts'
import { Secret } from '../../src/config/secrets.ts'
import { toAgentId } from '../../src/core/ids.ts'
import { startApiHouse, tokenWith } from './api-house.ts'
import { recorded } from './household.ts'

it('channels, agents, budgets and deliveries are each read by a token of the scope operate:read, page by page', async () => {
  const house = await startApiHouse()
  for (const text of ['one', 'two', 'three']) {
    const mark = house.telegram.ledger.mark()
    house.telegram.world.say({ from: 111, text })
    await house.telegram.ledger.nextFromBot('sent', { after: mark })
    await recorded(house)
  }
  const headers = await tokenWith(house, ['operate:read'])
  const get = async (path: string) => (await house.ask(path, { headers })).json
  expect(await get('/v1/channels')).toMatchObject([{ channel: 'telegram', account: 'default', status: 'up' }])
  expect(await get('/v1/agents')).toEqual([
    { id: 'main', model: 'scripted/echo', fallback: [], tools: ['time'], troubles: [] },
  ])
  expect(await get('/v1/mcp')).toEqual([])
  expect(await get('/v1/budgets')).toEqual([])
  const first = (await get('/v1/deliveries?limit=2&state=sent')) as { readonly next: string }
  expect(first).toMatchObject({ deliveries: [{ state: 'sent', address: 'telegram:direct:111' }, {}] })
  const rest = (await get(`/v1/deliveries?limit=2&state=sent&after=${first.next}`)) as object
  expect(rest).toMatchObject({ deliveries: [{ state: 'sent' }] })
  expect(rest).not.toHaveProperty('next')
  expect(JSON.stringify(first)).not.toContain('echo')
  const [session] = (await house.daemon.operator.sessions.list({ limit: 1, offset: 0, inactive: true })).sessions
  expect(await get(`/v1/deliveries?session=${session?.id}`)).toMatchObject({ deliveries: [{}, {}, {}] })
  expect(await get('/v1/deliveries?state=uncertain')).toEqual({ deliveries: [] })
  for (const query of ['limit=0', 'limit=201', 'limit=x', 'state=lost', 'other=1', 'after=x', 'limit=2&limit=2'])
    expect([query, (await house.ask(`/v1/deliveries?${query}`, { headers })).status]).toEqual([query, 400])
  expect((await house.ask('/v1/deliveries', { headers: await tokenWith(house, ['metrics']) })).status).toBe(403)
})

it('a tool server says whether it is up, and what kept it from that, without the secrets of the configuration', async () => {
  const canary = '/nowhere/canary-0815'
  const server = (name: string, command: string): McpSettings => ({
    ...{ name, at: { kind: 'program', command, args: [], env: {} }, inside: [], timeoutMs: 5_000 },
  })
  const mcp = [server('gone', canary), server('idle', 'true')]
  const agents = [{ id: toAgentId('main'), model: 'scripted/echo', prompt: 'Obey.', tools: ['mcp.gone'] }]
  const house = await startApiHouse({ config: { mcp, agents, secrets: [new Secret('canary-0815')] } })
  const mark = house.telegram.ledger.mark()
  house.telegram.world.say({ from: 111, text: 'hello' })
  await house.telegram.ledger.nextFromBot('sent', { after: mark })
  const { json, text } = await house.ask('/v1/mcp', { headers: await tokenWith(house, ['operate:read']) })
  expect(json).toEqual([
    {
      ...{ server: 'gone', agents: ['main'], status: 'down' },
      lastTrouble: { detail: expect.stringContaining('there is no program'), at: expect.any(Number) },
    },
    { server: 'idle', agents: [], status: 'unused' },
  ])
  expect(text).not.toContain('canary-0815')
})
