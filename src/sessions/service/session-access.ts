import { type Caller, holdsSession } from '../../core/caller.ts'
import { ParleyError } from '../../core/errors.ts'
import type { PersonId } from '../../core/ids.ts'
import { joinsChannels } from '../../core/joins-people.ts'
import { personAuthor } from '../../core/platform-id.ts'
import type { Session } from '../../core/session.ts'
import type { SessionQuery } from '../../store/session-port.ts'
import type { StoreReader } from '../../store/store.ts'

export interface AccessPorts {
  readonly read: Pick<StoreReader, 'participants'>
  /** Returns the present platform ids of a person: a link or its end counts at once (S19). */
  platformIds(person: PersonId): Promise<readonly string[]>
  /** Returns true if the main session is that of everybody, and not the owner's. */
  mainIsShared(): boolean
}

/** Returns true for an owner, by any entrance: one may read every session without becoming a participant (S21). */
export function isOwner(caller: Caller): boolean {
  return caller.kind === 'operator' || (caller.kind === 'person' && caller.role === 'owner')
}

/**
 * Returns true if the session exists for the caller. For everybody else the answer is the same as for an unknown name
 * (S20, S42).
 */
export async function reaches(
  caller: Caller,
  session: Pick<Session, 'id' | 'scope' | 'kind' | 'displayKey'>,
  ports: AccessPorts,
): Promise<boolean> {
  if (isOwner(caller)) return true
  // The ids of older sessions that join channels begin with one of them.
  if (caller.kind === 'token') return holdsSession(caller.namespace, session.id) && !joinsChannels(session)
  // An id that was an owner's for a while took part in it for the owner.
  if (session.kind === 'main' && !ports.mainIsShared()) return false
  const names = await namesOf(caller, ports)
  if (names.length === 0 || followsAnother(session, caller, names)) return false
  return (await ports.read.participants.of(session.id)).some((participant) => names.includes(participant))
}

/**
 * Returns true if a session follows somebody else over their chats. An id that was theirs and is the caller's by now
 * took part in it for them.
 */
function followsAnother(
  { scope: { values } }: Pick<Session, 'scope'>,
  caller: Caller,
  names: readonly string[],
): boolean {
  const whose = values.chat === undefined ? values.sender?.toLowerCase() : undefined
  if (whose === undefined || caller.kind !== 'person') return false
  const own = [caller.person, ...names, ...names.map((name) => name.slice(name.indexOf(':') + 1))]
  return !own.some((name) => name?.toLowerCase() === whose)
}

/** Returns the query of a list that the caller may see: the store leaves out the rest, not the caller (S42). */
export async function reachedBy(
  caller: Caller,
  ports: AccessPorts,
): Promise<Pick<SessionQuery, 'namespace' | 'participants'>> {
  if (isOwner(caller)) return {}
  return caller.kind === 'token' ? { namespace: caller.namespace } : { participants: await namesOf(caller, ports) }
}

/** Returns the one error for a session that does not exist and for one of somebody else. */
export function noSuchSession(name: string): ParleyError {
  return new ParleyError('not_found', `There is no session ${name}.`)
}

/** A caller who is not known as a person took part in nothing. */
async function namesOf(caller: Caller, { platformIds }: AccessPorts): Promise<readonly string[]> {
  if (caller.kind !== 'person' || caller.person === undefined) return []
  return [personAuthor(caller.person), ...(await platformIds(caller.person))]
}
