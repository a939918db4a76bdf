import { type Caller, inNamespace } from '../../core/caller.ts'
import { ParleyError } from '../../core/errors.ts'
import type { PersonId } from '../../core/ids.ts'
import { personAuthor } from '../../core/platform-id.ts'
import type { Session } from '../../core/session.ts'
import type { SessionQuery } from '../../store/session-port.ts'
import type { StoreReader } from '../../store/store.ts'

export interface AccessPorts {
  readonly read: Pick<StoreReader, 'participants'>
  /** The platform ids of a person as things are now: a link or its end counts at once (S19). */
  platformIds(person: PersonId): Promise<readonly string[]>
}

/** An owner, by whatever door: may read every session without becoming a participant (S21). */
export function isOwner(caller: Caller): boolean {
  return caller.kind === 'operator' || (caller.kind === 'person' && caller.role === 'owner')
}

/**
 * Whether a session exists for a caller. For everybody else it does not: the answer is the same as for a name that was
 * never given (S20, S42).
 */
export async function reaches(caller: Caller, session: Session, ports: AccessPorts): Promise<boolean> {
  if (isOwner(caller)) return true
  if (caller.kind === 'token') return inNamespace(caller.namespace, session.id)
  const names = await namesOf(caller, ports)
  if (names.length === 0) return false
  return (await ports.read.participants.of(session.id)).some((participant) => names.includes(participant))
}

/** What a list must be asked with so that it holds nothing else: the store drops the rest, not the caller (S42). */
export async function reachedBy(
  caller: Caller,
  ports: AccessPorts,
): Promise<Pick<SessionQuery, 'namespace' | 'participants'>> {
  if (isOwner(caller)) return {}
  return caller.kind === 'token' ? { namespace: caller.namespace } : { participants: await namesOf(caller, ports) }
}

/** The one answer to a name that is not there and to one that is not yours. */
export function noSuchSession(name: string): ParleyError {
  return new ParleyError('not_found', `There is no session ${name}.`)
}

/** Somebody we do not know as a person took part in nothing. */
async function namesOf(caller: Caller, { platformIds }: AccessPorts): Promise<readonly string[]> {
  if (caller.kind !== 'person' || caller.person === undefined) return []
  return [personAuthor(caller.person), ...(await platformIds(caller.person))]
}
