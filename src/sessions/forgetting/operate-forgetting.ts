import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import type { Address } from '../../core/address.ts'
import { type Channels, foldId } from '../../core/channel-traits.ts'
import { movedAddress } from '../../core/chat-move.ts'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { ForgetReceipt, ForgetSubject, ForgottenPlace } from '../../core/forgetting.ts'
import { scheduleSessionId, toAccountId, toScheduleId } from '../../core/ids.ts'
import { machineZone } from '../../core/machine-zone.ts'
import type { MessageLink } from '../../core/message-link.ts'
import type { ForgetRequest, ForgettingOperator } from '../../core/operate-forgetting.ts'
import { isOwnChannel, isScheduled, type Session } from '../../core/session.ts'
import { normalName } from '../../core/session-alias.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreReader } from '../../store/store.ts'
import { readSince } from './asked-words.ts'
import type { ForgettingService } from './forgetting.ts'
import { personSubject, type SubjectPorts } from './named-person.ts'
import { chatOf, liesIn } from './origin.ts'
import { placeOf } from './read-subject.ts'

export interface OperateForgettingDeps extends SubjectPorts {
  readonly clock: Clock
  readonly forgetting: ForgettingService
  readonly retention: Pick<ForgettingOperator, 'retention' | 'runRetention'>
  findMessages(this: void, asked: string | MessageLink): Promise<readonly InboxRow[]>
  readLink(this: void, text: string): MessageLink | null
}

/** Rows between two pauses: some milliseconds. */
const PAGE = 100

/** Returns forgetting as the operator has it done: of anybody, anywhere. */
export function operateForgetting(deps: OperateForgettingDeps): ForgettingOperator {
  const { clock, forgetting } = deps
  const { retention, runRetention } = deps.retention
  return {
    async forget(request) {
      const now = clock.now()
      const since = request.since === undefined ? {} : { since: readSince(request.since, { now, zone: machineZone() }) }
      // If the clock was set back, what was said has a later time.
      const before = Math.max(now, (await deps.store.read.forgetting.latestTime()) + 1)
      const target = { ...(await subjectOf(request, deps)), before, ...since }
      const done = request.confirmed
        ? forgetting.forget(`operator ${randomUUID()}`, target)
        : forgetting.preview(target)
      return { ...(await done), ...whose(target) }
    },
    ...{ retention, runRetention },
  }
}

function whose(subject: ForgetSubject): Pick<ForgetReceipt, 'whose'> {
  if (subject.kind !== 'person') return {}
  const { ids, person } = subject
  return { whose: { ids, ...(person === undefined ? {} : { person }) } }
}

async function subjectOf({ kind, name }: ForgetRequest, deps: OperateForgettingDeps): Promise<ForgetSubject> {
  switch (kind) {
    case 'person':
      return personSubject(deps, name)
    case 'chat':
      return chatNamed(deps, name)
    case 'message': {
      const rows = await deps.findMessages(deps.readLink(name) ?? name)
      if (rows.length === 0) throw new ParleyError('not_found', `There is no message ${name}.`)
      const chats = new Set(rows.map(({ dispatch: { event } }) => `${event.address.channel} ${event.address.chat}`))
      if (chats.size > 1)
        throw new ParleyError(
          'invalid',
          `Several chats have a message ${name}; give its link, or its trace id from parley why.`,
        )
      return { kind, rows: rows.map(({ id }) => id) }
    }
  }
}

async function chatNamed({ store: { read }, channels }: OperateForgettingDeps, name: string): Promise<ForgetSubject> {
  const session = await read.sessions.resolve(name)
  const place = chatIn(name, channels)
  if (session === undefined) {
    // Everything in a chat may be in sessions of its topics and threads, or in one that joins chats.
    const received = place && (await receivedIn(read, place, channels))
    if (received) return received
    throw new ParleyError('not_found', `There is no conversation ${name}.`)
  }
  const { chat, sender } = session.scope.values
  const named = wholeNamed(session, name)
  const isChats = chat !== undefined && (sender === undefined || session.chatType === 'direct')
  if (isChats && named !== 'id') return { kind: 'chat', place: placeOf(chatOf(session)), session: session.id }
  // Its address may be that of the chat in which something was said last, or to which a schedule delivers: others have
  // spoken there, or it joins several. So its log is meant, or the one chat by which it was named.
  if (named !== undefined) return sessionSubject(read, session, named)
  if (place !== undefined && isOneOf(place, session, channels))
    return (await receivedIn(read, place, channels)) ?? { kind: 'chat', place }
  const all = `${session.displayKey} joins several chats, and ${name.trim()} does not say which is meant`
  throw new ParleyError('invalid', `${all}: say /forget chat there, or name ${session.displayKey} for all of them.`)
}

