import type { Address } from '../core/address.ts'
import type { ChannelTraits } from '../core/channel-traits.ts'
import type { Dispatch, Identity, Route } from '../core/dispatch.ts'
import type { AgentId } from '../core/ids.ts'
import type { InboundMessage } from '../core/message.ts'
import { chooseSession } from './choose-session.ts'
import type { Routing } from './compile-routing.ts'
import { findDispatchRule } from './dispatch-rules.ts'
import { identify } from './identify.ts'
import { matchFacts, senderIds } from './match-facts.ts'
import type { RouteFacts } from './route-facts.ts'

/** The facts about a text that the agent itself posted. */
export type OwnPost = Pick<Dispatch, 'traceId' | 'receivedAt'>

/**
 * The session in which whoever writes at a place next will find what was posted there. Where a direct chat has
 * the id of its person, that one may share a session over chats; nowhere else is the sender known beforehand, so a
 * place whose sessions are set apart by sender has none that fits. Also the dispatch such a session is opened with. An
 * agent that is named goes before the rules.
 */
export function placeSession(
  routing: Routing,
  facts: Pick<RouteFacts, 'personOf' | 'formerChat'>,
  { address, agent, ...posting }: OwnPost & { readonly address: Address; readonly agent?: AgentId },
): { readonly route: Route; readonly identity: Identity; readonly dispatch: Dispatch } {
  const traits = routing.channels.traits(address.channel)
  const dispatch: Dispatch = { ...posting, origin: 'platform', event: nextMessage(address, traits), reply: { address } }
  const ids = senderIds(traits, dispatch.event.sender)
  const { identity } = identify(routing.people, facts, { dispatch, ids })
  const place = matchFacts({ address, traits }, ids, {
    person: identity.person,
    mentioned: true,
    formerChat: facts.formerChat(address.channel, address.chat),
  })
  const rule = agent === undefined ? findDispatchRule(routing.dispatch, place) : undefined
  const rules = agent === undefined ? routing.sessions : { ...routing.sessions, defaultAgent: agent }
  const { route } = chooseSession(rules, { dispatch, identity, facts: place }, rule)
  return { route, identity, dispatch }
}

function nextMessage(address: Address, { ids }: ChannelTraits): InboundMessage {
  const known = address.chatType === 'direct' && ids.directChatIsPerson
  return {
    kind: 'message',
    eventKey: '',
    address,
    sender: { id: known ? address.chat : '', kind: 'user' },
    sentAt: 0,
    messageId: '',
    text: '',
    mentioned: true,
    mentionsOthers: false,
    attachments: [],
  }
}
