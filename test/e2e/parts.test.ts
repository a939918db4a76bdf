import { expect, it } from 'vitest'
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
  for (const query of ['limit=0', 'limit=201', 'limit=x', 'state=lost', 'other=1'])
    expect([query, (await house.ask(`/v1/deliveries?${query}`, { headers })).status]).toEqual([query, 400])
  expect((await house.ask('/v1/deliveries', { headers: await tokenWith(house, ['metrics']) })).status).toBe(403)
})
