import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isPlaceholder } from '../../src/core/placeholder-id.ts'
import { CHANNELS } from '../fakes/channels.ts'
import { load, refusal, TELEGRAM } from './loading.ts'

describe('ids of examples', () => {
  it.each([
    '111111111',
    '222222222',
    '777777777',
    '-1001234567890',
    '-100123',
    '123456789',
    '123456789012345678',
    '111111111111111111',
    'U012ABCDE',
    'u012abcdef',
    'U012AB3CD',
    'W012A3CDE',
    'T012ABCDE',
    'U0123456789',
    'C1234567890',
    'U333',
    'UXXXXXXXX',
    '<your id>',
  ])('%s is one', (id) => expect(isPlaceholder(id, CHANNELS.examples)).toBe(true))

  it.each([
    '5',
    '42',
    '111',
    '123',
    '-111',
    '1001111',
    '1001',
    '-100',
    '-1',
    '161',
    '1284657390',
    '-1002147483648',
    'T01',
    'C1',
    'U0123QWERT',
    'ada',
  ])('%s is none', (id) => expect(isPlaceholder(id, CHANNELS.examples)).toBe(false))

  it('no id that a platform gives out today is taken for one', () => {
    const digits = fc.integer({ min: 1_000_000, max: 9_999_999 })
    fc.assert(
      fc.property(digits, (seed) => {
        const id = `${seed}${(seed * 7919) % 10_007}0`
        expect(isPlaceholder(id, CHANNELS.examples)).toBe(/^(\d)\1+$|^(1234567|0123456|9876543)/.test(id))
      }),
    )
  })

  it.each([
    ['people', 'people: { ada: { role: owner, ids: [telegram:111111111] } }', 'people.ada.ids[0]'],
    ['people of Slack', 'people: { ada: { ids: [slack:T7QK4TZ2M/U012ABCDE] } }', 'people.ada.ids[0]'],
    ['a team of Slack', 'people: { ada: { ids: [slack:T012ABCDE/U7QK4TZ2M] } }', 'people.ada.ids[0]'],
    ['bare ids', 'people: { ada: { ids: [123456789] } }', 'people.ada.ids[0]'],
    ['groups', 'routing: { access: { groups: [{ match: { chat: -1001234567890 } }] } }', '0].match.chat'],
    ['typed groups', 'routing: { access: { groups: [{ match: { chat: "group:-100123" } }] } }', '0].match.chat'],
    ['spaces', 'routing: { access: { groups: [{ match: { space: "team:T012ABCDE" } }] } }', '0].match.space'],
    ['bots', 'routing: { access: { groups: [{ bots: allow, botIds: [telegram:777777777] }] } }', '0].botIds[0]'],
    ['dispatch rules', 'routing: { dispatch: [{ match: { chat: C012ABCDE } }] }', 'dispatch[0].match.chat'],
    ['senders', 'routing: { dispatch: [{ match: { sender: "telegram:222222222" } }] }', 'dispatch[0].match.sender'],
    [
      'send rules',
      'session: { sendPolicy: { rules: [{ match: { person: "discord:111111111111111111" } }] } }',
      'person',
    ],
    [
      'key prefixes',
      'session: { sendPolicy: { rules: [{ match: { keyPrefix: "telegram:group:-1001234567890/" } }] } }',
      'rules[0].match.keyPrefix',
    ],
    [
      'targets of schedules',
      'schedules: [{ id: a, cron: "0 8 * * *", prompt: x, deliverTo: "telegram:direct:111111111" }]',
      'schedules[0].deliverTo',
    ],
    [
      'sources of schedules',
      'schedules: [{ id: a, cron: "0 8 * * *", prompt: x, deliverTo: "telegram:direct:5", digestOf: "telegram:group:-1001234567890/42" }]',
      'schedules[0].digestOf',
    ],
  ])('are refused in %s, with path and remedy', async (_where, yaml, path) => {
    const message = await refusal(`${TELEGRAM}${yaml}\n`)
    expect(message).toContain(`${path}: `)
    expect(message).toMatch(
      /^parley\.yaml:2: .* is an id from an example, and not yours; write the id that \/whoami says/,
    )
  })

  it('what only looks alike is let by: topics, names of people, the beginning of a key', async () => {
    const { config } = await load(`${TELEGRAM}people: { u333: { ids: [telegram:5] } }
routing: { dispatch: [{ match: { sender: u333, topic: 123 } }] }
session: { sendPolicy: { rules: [{ match: { keyPrefix: "telegram:group:-100123" }, action: deny }] } }
schedules: [{ id: a, cron: "0 8 * * *", prompt: x, deliverTo: "telegram:group:-1002147483648/111" }]
`)
    expect(config.routing.dispatch).toHaveLength(1)
  })
})
