import type { AgentProfile } from '../../core/agent-profile.ts'
import type { SessionStartData } from '../../core/event.ts'
import type { SessionId } from '../../core/ids.ts'
import { isOwnChannel, type Session, type SessionDraft } from '../../core/session.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { startSession } from '../turns/open-session.ts'

interface Start {
  readonly at: number
  readonly there: Session | undefined
  draft(this: void): SessionDraft
}

/** Starts a session after another, with what a client has given that one. */
export async function startAfter(tx: StoreWriter, session: Session, { at, there, draft }: Start): Promise<Session> {
  const row = draft()
  const { profile, giver, ...start } = await startOfClient(tx, session, { row, there })
  const begun = { ...row, ...(profile && { agentProfile: profile }) }
  const made = await startSession(tx, begun, { ...start, at, draw: () => draft().id })
  // Its variables are shown to the model: they are the words of whoever has begun the session that had them.
  if (giver !== undefined && start.context !== undefined) await tx.authors.copy(giver, made.id)
  return made
}

interface StartOfClient extends Pick<SessionStartData, 'context' | 'workspace' | 'workplace'> {
  readonly profile?: AgentProfile
  /** The session that it was given to. */
  readonly giver?: SessionId
}

/**
 * Returns what a client has given its session at the start, for one of a client that continues it: the agent, its tools
 * no more than both sessions have (C28), and the variables. What comes from a chat or another agent continues with
 * what the client has given the session that it had there. A chat has the agent of its rules.
 */
async function startOfClient(
  { events }: Pick<StoreReader, 'events'>,
  session: Session,
  { row, there }: { readonly row: SessionDraft; readonly there: Session | undefined },
): Promise<StartOfClient> {
  const giver = isOwnChannel(session) && row.agentId === session.agentId ? session : there
  if (!isOwnChannel(row) || giver === undefined) return {}
  const [first] = await events.since(giver.id, 0, 1)
  const { context, workspace, workplace } = first?.type === 'session_started' ? first.data : { context: undefined }
  const given = {
    giver: giver.id,
    ...(context && { context }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(workplace && { workplace }),
  }
  const own = giver.agentProfile ?? there?.agentProfile
  if (own === undefined) return given
  const most = there?.agentProfile?.tools ?? own.tools
  return { ...given, profile: { ...own, tools: own.tools.filter((tool) => most.includes(tool)) } }
}
