import { expect, it } from 'vitest'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { AwaitedLog } from './awaited-log.ts'
import { startDiscordHousehold } from './discord-household.ts'

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
