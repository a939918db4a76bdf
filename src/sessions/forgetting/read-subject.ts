import type { Address } from '../../core/address.ts'
import { senderAuthor } from '../../core/author.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { CommandCall } from '../../core/command.ts'
import { ParleyError } from '../../core/errors.ts'
import type { ForgetSubject, ForgetTarget, ForgottenPlace } from '../../core/forgetting.ts'
import type { InboxId, PersonId } from '../../core/ids.ts'
import { joinsPeople } from '../../core/joins-people.ts'
import { repliedTo } from '../../core/message.ts'
import type { MessageLink } from '../../core/message-link.ts'
import { type AuthorId, NOBODY } from '../../core/platform-id.ts'
import { isEmptied } from '../../core/turn-end.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import { type AskedWords, FORMS, NO_SPAN, readWords } from './asked-words.ts'
import { ofPerson, personSubject, type SubjectPorts } from './named-person.ts'

/**
 * Returns the chat of an address, with its topic. A message of a group is one, whichever of our bots receive it; a
 * direct chat is with one of them.
 */
export function placeOf({ channel, account, chatType, chat, topic }: Address): ForgottenPlace {
  const bot = chatType === 'direct' ? { account } : {}
  return { channel, ...bot, chat, ...(topic === undefined ? {} : { topic }) }
}

/** Returns the conversation in which somebody asks: in the General topic of a forum it is that topic. */
function placeHere({ dispatch: { event } }: CommandCall): ForgottenPlace {
  const beside = event.kind === 'command' && event.besideTopics === true
  return { ...placeOf(event.address), ...(beside ? { root: true } : {}) }
}

export interface ChatSubjectPorts extends SubjectPorts {
  readonly findMessages: (named: string | MessageLink) => Promise<readonly InboxRow[]>
  /** Returns the last message of a chat that is meant, of those that came before `until`. */
  readonly lastMessage: (
    place: { readonly address: Address; readonly until: InboxId },
    isMeant: (row: InboxRow) => boolean,
  ) => Promise<InboxRow | undefined>
  readLink(this: void, text: string): MessageLink | null
  /** Returns the zone in which a person writes times. */
  zoneOf(this: void, person: PersonId | undefined): string
}

/**
 * Returns the subject that somebody in a chat means. Everybody may have their own messages forgotten, an owner
 * anything. Throws `forbidden` and `not_found`.
 */
export async function subjectOf(call: CommandCall, ports: ChatSubjectPorts): Promise<ForgetTarget & AskedWords> {
  const { receivedAt, event } = call.dispatch
  const zone = ports.zoneOf(call.decision.identity.person)
  const words = readWords(call.args, { now: receivedAt, zone })
  const self = senderAuthor(ports.channels, event.address.channel, event.sender)
  if (self === NOBODY)
    throw new ParleyError('forbidden', 'I cannot tell who you are here, so I forget nothing for you.')
  // The request itself goes too: it may name or quote what is forgotten. If the clock was set back since, what came
  // before it has a later time.
  const latest = Math.max(receivedAt, await ports.store.read.forgetting.latestTime(call.inboxId))
  return { ...(await namedSubject(words, { call, ports, self })), ...words, before: latest + 1 }
}

interface Asking {
  readonly call: CommandCall
  readonly ports: ChatSubjectPorts
  readonly self: AuthorId
}

async function namedSubject(words: AskedWords, asking: Asking): Promise<ForgetSubject> {
  const { named, here } = words
  const { call, ports } = asking
  const place = here ? { place: placeHere(call) } : {}
  switch (named.toLowerCase()) {
    case '':
      return unnamedSubject(words, asking)
    case 'last':
      return lastSubject(asking)
    case 'me':
      return { ...(await ownSubject(asking)), ...place }
    case 'chat':
    case 'here':
      return chatSubject(asking)
  }
  if (isMessageName(named, ports)) return messageSubject(asking, named)
  if ((await ports.idsOf(named.toLowerCase() as PersonId)).length === 0) refuseNoName(named)
  if (call.decision.identity.role === 'owner') {
    const { channel } = call.dispatch.event.address
    return { ...(await personSubject(ports, named, channel)), ...place }
  }
  throw new ParleyError(
    'forbidden',
    'Only my owner may have somebody else forgotten; `/forget me` is for your own words.',
  )
}

/** Without a name it is the message that was replied to, else a span: of the chat for an owner, of one's own words. */
async function unnamedSubject({ since }: AskedWords, asking: Asking): Promise<ForgetSubject> {
  const { call } = asking
  const { event } = call.dispatch
  const replied = 'text' in event ? repliedTo(event) : undefined
  if (replied !== undefined) return messageSubject(asking, replied)
  if (since === undefined) throw new ParleyError('invalid', FORMS)
  if (call.decision.identity.role === 'owner') return chatSubject(asking)
  return { ...(await ownSubject(asking)), place: placeHere(call) }
}

