import { describe, expect, test } from 'vitest'
import { deletedIds, idsOf, readEdit, readMessage } from '../../adapters/discord/inbound/read-event.ts'
import { readInteraction } from '../../adapters/discord/inbound/read-slash-command.ts'
import { readableByOthers as readableOnDiscord } from '../../adapters/discord/inbound/reading.ts'
import { isFields } from '../../adapters/shared/fields.ts'
import type { InboundReading } from '../../adapters/shared/reading.ts'
import { readEventBody } from '../../adapters/slack/inbound/read-event.ts'
import { readPressed } from '../../adapters/slack/inbound/read-press.ts'
import { readSlashCommand } from '../../adapters/slack/inbound/read-slash-command.ts'
import { readUpdate } from '../../adapters/telegram/inbound/read-event.ts'
import { readableByOthers as readableOnTelegram } from '../../adapters/telegram/inbound/reading.ts'
import { toAccountId } from '../../src/core/ids.ts'
import { discordDispatches, slackBodies, telegramUpdates } from './odd-fixtures.ts'
import { eachMutation } from './odd-payloads.ts'
import { context as slackContext } from './slack/inbound-context.ts'
import { context as telegramContext } from './telegram/inbound-context.ts'

const COUNT = 10_000

/** Neither a throw nor a mistake of ours: an event, or counted as what it is. */
function expectRead(reading: InboundReading): void {
  const isMistake = reading.kind === 'dropped' && reading.why.startsWith('unreadable')
  if (isMistake) expect(reading).not.toMatchObject({ why: expect.stringMatching(/^unreadable/) })
  if (reading.kind !== 'event') return
  // It is stored as JSON, and its times are shown.
  expect(JSON.parse(JSON.stringify(reading.event))).toEqual(reading.event)
  expect(new Date(reading.event.sentAt).getTime()).toBe(reading.event.sentAt)
}

describe('F-G01: 10,000 mutated payloads are read without a throw', () => {
  test('Telegram', () => {
    eachMutation(telegramUpdates, { count: COUNT, seed: 1_000_000 }, (update) => {
      expectRead(readUpdate(update, telegramContext))
      readableOnTelegram(update)
    })
  })

  test('Slack', () => {
    eachMutation(slackBodies, { count: COUNT, seed: 2_000_000 }, (body) => {
      expectRead(readEventBody(body, slackContext))
      if (!isFields(body)) return
      expectRead(readSlashCommand(body, { ...slackContext, receivedAt: 1 }))
      expectRead(readPressed(body, { ...slackContext, receivedAt: 1 }))
    })
  })

  test('Discord', () => {
    const account = toAccountId('default')
    const place = { id: '200', kind: 'channel', guildId: '100' } as const
    const context = { account, botId: '900', place, commands: new Set(['new']) }
    const payloads = discordDispatches.map(({ data }) => data)
    eachMutation(payloads, { count: COUNT, seed: 3_000_000 }, (data) => {
      for (const read of [readMessage, readEdit]) expectRead(read(data, context))
      expectRead(readInteraction(data, context))
      deletedIds(data)
      idsOf(data)
      readableOnDiscord(place, data)
    })
  })
})
