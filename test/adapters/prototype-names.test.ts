import { describe, expect, test } from 'vitest'
import { deletedIds, readEdit, readMessage } from '../../adapters/discord/inbound/read-event.ts'
import { readInteraction } from '../../adapters/discord/inbound/read-slash-command.ts'
import type { InboundReading } from '../../adapters/shared/reading.ts'
import { readEventBody } from '../../adapters/slack/inbound/read-event.ts'
import { readUpdate } from '../../adapters/telegram/inbound/read-event.ts'
import { toAccountId } from '../../src/core/ids.ts'
import { discordDispatches, slackBodies, telegramUpdates } from './odd-fixtures.ts'
import { context as slackContext } from './slack/inbound-context.ts'
import { context as telegramContext } from './telegram/inbound-context.ts'

const NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']
const OWN = '{"polluted":true,"is_bot":true,"type":"private"}'

/** The payload as its JSON reads where every object has such a key first, as nobody but an attacker writes it. */
function withKey(payload: unknown, name: string): unknown {
  return JSON.parse(JSON.stringify(payload).replaceAll(/\{(?!\})/g, `{"${name}":${OWN},`))
}

/** The payloads that come of one by putting such a name in the place of one of its texts, keys or kinds. */
function* withText(payload: unknown, name: string): Generator<unknown> {
  const json = JSON.stringify(payload)
  for (const { index, 0: text } of json.matchAll(/"(?:[^"\\]|\\.)*"/g)) {
    yield JSON.parse(`${json.slice(0, index)}"${name}"${json.slice(index + text.length)}`)
  }
}

/** Reads each, and checks that it became an ordinary event or was dropped, and that objects are as they were. */
function readAll(payloads: readonly unknown[], read: (payload: unknown) => readonly InboundReading[]): void {
  const before = Reflect.ownKeys(Object.prototype)
  for (const name of NAMES) {
    for (const payload of payloads) {
      for (const odd of [withKey(payload, name), ...withText(payload, name)]) {
        for (const reading of read(odd)) {
          expect(strangeIn(reading), JSON.stringify(odd)).toBeUndefined()
        }
      }
    }
  }
  expect(Reflect.ownKeys(Object.prototype)).toEqual(before)
  expect(({} as Record<string, unknown>).polluted).toBeUndefined()
}

/** Returns what has another prototype than the language gave it, or a value of ours that stands in every object. */
function strangeIn(value: unknown): unknown {
  if (typeof value === 'function') return value
  if (typeof value !== 'object' || value === null) return undefined
  const ordinary: readonly unknown[] = [Object.prototype, Array.prototype]
  if (!ordinary.includes(Object.getPrototypeOf(value)) || 'polluted' in value) return value
  return Object.values(value)
    .map(strangeIn)
    .find((one) => one !== undefined)
}

describe('F-G09: names of the prototype in a payload change nothing but what is read', () => {
  test('Telegram', () => readAll(telegramUpdates, (update) => [readUpdate(update, telegramContext)]))

  test('Slack', () => readAll(slackBodies, (body) => [readEventBody(body, slackContext)]))

  test('Discord', () => {
    const place = { id: '200', kind: 'channel', guildId: '100' } as const
    const context = { account: toAccountId('default'), botId: '900', place, commands: new Set(['new']) }
    readAll(
      discordDispatches.map(({ data }) => data),
      (data) => {
        deletedIds(data)
        return [readMessage(data, context), readEdit(data, context), readInteraction(data, context)]
      },
    )
  })

  test('an event is the same with such keys beside those we read', () => {
    const pairs = (payloads: readonly unknown[], read: (payload: unknown) => InboundReading) =>
      payloads.map((payload) => [read(payload), read(withKey(payload, '__proto__'))] as const)
    const all = [
      ...pairs(telegramUpdates, (update) => readUpdate(update, telegramContext)),
      ...pairs(slackBodies, (body) => readEventBody(body, slackContext)),
    ]
    const events = all.filter(([{ kind }]) => kind === 'event')
    expect(events.length).toBeGreaterThan(10)
    for (const [plain, odd] of events) expect(odd).toEqual(plain)
  })
})
