import { describe, expect, it } from 'vitest'
import type { Dispatch } from '../../../src/core/dispatch.ts'
import type { InboundMessage } from '../../../src/core/message.ts'
import type { PersonPolicy } from '../../../src/core/policy.ts'
import { personBehind } from '../../../src/routing/identify.ts'
import { isSenderParted } from '../../../src/sessions/turns/parted.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { decide } from '../../fakes/decide.ts'
import { direct, dispatchOf, group, message, routeFacts, slackChannel, user } from '../../fakes/dispatch.ts'
import { household, member, owner, routingOf } from '../../fakes/routing-policy.ts'

type People = readonly PersonPolicy[]

/** Decides a message among some people and asks, among others, whether its sender has parted. */
function parted(
  before: People,
  after: People,
  { event, dispatch }: { event: InboundMessage; dispatch?: Partial<Dispatch> },
) {
  const decision = decide(household({ people: before }), event, dispatch ? { dispatch } : {})
  const { people } = routingOf(household({ people: after }))
  const whoIs = (platformId: string) => personBehind(people, routeFacts(), platformId)
  return isSenderParted({ dispatch: dispatchOf(event, dispatch), decision }, { channels: CHANNELS, whoIs })
}

const slack = (id: string, team = 'T01') =>
  message({ address: slackChannel('C1'), sender: user(id, { team }), mentioned: true })
const telegram = (id: string) => message({ address: direct(id), sender: user(id) })
const ADA = owner('ada', 'telegram:111', 'discord:222', 'slack:T01/U333')

describe('who somebody is by now', () => {
  it.each([
    ['a platform id', [ADA], telegram('111')],
    ['an id in a team', [ADA], slack('U333')],
    ['an id in a team, in another case', [owner('ada', 'slack:t01/u333')], slack('U333')],
    ['an id of no team', [owner('ada', 'slack:U333')], slack('U333')],
    ['a bare id', [owner('ada', '111')], telegram('111')],
    ['a bare id in a team', [owner('ada', 'T01/U333')], slack('U333')],
    ['a member', [ADA, member('bob', 'telegram:444')], telegram('444')],
    ['a stranger', [ADA], message({ address: group(), sender: user('999'), mentioned: true })],
    [
      'an anonymous admin',
      [owner('ada', 'telegram:111')],
      message({ address: group(), sender: user('1087968824', { kind: 'anonymous' }), mentioned: true }),
    ],
  ] as const)('F-H04: by %s, nobody parts where nothing changes', (_, people, event) => {
    expect(parted(people, people, { event })).toBe(false)
  })

  it.each([
    ['their id is taken out', [owner('ada', 'telegram:9')], true],
    ['their id is somebody else’s', [owner('ada', 'telegram:9'), member('eve', 'telegram:111')], true],
    ['an owner becomes a member', [member('ada', 'telegram:111')], true],
    ['they get another id beside it', [owner('ada', 'telegram:111', 'telegram:5')], false],
  ])('F-H04: it counts that %s', (_, after, counts) => {
    expect(parted([ADA], after as People, { event: telegram('111') })).toBe(counts)
  })

  it('F-H04: a stranger who becomes known loses nothing that waits', () => {
    expect(parted([ADA], [ADA, member('bob', 'telegram:444')], { event: telegram('444') })).toBe(false)
  })
})
