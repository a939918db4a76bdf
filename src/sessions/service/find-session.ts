import type { Caller } from '../../core/caller.ts'
import { OWN_CHANNELS } from '../../core/channel-traits.ts'
import { isOwnChannel, type Session } from '../../core/session.ts'
import type { SessionReader } from '../../store/session-port.ts'
import type { StoreReader } from '../../store/store.ts'
import { type ChatOwners, isFormerName } from '../turns/parted-chat.ts'
import { addressOf } from './address-of.ts'
import { type AccessPorts, isOwner, noSuchSession, reaches } from './session-access.ts'

export interface FindDeps extends AccessPorts {
  readonly read: AccessPorts['read'] & Pick<StoreReader, 'sessions'>
  /** Absent where the store was opened without a daemon. */
  readonly daemon?: Pick<ChatOwners, 'whoIs'>
}

/** Returns the session of a name. Throws `not_found` for one that the caller may not see, as for none. */
export async function findSession(caller: Caller, name: string, deps: FindDeps): Promise<Session> {
  const session = await namedSession(caller, name, deps)
  if (!session || !(await reaches(caller, session, deps))) throw noSuchSession(name)
  return session
}

/** Returns the session of a name, unless that is another person's by now. */
export async function namedSession(
  caller: Caller,
  asked: string,
  { read, daemon, mainIsShared }: FindDeps,
): Promise<Session | undefined> {
  const name = wholeName(caller, asked)
  const session = await read.sessions.resolve(name)
  if (!session || !daemon) return session
  return isFormerName(name, session, { whoIs: daemon.whoIs, mainIsShared }) ? undefined : session
}

/**
 * Returns the session in which something is said or done that is meant for this name. Throws `not_found` as
 * `findSession` does. Somebody who does not reach the one in use continues where they were.
 */
export async function findInUse(caller: Caller, name: string, deps: FindDeps): Promise<Session> {
  const session = await findSession(caller, name, deps)
  const used = await sessionInUse(session, deps.read.sessions)
  return (await reaches(caller, used, deps)) ? used : session
}

/**
 * Returns the session that is used in the conversation of a client's name: the one of that id ended if it was moved, or
 * if another was moved or forked to it. Any other session is meant itself.
 */
export async function sessionInUse(session: Session, sessions: Pick<SessionReader, 'current'>): Promise<Session> {
  return isNamedByClient(session) ? ((await sessions.current(session.scopeKey)) ?? session) : session
}

/** Returns the same by the name alone, for somebody who is known to reach it. */
export async function namedInUse(
  caller: Caller,
  name: string,
  sessions: Pick<SessionReader, 'resolve' | 'current'>,
): Promise<Session | undefined> {
  const named = await sessions.resolve(wholeName(caller, name))
  return named && sessionInUse(named, sessions)
}

function isNamedByClient(session: Session): boolean {
  const { channel, chat } = addressOf(session)
  return isOwnChannel(session) && session.id === `${channel}:${chat}`
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Returns the id of a session that this caller created, for its UUID; any other name as it is. */
export function wholeName(caller: Caller, name: string): string {
  return UUID.test(name) ? `${ownPrefix(caller)}:${name.toLowerCase()}` : name
}

/** Returns what the ids of sessions that a caller creates begin with. */
export function ownPrefix(caller: Caller): string {
  return caller.kind === 'token' ? caller.namespace : 'api'
}

/** Returns true if the caller may begin sessions: an owner, or a token of one of our own channels. */
export function mayCreate(caller: Caller): boolean {
  const [channel] = ownPrefix(caller).split(':')
  return isOwner(caller) || (caller.kind === 'token' && OWN_CHANNELS.some((own) => own === channel))
}