async function ownSubject({ call, ports, self }: Asking): Promise<Extract<ForgetSubject, { kind: 'person' }>> {
  const { person } = call.decision.identity
  return person === undefined ? { kind: 'person', ids: [self] } : ofPerson(person, [self], ports.idsOf)
}

async function lastSubject({ call, ports, self }: Asking): Promise<ForgetSubject> {
  const { address } = call.dispatch.event
  const last = await ports.lastMessage(
    { address, until: call.inboxId },
    (row) => !isEmptied(row.outcome) && isOwn(row, self, call, ports),
  )
  if (last === undefined) throw new ParleyError('not_found', 'You have said nothing here that I still know.')
  return { kind: 'message', rows: [last.id] }
}

function chatSubject({ call, ports }: Asking): ForgetSubject {
  if (call.decision.identity.role !== 'owner' && !isAlone(call, ports.channels))
    throw new ParleyError(
      'forbidden',
      'Others speak here too: only my owner may have this chat forgotten. `/forget me here` is for your own words.',
    )
  return { kind: 'chat', place: placeHere(call) }
}

/** Ids of messages are numbers or long, and links are addresses; names of people are neither. */
function isMessageName(named: string, { readLink }: ChatSubjectPorts): boolean {
  return readLink(named) !== null || /^[\d.]+$/.test(named) || isOwnName(named)
}

/** The names that the daemon gives: each is one message, wherever it was said. */
function isOwnName(named: string): boolean {
  return /^(in|tr)_/.test(named)
}

/** Throws `invalid` for words by which nobody is called, unless the configuration says so. */
function refuseNoName(named: string): void {
  if (/^\d+\s*\p{L}+$/u.test(named)) throw new ParleyError('invalid', NO_SPAN)
  if (/^[^@].*\s|^(all|everything|this|that|it|message|help)$/i.test(named)) throw new ParleyError('invalid', FORMS)
}

function isAlone({ dispatch, decision }: CommandCall, channels: Channels): boolean {
  return dispatch.event.address.chatType === 'direct' && !joinsPeople(channels, decision.route)
}

const NOT_HERE = 'That message is not on record here: nothing was removed.'

/** A number is one of this chat alone: another chat may have a message of the same number. */
async function messageSubject(
  { call, ports, self }: Asking,
  named: string,
): Promise<Extract<ForgetSubject, { kind: 'message' }>> {
  const { channel, account, chat } = call.dispatch.event.address
  const owner = call.decision.identity.role === 'owner'
  const link = isOwnName(named) ? named : (ports.readLink(named) ?? { channel, account, chat, messageId: named })
  // Others may have deleted it, or have reacted to it.
  const left = (await ports.findMessages(link)).filter(
    ({ id, outcome, dispatch: { event } }) => id !== call.inboxId && outcome !== 'forgotten' && 'text' in event,
  )
  const said = left.filter(({ decision }) => decision.kind !== 'control')
  // A command is words of somebody as well, with what it has made.
  const found = said.length > 0 ? said : left
  // Nobody learns here which messages there are in chats that they are not in.
  const isHere = ({ dispatch: { event } }: InboxRow): boolean =>
    event.address.channel === channel && event.address.chat === chat
  if (!found.some((row) => owner || isHere(row) || isOwn(row, self, call, ports))) {
    const elsewhere = owner && named === call.args.trim() ? ' One of another chat I forget by its link.' : ''
    throw new ParleyError('not_found', `${NOT_HERE}${elsewhere}`)
  }
  if (!owner && !found.every((row) => isOwn(row, self, call, ports)))
    throw new ParleyError(
      'forbidden',
      'That message is not yours: only who wrote it and my owner may have it forgotten.',
    )
  return { kind: 'message', rows: found.map(({ id }) => id) }
}

function isOwn(
  { dispatch, decision }: InboxRow,
  self: AuthorId,
  { decision: { identity } }: CommandCall,
  { channels, whoIs }: SubjectPorts,
): boolean {
  const author = senderAuthor(channels, dispatch.event.address.channel, dispatch.event.sender)
  if (author === self) return true
  // An id that was theirs for a while may be somebody else's today.
  const ofPlatform = dispatch.origin === 'platform' && author !== NOBODY
  const { person } = ofPlatform ? whoIs(author) : decision.identity
  return person !== undefined && person === identity.person
}
