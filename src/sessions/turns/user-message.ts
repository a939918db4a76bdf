import { type Address, formatAddress } from '../../core/address.ts'
import type { Dispatch, Identity, Route } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import type { UserMessageData } from '../../core/event.ts'
import type { InboundText, MessageName } from '../../core/message.ts'
import type { EventToAppend } from '../../store/event-port.ts'
import type { InboxRow } from '../../store/inbox-port.ts'

/** The part of a decision that names the speaker and the session. */
interface Decided {
  readonly identity: Identity
  readonly addressed: boolean
  readonly route: Pick<Route, 'scope'>
}

type Fate = Pick<UserMessageData, 'triggers' | 'refused' | 'row'>

/** Returns the event of an accepted text: a new message, or the new text of an older one. */
export function userMessage(dispatch: Dispatch, decided: Decided, fate: Fate): EventToAppend {
  const type = dispatch.event.kind === 'edit' ? 'message_edited' : 'user_message'
  return { type, data: userData(dispatch, decided, fate) }
}

/** Returns a text as the log keeps it. */
export function userData(dispatch: Dispatch, { identity, addressed, route }: Decided, fate: Fate): UserMessageData {
  const event = textOf(dispatch)
  const from = dispatch.posted?.from
  // A session's message has somebody's authority but no person's words: it makes nobody a participant.
  const speaker: Identity = from ? { role: 'guest' } : identity
  return {
    text: event.text,
    ...(dispatch.raw === undefined ? {} : { raw: dispatch.raw }),
    ...messageName(event, route),
    sender: event.sender,
    ...(event.own ? { own: event.own } : {}),
    owner: speaker.role === 'owner',
    addressed,
    ...fate,
    ...(speaker.person === undefined ? {} : { person: speaker.person }),
    ...(from === undefined ? {} : { from }),
    ...(event.quoted === undefined ? {} : { quoted: event.quoted }),
    ...(event.forwarded === undefined ? {} : { forwarded: event.forwarded }),
    ...(event.via === undefined ? {} : { via: event.via }),
    ...(event.attachments.length === 0 ? {} : { attachments: event.attachments }),
    ...(dispatch.posted?.chosen ? { addresses: [] } : {}),
    ...(event.enclosed === undefined ? {} : { enclosed: event.enclosed }),
    ...(event.mentions === undefined ? {} : { mentions: event.mentions }),
    ...placeOf(event, route),
    ...(dispatch.schedule?.addresses === undefined ? {} : { addresses: dispatch.schedule.addresses }),
    ...(dispatch.schedule?.data === undefined ? {} : { data: dispatch.schedule.data }),
  }
}

/** Returns the name of the place of a message, where the prompt of its session does not have it (`promptPlace`). */
function placeOf(
  { address, titles }: InboundText,
  { scope: { dimensions } }: Pick<Route, 'scope'>,
): { readonly place?: string } {
  const apart = address.chatType === 'direct' || (dimensions.includes('chat') && dimensions.includes('topic'))
  if (apart || titles === undefined) return {}
  const names = [dimensions.includes('chat') ? undefined : titles.chat, titles.topic ?? titles.topicBegan]
  const place = names.filter((name) => name !== undefined).join(' › ')
  return place === '' ? {} : { place }
}

/**
 * Returns the name of a message. A platform counts message ids in each chat separately, so where a session joins
 * several chats, the chat is part of the name.
 */
export function messageName(
  { messageId, address }: { readonly messageId: string; readonly address: Address },
  { scope }: Pick<Route, 'scope'>,
): Required<Pick<MessageName, 'messageId'>> & MessageName {
  if (scope.dimensions.includes('chat')) return { messageId }
  const { topic: _topic, ...chat } = address
  return { messageId, chat: formatAddress(chat) }
}

/** Returns the name that the log of its session has for a message; undefined for a row of none. */
export function nameOfRow({
  dispatch: { event },
  decision,
}: Pick<InboxRow, 'dispatch' | 'decision'>): ReturnType<typeof messageName> | undefined {
  return 'messageId' in event && 'route' in decision ? messageName(event, decision.route) : undefined
}

function textOf({ event }: Dispatch): InboundText {
  if (event.kind === 'message' || event.kind === 'command' || event.kind === 'edit') return event
  throw new ParleyError('internal', `a ${event.kind} event cannot be a user message`)
}
