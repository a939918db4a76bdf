import type { Session } from '../../core/session.ts'
import { mainAlias } from '../../core/session-alias.ts'
import type { SessionCaller } from '../../core/session-tools.ts'
import type { SessionReader } from '../../store/session-port.ts'
import { type ChatOwners, isFormerName } from '../turns/parted-chat.ts'

const MAIN = 'main'

/** Returns the key a session is shown by: an agent's own main session is `main` to it, whatever its scope (T2, T6). */
export function shownKey({ kind, displayKey, agentId }: Session, { turn }: SessionCaller): string {
  return kind === MAIN && agentId === turn?.agentId ? MAIN : displayKey
}

/** Returns the session that a name means to the caller: `main` is the main session of the asking agent. */
export async function sessionNamed(
  sessions: Pick<SessionReader, 'resolve'>,
  name: string,
  { turn }: SessionCaller,
  owners: ChatOwners,
): Promise<Session | undefined> {
  if (turn === undefined || name.trim().toLowerCase() !== MAIN) {
    const session = await sessions.resolve(name)
    return session && isFormerName(name, session, owners) ? undefined : session
  }
  const found = (await sessions.resolve(mainAlias(turn.agentId))) ?? (await sessions.resolve(MAIN))
  return found?.agentId === turn.agentId ? found : undefined
}
