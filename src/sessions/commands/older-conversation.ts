import type { CommandCall } from '../../core/command.ts'
import type { Session } from '../../core/session.ts'
import { sessionAliases } from '../../core/session-alias.ts'
import type { StoreWriter } from '../../store/store.ts'
import { type OpenPorts, openSession } from '../turns/open-session.ts'
import { olderSession } from '../turns/take-over.ts'

/**
 * Returns the session of the place in which a command is said. An older conversation is taken over at once, as the next
 * message would do: else what a command ends or forgets would come with that message (K27).
 */
export async function sessionWithOlder(
  tx: StoreWriter,
  { dispatch, decision }: Pick<CommandCall, 'dispatch' | 'decision'>,
  ports: OpenPorts,
): Promise<Session | undefined> {
  const { route, identity } = decision
  const current = await tx.sessions.current(route.scopeKey)
  if (current !== undefined) return current
  const names = sessionAliases(ports.channels, { route, event: dispatch.event, person: identity.person })
  if (!(await olderSession(tx, route, names))) return undefined
  const { id } = await openSession(tx, { ...decision, dispatch }, ports)
  return tx.sessions.get(id)
}