/**
 * Returns a chat from which something was received, with its id as the platform spells it: names are compared without
 * case where ids have none.
 */
async function receivedIn(
  { forgetting, chatMoves }: Pick<StoreReader, 'forgetting' | 'chatMoves'>,
  place: ForgottenPlace,
  { traits }: Channels,
): Promise<ForgetSubject | undefined> {
  const { ids } = traits(place.channel)
  const moves = await chatMoves.all()
  for (let after = 0; ; await setImmediate()) {
    const rows = await forgetting.receivedAfter(after, PAGE)
    const there = rows
      .map(({ dispatch: { event } }) => moves.reduce(movedAddress, event.address))
      .find((address) => liesIn(place, { ...address, chat: foldId(ids, address.chat) }))
    if (there !== undefined) return { kind: 'chat', place: ofAllBots({ ...place, chat: there.chat }, there) }
    const last = rows.at(-1)
    if (last === undefined) return undefined
    after = last.no
  }
}

/** A name may be that of a chat by one bot, as its sessions have; a group is the same chat by any. */
function ofAllBots({ account, ...place }: ForgottenPlace, { chatType }: Address): ForgottenPlace {
  return chatType === 'direct' && account !== undefined ? { ...place, account } : place
}

/** Returns whether a name is that of a session as a whole, its key or its id; undefined: it is another of its names. */
function wholeNamed(session: Session, name: string): 'key' | 'id' | undefined {
  const { id, displayKey, scopeKey, agentId } = session
  const normal = normalName(name)
  const keys = [displayKey, `agent:${agentId}:${displayKey}`, scopeKey, firstIdOf(session)]
  if (keys.some((key) => key !== undefined && normalName(key) === normal)) return 'key'
  return normalName(id) === normal ? 'id' : undefined
}

/** The first session of a schedule, or of a client's name, has an id that says as much as the key. */
function firstIdOf({ displayKey, metadata, source, ...session }: Session): string | undefined {
  if (isScheduled({ source })) return scheduleSessionId(toScheduleId(displayKey.slice('cron:'.length)))
  return isOwnChannel({ source }) ? `${session.scope.channel}:${metadata.chat_id}` : undefined
}

/** More than a conversation ever begins. */
const MOST_OF_KEY = 10_000

/** A key means all the sessions that had it in turn, as after `/new`, an id the one. */
async function sessionSubject(
  { sessions }: Pick<StoreReader, 'sessions'>,
  session: Session,
  named: 'key' | 'id',
): Promise<ForgetSubject> {
  const { id, scopeKey, createdAt, inactiveAt = Number.MAX_SAFE_INTEGER } = session
  if (named === 'id')
    return { kind: 'session', sessions: [id], commands: { scopeKey, since: createdAt, before: inactiveAt } }
  const all = await sessions.ofScope(session, MOST_OF_KEY)
  const commands = { scopeKey, since: 0, before: Number.MAX_SAFE_INTEGER }
  return { kind: 'session', sessions: all.map((one) => one.id), commands }
}

/** The forms of an address and of the aliases of a direct chat: `agent:main:telegram:default:direct:111`. */
const CHAT_NAME =
  /^(?:(?<agent>agent:[^:]+:))?(?<channel>[a-z][a-z0-9_-]*)(?:@(?<at>[^:]+)|:(?<of>(?!direct:|group:|channel:)[^:]+))?:(?:direct|group|channel):(?<chat>[^/]+)(?:\/(?<topic>.+))?$/

/** Returns the chat that a name means; undefined where it names none. */
function chatIn(name: string, { ids, caseSensitive }: Channels): ForgottenPlace | undefined {
  const {
    agent,
    channel = '',
    at,
    of,
    chat = '',
    topic,
  } = CHAT_NAME.exec(normalName(name, caseSensitive))?.groups ?? {}
  if (!ids.includes(channel)) return undefined
  // An alias without an account means the chat by whichever bot.
  const account = at ?? of ?? (agent === undefined ? '' : undefined)
  return {
    ...{ channel, chat },
    ...(account === undefined ? {} : { account: toAccountId(account) }),
    ...(topic === undefined ? {} : { topic }),
  }
}

/** The id of a person is no chat everywhere, and the name of one is none anywhere. */
function isOneOf({ channel, chat }: ForgottenPlace, { metadata }: Session, { traits }: Channels): boolean {
  const { ids } = traits(channel)
  const { directChatIsPerson, form } = ids
  const isLast = channel === metadata.channel && chat === foldId(ids, metadata.chat_id ?? '')
  return isLast || (directChatIsPerson && form?.test(chat) === true)
}
