import type { AgentProfile } from '../../core/agent-profile.ts'
import type { SessionStartData } from '../../core/event.ts'
import type { SessionId } from '../../core/ids.ts'
import { isOwnChannel, type Session, type SessionDraft } from '../../core/session.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { startSession } from '../turns/open-session.ts'

interface Start {
  readonly at: number
  readonly there: Session | undefined
  /** The agents as configured. */
  readonly agents: readonly AgentProfile[]
  draft(this: void): SessionDraft
}

/** Starts a session after another, with what a client has given that one and the authors of those words. */
export async function startAfter(
  tx: StoreWriter,
  session: Session,
  { at, there, agents, draft }: Start,
): Promise<Session> {
  const row = draft()
  const { profile, wordsOf, ...start } = await startOfClient(tx, session, { row, there, agents })
  const begun = { ...row, ...(profile && { agentProfile: profile }) }
  const made = await startSession(tx, begun, { ...start, at, draw: () => draft().id })
  for (const giver of wordsOf) await tx.authors.copy(giver, made.id)
  return made
}

interface StartOfClient extends Pick<SessionStartData, 'context' | 'workspace' | 'workplace'> {
  readonly profile?: AgentProfile
  /** The sessions of which the model is shown variables or instructions. */
  readonly wordsOf: readonly SessionId[]
}

/**
 * Returns what a client has given its session at the start, for one of a client that continues it: the agent, its tools
 * no more than both sessions have (C28), and the variables. What comes from a chat or another agent continues with
 * what the client has given the session that it had there. A chat has the agent of its rules.
 */
async function startOfClient(
  { events }: Pick<StoreReader, 'events'>,
  session: Session,
  { row, there, agents }: Pick<Start, 'there' | 'agents'> & { readonly row: SessionDraft },
): Promise<StartOfClient> {
  const giver = isOwnChannel(session) && row.agentId === session.agentId ? session : there
  if (!isOwnChannel(row) || giver === undefined) return { wordsOf: [] }
  const [first] = await events.since(giver.id, 0, 1)
  const { context, workspace, workplace } = first?.type === 'session_started' ? first.data : { context: undefined }
  const given = {
    ...(context && { context }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(workplace && { workplace }),
  }
  const wordsOf = context === undefined ? [] : [giver.id]
  const keeper = giver.agentProfile === undefined ? there : giver
  const own = keeper?.agentProfile
  if (keeper === undefined || own === undefined) return { ...given, wordsOf }
  const most = there?.agentProfile?.tools ?? own.tools
  return {
    ...given,
    wordsOf: hasOperatorsPrompt(own, agents) ? wordsOf : [...wordsOf, keeper.id],
    profile: { ...own, tools: own.tools.filter((tool) => most.includes(tool)) },
  }
}

/** An imported session has the instructions of its file. */
function hasOperatorsPrompt({ id, prompt }: AgentProfile, agents: readonly AgentProfile[]): boolean {
  return agents.some((agent) => agent.id === id && agent.prompt === prompt)
}
