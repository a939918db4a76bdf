import type { Address } from '../../core/address.ts'
import { senderAuthor } from '../../core/author.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { CommandCall } from '../../core/command.ts'
import type { Identity } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import type { ForgetSubject, ForgetTarget, ForgottenPlace } from '../../core/forgetting.ts'
import type { ChannelId, InboxId, PersonId } from '../../core/ids.ts'
import { joinsPeople } from '../../core/joins-people.ts'
import { type InboundEvent, repliedTo } from '../../core/message.ts'
import type { MessageLink } from '../../core/message-link.ts'
import { type AuthorId, foldPlatformId, isShared, isWellFormedId, NOBODY } from '../../core/platform-id.ts'
import type { InboxRow, Store } from '../../store/store.ts'
import { type AskedWords, FORMS, NO_SPAN, readWords } from './asked-words.ts'

export interface SubjectPorts {
  readonly store: Pick<Store, 'read'>
  readonly channels: Channels
  /** Returns all ids of a person, as participants are written. */
  idsOf(this: void, person: PersonId): Promise<readonly string[]>
  /** Returns the present identity of a platform id. */
  whoIs(this: void, platformId: string): Identity
}

/** Returns a person by name or by one of their ids. Throws `not_found`. */
export async function personSubject(
  { store, channels, idsOf, whoIs }: SubjectPorts,
  asked: string,
  at?: ChannelId,
): Promise<Extract<ForgetSubject, { kind: 'person' }>> {
  const named = asked.trim()
  const ids = at === undefined ? [] : await mentioned({ store, channels }, named, at)
  if (ids.length === 1) return personSubject({ store, channels, idsOf, whoIs }, ids[0] ?? '')
  if (/^[a-z][a-z0-9_-]*:./i.test(named)) {
    const id = foldPlatformId(channels, named)
    const { person } = whoIs(id)
    if (person === undefined) refuseNobodys(channels, id)
    return person === undefined ? { kind: 'person', ids: [id] } : ofPerson(person, [id], idsOf)
  }
  const name = named.replace(/^@/, '').toLowerCase() as PersonId
  const known = await idsOf(name)
  if (known.length > 0) return ofPerson(name, [], idsOf)
  const found = named.startsWith('@') ? await withUsername(store, channels, name) : []
  if (found.length === 1) return { kind: 'person', ids: found }
  const why = found.length > 1 ? 'Several people have that name' : 'I know nobody of that name'
  throw new ParleyError('not_found', `${why}; give me their id as \`<channel>:<id>\`, which \`/why trace\` shows.`)
}

/** Throws `invalid` for an id under which no words of a person are on record: "nothing is left" would be no answer. */
function refuseNobodys({ platforms, traits }: Channels, named: string): void {
  const [channel = '', ...rest] = named.split(':')
  const id = rest.join(':')
  if (!platforms.includes(channel)) return
  const { ids } = traits(channel)
  if (/^(?:direct|group|channel):./.test(id) || ids.groupForm?.test(id))
    throw new ParleyError(
      'invalid',
      `${named} is a chat and no person: \`/forget chat\` there means it, and ${BY_NAME}.`,
    )
  if (isShared(ids, id))
    throw new ParleyError('invalid', `${named} stands for many people: give me the message, by a reply or its link.`)
  if (!isWellFormedId(ids, id)) throw new ParleyError('invalid', `${named} can be nobody's id.`)
}

const BY_NAME = '`parley forget chat <name>` on my machine'

async function ofPerson(
  person: PersonId,
  more: readonly AuthorId[],
  idsOf: SubjectPorts['idsOf'],
): Promise<Extract<ForgetSubject, { kind: 'person' }>> {
  return { kind: 'person', person, ids: [...new Set([...more, ...(await idsOf(person))])] }
}

/** Messages that are looked through for a name. */
const LOOKED_THROUGH = 1_000

/** A name is the platform's for people: it is looked up once, and the id counts from then on. */
async function withUsername(
  { read }: Pick<Store, 'read'>,
  channels: Channels,
  name: string,
): Promise<readonly AuthorId[]> {
  return sendersWho(read, channels, ({ sender }) => sender.username?.toLowerCase() === name)
}

/** The form of a mention on platforms that write the id of the person. */
const MENTION = /^<@!?(?<id>[A-Z0-9]+)(?:\|[^>]*)?>$/i

/** Returns who is mentioned. Where an id is one of a team, it is that of whoever has spoken here by it. */
async function mentioned(
  { store: { read }, channels }: Pick<SubjectPorts, 'store' | 'channels'>,
  named: string,
  channel: ChannelId,
): Promise<readonly AuthorId[]> {
  const { id } = MENTION.exec(named)?.groups ?? {}
  if (id === undefined) return []
  if (!channels.traits(channel).ids.ofTeams) return [foldPlatformId(channels, `${channel}:${id}`)]
  return sendersWho(read, channels, ({ sender, address }) => address.channel === channel && sender.id === id)
}

async function sendersWho(
  { inbox }: Store['read'],
  channels: Channels,
  isMeant: (event: InboundEvent) => boolean,
): Promise<readonly AuthorId[]> {
  const rows = await inbox.recent(LOOKED_THROUGH)
  const events = rows.map(({ dispatch: { event } }) => event).filter(isMeant)
  const ids = events.map((event) => senderAuthor(channels, event.address.channel, event.sender))
  return [...new Set(ids)].filter((id) => id !== NOBODY)
}

/** Returns the chat of an address, with its topic. */
export function placeOf({ channel, account, chat, topic }: Address): ForgottenPlace {
  return { channel, account, chat, ...(topic === undefined ? {} : { topic }) }
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
  if (await isMistypedSpan(named, ports)) throw new ParleyError('invalid', NO_SPAN)
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
    (row) => row.outcome !== 'forgotten' && isOwn(row, self, call, ports),
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

/** Nobody is called `2x`, unless the configuration says so. */
async function isMistypedSpan(named: string, { idsOf }: SubjectPorts): Promise<boolean> {
  return /^\d+\s*\p{L}+$/u.test(named) && (await idsOf(named.toLowerCase() as PersonId)).length === 0
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
  const left = (await ports.findMessages(link)).filter(({ outcome }) => outcome !== 'forgotten')
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
