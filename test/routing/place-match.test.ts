import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Address } from '../../src/core/address.ts'
import { toAccountId } from '../../src/core/ids.ts'
import type { PlaceMatch, RoutingPolicy } from '../../src/core/policy.ts'
import { decide, routeOf } from '../fakes/decide.ts'
import { group, message, slackChannel, user } from '../fakes/dispatch.ts'
import { agents, household } from '../fakes/routing-policy.ts'

type Outcome = (rules: Partial<RoutingPolicy>, address: Address) => ReturnType<typeof decide>

const decided: Outcome = (rules, address) =>
  decide(
    household({ agents: agents('main', 'second'), ...rules }),
    message({ address, sender: user('999'), mentioned: true }),
  )

/** By each kind of rule: whether a rule for these places speaks of this one. */
const RULES: Readonly<Record<string, (match: PlaceMatch, address: Address) => boolean>> = {
  'a dispatch rule': (match, address) =>
    routeOf(decided({ dispatch: [{ match, agent: 'second' }] }, address)).agent === 'second',
  'a group rule': (match, address) =>
    decided({ access: { direct: 'public', groups: [{ match, who: 'public', trigger: 'mention' }] } }, address).kind ===
    'run',
  'a send rule': (match, address) =>
    decided({ sendPolicy: { rules: [{ match, action: 'deny' }], default: 'allow' } }, address).kind === 'context',
}

const SLACK = slackChannel('C1', { topic: '17.5', account: toAccountId('work') })
const TELEGRAM = group('-100', { topic: '42' })

/** Each field as it is written for the place, and as it is for another. */
const FIELDS: readonly {
  readonly address: Address
  readonly right: Readonly<Record<keyof PlaceMatch, readonly string[]>>
  readonly wrong: Readonly<Record<keyof PlaceMatch, readonly string[]>>
}[] = [
  {
    address: SLACK,
    right: {
      channel: ['slack', ' Slack '],
      account: ['work', 'Work'],
      space: ['t01', 'team:T01'],
      chat: ['c1', 'C1', 'channel:C1', 'Channel:c1'],
      topic: ['17.5', 'topic:17.5'],
    },
    wrong: {
      channel: ['telegram', 'discord'],
      account: ['default', 'works'],
      space: ['T02', 'guild:T01'],
      chat: ['C2', 'group:C1', 'direct:C1', 'channel:C2'],
      topic: ['17.6', 'topic:17'],
    },
  },
  {
    address: TELEGRAM,
    right: {
      channel: ['telegram'],
      account: ['default'],
      space: [],
      chat: ['-100', 'group:-100'],
      topic: ['42', 'topic:42'],
    },
    wrong: {
      channel: ['slack'],
      account: ['work'],
      space: ['T01'],
      chat: ['100', '-100/42', 'channel:-100', 'group:-1001'],
      topic: ['43'],
    },
  },
]

const NAMES = ['channel', 'account', 'space', 'chat', 'topic'] as const
type Written = { readonly match: PlaceMatch; readonly holds: boolean }

/** Any of the fields, each right or wrong: the rule holds if none is wrong. */
function written({ right, wrong }: (typeof FIELDS)[number]): fc.Arbitrary<Written> {
  const field = (name: (typeof NAMES)[number]) =>
    fc.constantFrom(
      undefined,
      ...right[name].map((value) => ({ value, holds: true })),
      ...wrong[name].map((value) => ({ value, holds: false })),
    )
  return fc.record(Object.fromEntries(NAMES.map((name) => [name, field(name)]))).map((fields) => {
    const set = Object.entries(fields).flatMap(([name, one]) => (one === undefined ? [] : [[name, one] as const]))
    return {
      match: Object.fromEntries(set.map(([name, { value }]) => [name, value])),
      holds: set.every(([, { holds }]) => holds),
    }
  })
}

describe('the place in the match of a rule', () => {
  it.each(Object.entries(RULES))('K18: %s holds where all of its fields do, and nowhere else', (kind, speaksOf) => {
    for (const fields of FIELDS) {
      fc.assert(
        fc.property(written(fields), ({ match, holds }) => {
          // A dispatch rule without a constraint never matches (K19).
          const constrained = kind !== 'a dispatch rule' || Object.keys(match).length > 0
          expect(speaksOf(match, fields.address)).toBe(holds && constrained)
        }),
        { numRuns: 800 },
      )
    }
  })

  it.each(Object.entries(RULES))(
    'K18: %s for another account does not hold, whatever else it names',
    (_kind, speaksOf) => {
      for (const { address, right } of FIELDS) {
        const [channel = '', chat = '', topic = ''] = [right.channel[0], right.chat[0], right.topic[0]]
        for (const match of [{}, { channel }, { chat }, { topic }, { channel, chat, topic }]) {
          expect(speaksOf({ ...match, account: 'third' }, address)).toBe(false)
          expect(speaksOf({ ...match, account: address.account }, address)).toBe(true)
        }
      }
    },
  )

  it.each(Object.entries(RULES))('K18: %s names a chat with its type or without', (_kind, speaksOf) => {
    for (const { address, right, wrong } of FIELDS) {
      expect(right.chat.map((chat) => speaksOf({ chat }, address))).toEqual(right.chat.map(() => true))
      expect(wrong.chat.map((chat) => speaksOf({ chat }, address))).toEqual(wrong.chat.map(() => false))
    }
  })
})
