import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { telegramAccountSchema } from '../../adapters/telegram/config.ts'
import type { DeliveryPage } from '../../src/core/operate-parts.ts'
import { textReply } from '../../src/rehearsal/anthropic/script.ts'
import { withDatabase } from '../store/temp-database.ts'
import { type ApiHouse, startApiHouse, tokenWith } from './api-house.ts'
import { recorded } from './household.ts'

/** The samples of a page by their whole name, labels included. */
async function scraped(house: ApiHouse, headers: Readonly<Record<string, string>>): Promise<Map<string, number>> {
  const { status, text } = await house.ask('/metrics', { headers })
  expect(status).toBe(200)
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]))
}

async function hears(house: ApiHouse, text: string, from = 111): Promise<void> {
  const mark = house.telegram.ledger.mark()
  house.telegram.world.say({ from, text })
  await house.telegram.ledger.nextFromBot('sent', { after: mark })
  await recorded(house)
}

it('metrics count turns, deliveries, tokens, money and the time an answer takes, and name no chat and nobody', async () => {
  const house = await startApiHouse({ script: () => textReply('done'), streaming: false })
  await hears(house, 'a private word')
  await hears(house, 'another')
  const before = await scraped(house, await tokenWith(house, ['metrics']))
  expect(Object.fromEntries(before)).toMatchObject({
    'parley_turns_total{channel="telegram",outcome="answered"}': 2,
    parley_turns_running: 0,
    parley_messages_waiting: 0,
    'parley_deliveries_total{channel="telegram",state="sent"}': 2,
    parley_deliveries_uncertain: 0,
    'parley_channel_up{channel="telegram",account="default"}': 1,
    'parley_answer_seconds_count{channel="telegram"}': 2,
    'parley_answer_seconds_bucket{channel="telegram",le="+Inf"}': 2,
    'parley_model_calls_total{model="anthropic/rehearsal"}': 2,
    parley_stream_readers: 0,
  })
  expect(before.get('parley_model_tokens_total{model="anthropic/rehearsal",kind="output"}')).toBeGreaterThan(0)
  expect(before.get('process_resident_memory_bytes')).toBeGreaterThan(1e6)
  expect(before.has('nodejs_eventloop_lag_seconds')).toBe(true)
  const outbox = [...before].filter(([name]) => name.startsWith('parley_outbox'))
  expect(outbox).toHaveLength(8)
  expect(outbox.filter(([name, value]) => name.includes('"sent"') || value > 0)).toEqual([])
  const { text } = await house.ask('/metrics', { headers: await tokenWith(house, ['metrics']) })
  const manual = readFileSync('config/operating.md', 'utf8')
  for (const [, name = ''] of text.matchAll(/^# TYPE (parley_\w+)/gm)) expect(manual).toContain(`\`${name}`)
  for (const word of ['111', 'Ada', 'private', 'rehearsal:']) expect(text).not.toMatch(new RegExp(`${word}["}]`))
})

it('metrics are for a token of the scope metrics, and need no channel to have done anything', async () => {
  const house = await startApiHouse()
  expect((await house.ask('/metrics')).status).toBe(401)
  expect((await house.ask('/metrics', { headers: await tokenWith(house, ['operate:read']) })).status).toBe(403)
  const page = await scraped(house, await tokenWith(house, ['metrics']))
  expect(page.get('parley_turns_running')).toBe(0)
  for (const name of ['parley_turns_total', 'parley_model_calls_total']) expect(page.has(name)).toBe(false)
})

it('a part of which nobody knows whether it arrived is counted until an operator decides', async () => {
  const house = await startApiHouse()
  await hears(house, 'hello')
  await hears(house, 'you')
  const headers = await tokenWith(house, ['metrics', 'operate:read', 'operate:write'])
  const [one, other] = ((await house.ask('/v1/deliveries', { headers })).json as DeliveryPage).deliveries
  withDatabase(house.config.store.path, (database) =>
    database.exec("UPDATE outbox SET state = 'given_up', reason = 'nobody knows'"),
  )
  const uncertain = async () => (await scraped(house, headers)).get('parley_deliveries_uncertain')
  expect(await uncertain()).toBe(2)
  expect((await house.daemon.operator.status()).uncertain).toHaveLength(2)
  const decide = (id: string | undefined, verdict: string) =>
    house.ask(`/v1/deliveries/${id}/${verdict}`, { method: 'POST', headers })
  expect((await decide(one?.id, 'drop')).json).toMatchObject({
    state: 'given_up',
    reason: 'an operator has dropped it',
  })
  expect(await uncertain()).toBe(1)
  expect((await house.daemon.operator.status()).uncertain).toMatchObject([{ id: other?.id }])
  expect((await decide(one?.id, 'drop')).status).toBe(409)
  const mark = house.telegram.ledger.mark()
  await decide(other?.id, 'retry')
  expect((await house.telegram.ledger.nextFromBot('sent', { after: mark })).text).toMatch(/^\(repeat\) /)
  await recorded(house)
  expect(await uncertain()).toBe(0)
})

it('readyz is 503 while a channel cannot receive, and names it to a token alone', async () => {
  const house = await startApiHouse()
  await house.daemon.settled()
  expect((await house.ask('/readyz')).json).toEqual({ status: 'ready' })
  expect((await house.ask('/healthz')).json).toEqual({ status: 'ok' })
  const broken = telegramAccountSchema.parse({ token: '7000009:wrong', apiRoot: house.telegram.apiRoot })
  const { default: whole } = house.config.channels.telegram?.accounts ?? {}
  const stopped = house.telegram.ledger.mark()
  await house.restart({ channels: { telegram: { accounts: { default: whole, second: broken } } } })
  await house.telegram.ledger.listening({ after: stopped })
  await house.daemon.settled()
  const { status, json } = await house.ask('/readyz')
  expect([status, json]).toEqual([503, { status: 'degraded' }])
  const told = await house.ask('/readyz', { headers: await tokenWith(house, ['metrics']) })
  expect(told.json).toEqual({
    status: 'degraded',
    channels: [{ channel: 'telegram', account: 'second', status: 'down' }],
    store: true,
  })
  expect((await house.ask('/readyz', { headers: await tokenWith(house, ['chat']) })).status).toBe(403)
  expect((await house.ask('/readyz', { headers: { authorization: 'Bearer x' } })).status).toBe(401)
  expect((await house.ask('/healthz')).status).toBe(200)
})
