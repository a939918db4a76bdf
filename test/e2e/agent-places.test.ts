import { expect, it } from 'vitest'
import type { RoutingPolicy } from '../../src/core/policy.ts'
import { agents } from '../fakes/routing-policy.ts'
import { GROUP, payingPlaces } from './paying-places.ts'

const PLACES: readonly (readonly [string, string, number, Partial<RoutingPolicy>])[] = [
  [
    'a group of an agent that is not the default one',
    `agent:work:telegram:group:${GROUP}`,
    GROUP,
    { agents: agents('main', 'work'), dispatch: [{ match: { chat: String(GROUP) }, agent: 'work' }] },
  ],
  ['a group where each sender has a session', `telegram:group:${GROUP}`, GROUP, { dimensions: ['chat', 'sender'] }],
  [
    'a group of such an agent where each sender has a session',
    `agent:work:telegram:group:${GROUP}`,
    GROUP,
    {
      dimensions: ['chat', 'sender'],
      agents: agents('main', 'work'),
      dispatch: [{ match: { chat: String(GROUP) }, agent: 'work' }],
    },
  ],
  ['the one session of a person', 'direct:bob', 444, { direct: 'person' }],
]

for (const [name, place, chat, changes] of PLACES)
  it(`R36: what is denied in ${name} is denied in what was scheduled there`, async () => {
    const { say, scheduled, paid } = await payingPlaces(place, changes)
    expect(await say('pay {"to":"now"}', chat)).toContain('Denied')
    expect(await scheduled('pay {"to":"cy"}', chat)).toContain('Denied')
    expect(paid).toEqual([])
  })
