import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { withDatabase } from '../store/temp-database.ts'
import { AwaitedLog } from './awaited-log.ts'
import { startDiscordHousehold } from './discord-household.ts'
import { startHousehold } from './household.ts'

const echo: Script = (request) => textReply(`heard ${lastUserText(request).split('\n').at(-1) ?? ''}`)

it('an owner is told once in private that Discord lets the bot begin no more sessions, and status says so', async () => {
  const logger = new AwaitedLog()
  const house = await startDiscordHousehold({ script: echo, logger })
  const { world, ledger, gateway } = house.discord
  world.say({ from: '222', text: 'hello' })
  await ledger.nextFromBot('sent', { where: ({ text }) => text.includes('hello') })
  gateway.sessionLimit.remaining = 60
  const mark = ledger.mark()
  gateway.invalidate()
  const told = await ledger.nextFromBot('sent', { after: mark })
  await ledger.collect(3, (entry) => entry.kind === 'call' && entry.method === 'gatewayBot', { after: mark })

  expect(told.text).toMatch(/only 60 of 1000 sessions more for 24 h, and these are kept in reserve/)
  expect(told.channelId).toBe(world.direct(world.user('222')).channel.id)
  expect(ledger.count((entry) => entry.kind === 'message' && entry.byBot && entry.change === 'sent', mark)).toBe(1)
  expect(await house.daemon.operator.status()).toMatchObject({
    channels: [{ status: 'down', detail: expect.stringContaining('only 60 of 1000') }],
  })

  gateway.sessionLimit.remaining = 1000
  const again = ledger.mark()
  await ledger.nextGateway('ready', { after: again, timeoutMs: 15_000 })
  world.say({ from: '222', text: 'and now?' })
  await ledger.nextFromBot('sent', { after: again, where: ({ text }) => text.includes('and now?') })
})

it('an owner is told in private which chat a stored message was for that cannot be read any more, and that chat goes on', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-told-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'parley.db')
  const routing = { access: { direct: 'public', groups: [] } } as const
  const { telegram, daemon, restart } = await startHousehold({ streaming: false, routing, config: { store: { path } } })
  const { world, ledger, faults } = telegram
  world.say({ from: 111, text: 'hello' })
  await ledger.nextFromBot('sent', { where: ({ text }) => text.includes('hello') })
  const body = { ok: false, error_code: 429, description: 'Too Many Requests', parameters: { retry_after: 600 } }
  const refused = faults.add({ method: 'sendMessage', action: { kind: 'answer', when: 'before', status: 429, body } })
  world.say({ from: 444, text: 'the damaged one' })
  await refused.reached
  await vi.waitFor(async () => expect((await daemon.operator.status()).outbox).toMatchObject({ waiting: 1 }))
  await daemon.stop()
  withDatabase(path, (database) => database.exec("UPDATE outbox SET part = 'damaged' WHERE state = 'waiting'"))

  const mark = ledger.mark()
  await restart()
  const told = await ledger.nextFromBot('sent', { after: mark })
  expect(told).toMatchObject({
    chatId: 111,
    text: expect.stringContaining('for Bob (telegram:direct:444) cannot be read'),
  })
  world.say({ from: 444, text: 'and now?' })
  await ledger.nextFromBot('sent', { after: mark, where: ({ text }) => text.includes('and now?') })
  expect(world.messages(444, { by: 'bot' })).toHaveLength(1)
})
