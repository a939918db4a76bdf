import { describe, expect, it } from 'vitest'
import type { PersonPolicy } from '../../../src/core/policy.ts'
import type { SessionKind } from '../../../src/core/session.ts'
import { personBehind } from '../../../src/routing/identify.ts'
import { isPartedChat } from '../../../src/sessions/turns/parted-chat.ts'
import { CHANNELS } from '../../fakes/channels.ts'
import { routeFacts } from '../../fakes/dispatch.ts'
import { household, member, owner, routingOf } from '../../fakes/routing-policy.ts'
import { sessionDraft } from '../../store/sample-rows.ts'

interface Joined {
  readonly metadata: Readonly<Record<string, string>>
  readonly sender?: string
  readonly kind?: SessionKind
  readonly shared?: boolean
}

/** Asks among some people whether the chat of a session that follows somebody is theirs no more. */
function parted(
  people: readonly PersonPolicy[],
  { metadata, sender = 'ada', kind = 'other', shared = false }: Joined,
): boolean {
  const { people: known } = routingOf(household({ people }))
  const { scope } = sessionDraft(1)
  const draft = sessionDraft(1, { kind, metadata, scope: { ...scope, dimensions: ['sender'], values: { sender } } })
  return isPartedChat(draft, CHANNELS, {
    whoIs: (id) => personBehind(known, routeFacts(), id),
    mainIsShared: () => shared,
  })
}

const telegram = { channel: 'telegram', chat_type: 'direct', chat_id: '111', sender_id: '111' }
const slack = { channel: 'slack', chat_type: 'direct', chat_id: 'D1', sender_id: 'U333', space: 'team:T01' }

describe('the chat of a conversation that follows somebody', () => {
  it.each([
    ['an id', [owner('ada', 'telegram:111')], { metadata: telegram }],
    ['an id in a team', [owner('ada', 'slack:T01/U333')], { metadata: slack }],
    ['an id of no team', [owner('ada', 'slack:U333')], { metadata: slack }],
    ['no link, their own id', [owner('ada', 'telegram:9')], { metadata: telegram, sender: '111' }],
    ['no link, their own id in a team', [owner('ada', 'slack:T9/U9')], { metadata: slack, sender: 'T01/U333' }],
    [
      'a main session for everybody',
      [member('bob', 'telegram:111')],
      { metadata: telegram, sender: 'main', kind: 'main', shared: true },
    ],
    ['the role of an owner', [owner('ada', 'telegram:111')], { metadata: telegram, sender: 'main', kind: 'main' }],
  ] as const)('F-H04: is theirs by %s', (_, people, joined) => {
    expect(parted(people, joined)).toBe(false)
  })

  it.each([
    ['the id was taken out', [owner('ada', 'telegram:9')], { metadata: telegram }],
    ['the id is somebody else’s', [owner('ada', 'telegram:9'), member('eve', 'telegram:111')], { metadata: telegram }],
    ['the id of another team is meant', [owner('ada', 'slack:T02/U333')], { metadata: slack }],
    ['an owner is one no more', [member('ada', 'telegram:111')], { metadata: telegram, sender: 'main', kind: 'main' }],
  ] as const)('F-H04: is theirs no more where %s', (_, people, joined) => {
    expect(parted(people, joined)).toBe(true)
  })
})
