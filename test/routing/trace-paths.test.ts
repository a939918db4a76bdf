import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import type { InboundEvent } from '../../src/core/message.ts'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { decide } from '../fakes/decide.ts'
import { direct, edit, group, message, slackChannel, user } from '../fakes/dispatch.ts'
import { household, policy } from '../fakes/routing-policy.ts'

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema | boolean
  readonly items?: Schema
}

const schema = JSON.parse(readFileSync(new URL('../../config/parley.schema.json', import.meta.url), 'utf8')) as Schema

/** What the file's schema says of `routing.access.groups[0].who`; undefined if there is no such setting. */
function settingAt(path: string): Schema | undefined {
  const keys = path.replace(/\[\d+\]/g, '.[]').split('.')
  return keys.reduce<Schema | undefined>((at, key) => {
    if (key === '[]') return at?.items
    const more = at?.additionalProperties
    return at?.properties?.[key] ?? (typeof more === 'object' ? more : undefined)
  }, schema)
}

const CY = user('555')
const places = [direct('555'), group('-100'), group('-100', { topic: '7' }), slackChannel('C1', { topic: '1.2' })]
const events: readonly InboundEvent[] = places.flatMap((address) =>
  [CY, user('111'), user('444'), user('9', { kind: 'bot' })].flatMap((sender): InboundEvent[] => [
    message({ address, sender, text: 'butler?' }),
    message({ address, sender, mentioned: true }),
    message({ address, sender, mentionsOthers: true }),
    edit({ address, sender, mentioned: true }),
    { kind: 'delete', eventKey: 'd', original: 'e1', messageId: '1', address, sender, sentAt: 1 },
  ]),
)
const rules = (['mention', 'always', 'never'] as const).map((trigger) => ({
  match: {},
  who: 'public' as const,
  trigger,
}))
const full = {
  wakeWords: ['butler'],
  followThreads: true,
  ownerAlwaysTriggers: false,
  edits: 'ignore',
  deletions: 'ignore',
}
const policies: readonly RoutingPolicy[] = [
  policy(),
  policy({ direct: 'person', scope: 'global' }),
  ...rules.flatMap((rule) => [
    household({ access: { direct: 'public', groups: [rule] }, direct: 'main', wakeWords: ['butler'] }),
    household({
      access: { direct: 'owner', groups: [{ ...rule, ...full, bots: 'mentioned', botIds: ['9'] } as never] },
      botBudget: { turns: 1, tokens: 1, quietMinutes: 1 },
      dispatch: [{ match: { mentioned: true }, agent: 'main', dimensions: ['chat', 'sender'] }],
      sendPolicy: { rules: [{ match: { channel: 'slack' }, action: 'deny' }], default: 'allow' },
    }),
    household({ edits: 'rerun', sendPolicy: { rules: [], default: 'deny' } }),
  ]),
]

it('every path a trace gives is a setting of the configuration file', () => {
  const facts = { follows: () => true, botSpending: () => ({ turns: 9, tokens: 9, lastAskedAt: 0 }) }
  const paths = new Set(
    policies.flatMap((of) =>
      events.flatMap((event) => decide(of, event, { facts }).trace.flatMap(({ config }) => config ?? [])),
    ),
  )
  expect(paths.size).toBeGreaterThan(20)
  expect([...paths].filter((path) => settingAt(path) === undefined)).toEqual([])
})
