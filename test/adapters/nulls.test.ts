import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readMessage } from '../../adapters/discord/inbound/read-event.ts'
import { readInteraction } from '../../adapters/discord/inbound/read-slash-command.ts'
import { readEventBody } from '../../adapters/slack/inbound/read-event.ts'
import { readUpdate } from '../../adapters/telegram/inbound/read-event.ts'
import { toAccountId } from '../../src/core/ids.ts'
import { context as slackContext } from './slack/inbound-context.ts'
import { context as telegramContext } from './telegram/inbound-context.ts'

interface Fixture {
  readonly title: string
  readonly update?: unknown
  readonly body?: unknown
  readonly reading: unknown
}

function fixturesOf(platform: string): Fixture[] {
  const folder = new URL(`../fixtures/${platform}/`, import.meta.url)
  return readdirSync(folder).map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Fixture)
}

function namesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  return [...(Array.isArray(value) ? [] : Object.keys(value)), ...Object.values(value).flatMap(namesIn)]
}

/** Lays null under every one of these names that an object inside does not have. */
function withNulls(value: unknown, names: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((item) => withNulls(item, names))
  if (typeof value !== 'object' || value === null) return value
  const own = Object.entries(value).map(([name, inner]) => [name, withNulls(inner, names)] as const)
  const absent = [...names].filter((name) => !Object.hasOwn(value, name)).map((name) => [name, null] as const)
  return Object.fromEntries([...own, ...absent])
}

describe('a field that is null is read as one that is not there', () => {
  const telegram = fixturesOf('telegram')
  const telegramNames = new Set(telegram.flatMap(({ update }) => namesIn(update)))
  test.each(telegram.map((fixture) => [fixture.title, fixture] as const))('Telegram: %s', (_, { update, reading }) => {
    expect(readUpdate(withNulls(update, telegramNames), telegramContext)).toStrictEqual(reading)
  })

  const slack = fixturesOf('slack')
  const slackNames = new Set(slack.flatMap(({ body }) => namesIn(body)))
  test.each(slack.map((fixture) => [fixture.title, fixture] as const))('Slack: %s', (_, { body, reading }) => {
    expect(readEventBody(withNulls(body, slackNames), slackContext)).toStrictEqual(reading)
  })

  const account = toAccountId('default')
  const common = { account, botId: '900' }
  const ada = { id: '222', username: 'ada', global_name: 'Ada' }
  const absent = `webhook_id guild_id member mentions mention_roles mention_everyone attachments flags message_reference
    message_snapshots referenced_message edited_timestamp options user bot parent_id`
  const names = new Set(absent.split(/\s+/))

  test('Discord: a message', () => {
    const message = { id: '1573660185950420993', type: 0, channel_id: '200', author: ada, content: 'hello' }
    const context = {
      ...common,
      place: { id: '200', kind: 'channel', guildId: '100' } as const,
      commands: new Set('x'),
    }
    const reading = readMessage(message, context)
    expect(reading).toMatchObject({ kind: 'event', event: { sender: { kind: 'user' }, text: 'hello' } })
    expect(readMessage(withNulls(message, names), context)).toStrictEqual(reading)
  })

  test('Discord: a slash command', () => {
    const data = { id: '1', name: 'new', type: 1 }
    const channel = { id: '200', type: 0 }
    const interaction = {
      id: '1573660185950420993',
      application_id: '900',
      type: 2,
      token: 't',
      channel,
      user: ada,
      data,
    }
    const reading = readInteraction(interaction, common)
    expect(reading).toMatchObject({ kind: 'event', event: { kind: 'command', name: 'new' } })
    expect(readInteraction(withNulls(interaction, names), common)).toStrictEqual(reading)
  })
})
