import { randomUUID } from 'node:crypto'
import type { Address } from '../../core/address.ts'
import type { Caller } from '../../core/caller.ts'
import type { Channels } from '../../core/channel-traits.ts'
import { ParleyError } from '../../core/errors.ts'
import { type AgentId, toSessionId } from '../../core/ids.ts'
import { joinsPeople } from '../../core/joins-people.ts'
import type { StartRequest } from '../../core/operate-sessions.ts'
import type { SessionIdentity } from '../../core/session.ts'
import type { Store } from '../../store/store.ts'
import { type OpenPorts, openSession } from '../turns/open-session.ts'
import type { Opening } from '../turns/session-draft.ts'
import { ownPrefix } from './find-session.ts'
import { ownAddress } from './own-address.ts'
import { isOwner, noSuchSession } from './session-access.ts'
import { namedAgent, readStart, type StartRules } from './start-request.ts'

export interface SessionStartDeps {
  readonly store: Store
  readonly channels: Channels
  /** Absent where the store was opened without a daemon. */
  readonly daemon?: Omit<OpenPorts, 'channels'> & {
    readonly models: StartRules
    place(address: Address, agent?: AgentId): Opening
  }
}

const OWN_NAME = /^(cli|web|api):./

/**
 * Begins a session of a client with an agent of its own, in one commit (C1, C2). Throws `conflict` where there is one
 * of that name, however it began (C3), and `invalid` for an agent, a model or tools that it cannot have.
 */
export async function startSessionOf(
  caller: Caller,
  request: StartRequest,
  { store, channels, daemon }: SessionStartDeps,
): Promise<SessionIdentity> {
  const name = request.name ?? `${ownPrefix(caller)}:${randomUUID()}`
  if (isOwner(caller) && !OWN_NAME.test(name))
    throw new ParleyError('invalid', 'A session of a program is called api:<name>, cli:<name> or web:<name>.')
  const address = ownAddress(caller, name)
  if (!daemon) throw new ParleyError('unavailable', 'No daemon is running; "parley start" opens sessions.')
  if (!isOwner(caller) && request.model !== undefined)
    throw new ParleyError('forbidden', 'Only an owner may choose the model of a session.')
  const opening = daemon.place(address, namedAgent(daemon.models, request.agent))
  const start = readStart(daemon.models, opening.route.agent, request)
  const shared = joinsPeople(channels, opening.route)
  if (shared && !isOwner(caller)) throw noSuchSession(name)
  if (shared)
    throw new ParleyError('conflict', `${name} is a conversation that others share; it has the agent of all of them.`)
  return store.write(async (tx) => {
    const made = request.once && (await tx.keyedRequests.effect(request.once))
    const again = made === undefined ? undefined : await tx.sessions.get(toSessionId(made))
    if (again) return again
    const known = (await tx.sessions.resolve(name)) ?? (await tx.sessions.current(opening.route.scopeKey))
    if (known) throw new ParleyError('conflict', `There is a session ${name} already.`)
    const session = await openSession(tx, { ...opening, start }, { ...daemon, channels })
    // Its variables are shown to the model of whoever speaks there later.
    if (caller.kind === 'token' && start.context !== undefined) await tx.authors.add(session.id, caller.namespace)
    if (request.once) await tx.keyedRequests.took(request.once, session.id)
    return session
  })
}
