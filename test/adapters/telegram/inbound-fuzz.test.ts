import { readdirSync, readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { readUpdate } from '../../../adapters/telegram/inbound/read-event.ts'
import { runs } from '../../sample.ts'
import { context } from './inbound-context.ts'

const id = z.string().regex(/^-?\d+$/)
const sender = z.strictObject({
  id,
  kind: z.enum(['user', 'bot', 'anonymous']),
  displayName: z.string().optional(),
  username: z.string().optional(),
})
const address = z.strictObject({
  channel: z.literal('telegram'),
  account: z.literal('default'),
  chatType: z.enum(['direct', 'group', 'channel']),
  chat: id,
  topic: id.optional(),
  post: id.optional(),
})
const title = z.string().min(1).max(80).optional()
const titles = z
  .strictObject({
    chat: title,
    topic: title,
    topicBegan: title,
  })
  .optional()
const facts = { eventKey: z.string().startsWith('7000001:'), address, sender, sentAt: z.int() }
const text = {
  ...facts,
  titles,
  messageId: id,
  text: z.string(),
  mentioned: z.boolean(),
  mentionsOthers: z.boolean(),
  quoted: z
    .strictObject({
      ...{ messageId: id, text: z.string().optional(), sender: sender.optional(), own: z.boolean() },
      sentAt: z.int().positive().optional(),
    })
    .optional(),
  mentions: z
    .array(z.strictObject({ kind: z.literal('person'), name: z.string().optional(), username: z.string().optional() }))
    .optional(),
  forwarded: z
    .strictObject({ from: sender.optional(), name: z.string().optional(), text: z.string().optional() })
    .optional(),
  copyOf: z.strictObject({ chat: id, messageId: id }).optional(),
  via: sender.optional(),
  attachments: z.array(
    z.strictObject({
      ref: z.string(),
      kind: z.enum(['photo', 'document', 'voice', 'audio', 'video', 'animation', 'sticker']).optional(),
      about: z.string().optional(),
      mime: z.string().optional(),
      fileName: z.string().optional(),
      size: z.int().optional(),
      ...{ quoted: z.literal(true).optional(), shared: z.literal(true).optional() },
    }),
  ),
  enclosed: z.array(z.string()).optional(),
  piece: z.strictObject({ of: z.string(), more: z.boolean() }).optional(),
}
const event = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('message'), ...text }),
  z.strictObject({ kind: z.literal('edit'), original: z.string().min(1), saidAt: z.int(), ...text }),
  z.strictObject({
    ...{ kind: z.literal('command'), ...text, messageId: z.string(), name: z.string().min(1), args: z.string() },
    answerBy: z.string().optional(),
  }),
  z.strictObject({
    kind: z.literal('reaction'),
    ...facts,
    messageId: id,
    added: z.array(z.string()),
    removed: z.array(z.string()),
  }),
  z.strictObject({
    kind: z.literal('membership'),
    ...facts,
    status: z.enum(['joined', 'left', 'restricted']),
    chatTitle: z.string().optional(),
  }),
  z.strictObject({ kind: z.literal('departure'), ...facts }),
  z.strictObject({ kind: z.literal('migration'), ...facts, to: address }),
])
const reading = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('event'), event }),
  z.strictObject({ kind: z.literal('dropped'), why: z.string().regex(/^(malformed|[a-z_]+)(:[a-z_.]+)?$/) }),
])

const folder = new URL('../../fixtures/telegram/', import.meta.url)
const updates = readdirSync(folder).map((name) => {
  const { update } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { update: unknown }
  return update
})

/** A value that does not belong: other types, odd numbers, odd texts. */
const odd = fc.oneof(
  fc.constantFrom<unknown>(
    null,
    undefined,
    true,
    '',
    [],
    {},
    -0,
    0,
    -1,
    1e308,
    2 ** 53,
    2 ** 63,
    Number.NaN,
    '__proto__',
  ),
  fc.string({ unit: 'binary' }),
  fc.jsonValue(),
)

/** Replaces, removes or adds one value somewhere inside. */
function mutate(value: unknown, at: readonly number[], by: unknown): unknown {
  const [step, ...rest] = at
  if (step === undefined || typeof value !== 'object' || value === null) return by
  const keys = Object.keys(value)
  const key = keys[step % (keys.length + 1)] ?? 'extra'
  if (Array.isArray(value)) return value.map((item, index) => (String(index) === key ? mutate(item, rest, by) : item))
  return { ...value, [key]: mutate((value as Record<string, unknown>)[key], rest, by) }
}

describe('readUpdate on mutated updates', () => {
  test.each([
    ['what milliseconds can count', 1_881_350_286_952_860],
    ['every calendar', 8_700_000_000_000],
  ])('F-G01: a time beyond %s is no time', (_, date) => {
    const chat = { id: -1001234567890, type: 'supergroup', title: 'Engine Room' }
    const from = { id: 111, is_bot: false, first_name: 'Ada' }
    const update = { update_id: 5, message: { message_id: 7, date, chat, from, text: 'hello' } }
    expect(readUpdate(update, context)).toMatchObject({ why: expect.any(String) })
  })

  test.each([0, -5, 1.5, 1_881_350_286_952_860, Number.NaN, Number.POSITIVE_INFINITY, '1795000000'])(
    'F-G01: a quoted message of the date %s says not when it was sent',
    (date) => {
      const chat = { id: -1001234567890, type: 'supergroup', title: 'Engine Room' }
      const from = { id: 111, is_bot: false, first_name: 'Ada' }
      const original = { message_id: 6, chat, from, date, text: 'before' }
      const message = { message_id: 7, date: 1_795_000_000, chat, from, text: 'hello', reply_to_message: original }
      const quoted = { messageId: '6', text: 'before', own: false }
      expect(readUpdate({ update_id: 5, message }, context)).toMatchObject({ kind: 'event', event: { quoted } })
      expect(readUpdate({ update_id: 5, message }, context)).not.toHaveProperty('event.quoted.sentAt')
    },
  )

  test('F-G01: never throws, and each is a whole event or counted', () => {
    const mutated = fc
      .tuple(
        fc.constantFrom(...updates),
        fc.array(fc.tuple(fc.array(fc.nat(20), { minLength: 1, maxLength: 6 }), odd), { maxLength: 3 }),
      )
      .map(([update, changes]) => changes.reduce<unknown>((value, [at, by]) => mutate(value, at, by), update))
    fc.assert(
      fc.property(mutated, (update) => {
        const result = readUpdate(update, context)
        expect(reading.safeParse(result).error).toBeUndefined()
        expect(result).not.toMatchObject({ why: expect.stringMatching(/^unreadable/) })
      }),
      runs(20_000),
    )
  })

  test('F-G02: control characters, lone surrogates and bidi marks arrive as they are', () => {
    const strange = 'a\u0000b\ud800c\u202Ed\u0301\u0301\u0301'
    const chat = { id: 5, type: 'private' }
    const update = {
      update_id: 1,
      message: { message_id: 1, date: 1, chat, from: { id: 5, is_bot: false }, text: strange },
    }

    expect(readUpdate(update, context)).toMatchObject({ kind: 'event', event: { text: strange } })
  })
})
