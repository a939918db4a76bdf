import type { AgentProfile } from '../../core/agent-profile.ts'
import type { SessionId } from '../../core/ids.ts'
import { plainExcerpt } from '../../core/label.ts'
import { tokensOf } from '../../core/model.ts'
import type { Session, SessionKind } from '../../core/session.ts'
import { overridesOf } from '../../core/session-settings.ts'
import type { SessionCaller, SessionRow } from '../../core/session-tools.ts'
import type { StoreReader } from '../../store/store.ts'
import { type LastRun, lastRunOf } from '../service/last-run.ts'
import { newestMessages } from '../service/read-messages.ts'
import { shownKey } from './shown-key.ts'

export interface SessionRowDeps {
  readonly read: Pick<StoreReader, 'events' | 'forgetting' | 'outbox'>
  /** Returns the agent that answers in the session, with the session's model if it has its own. */
  agentOf(session: Session): Pick<AgentProfile, 'model' | 'contextTokens'>
  transcriptPath(session: SessionId): string
}

const LONGEST_NAME = 200
/** The limit for the messages of one row: 200 rows must still fit a prompt. */
const ROW_BYTES = 8_000

/** Returns what is known of a session, as a row of the list (T11). */
export async function sessionRow(
  { read, agentOf, transcriptPath }: SessionRowDeps,
  session: Session,
  { caller, messages, named }: { readonly caller: SessionCaller; readonly messages: number; readonly named: boolean },
): Promise<SessionRow> {
  const { id, kind, lastActivityAt, description } = session
  const lastRun = await lastRunOf(read, id)
  const { turns, usage } = await read.events.spent(id)
  const { model, contextTokens } = agentOf(session)
  const bounds = { limit: messages, tools: false, bytes: ROW_BYTES }
  return {
    key: shownKey(session, caller),
    kind,
    provider: providerOf(session, lastRun),
    updatedAt: lastActivityAt,
    sessionId: id,
    ...overridesOf(session),
    model,
    ...(contextTokens === undefined ? {} : { contextTokens }),
    ...(description === '' || !named ? {} : { displayName: plainExcerpt(description, LONGEST_NAME) }),
    ...(turns === 0 ? {} : { totalTokens: tokensOf(usage) }),
    ...lastRun,
    transcriptPath: transcriptPath(id),
    ...(messages === 0 ? {} : { messages: (await newestMessages(read, session, bounds)).messages }),
  }
}

const INTERNAL: readonly SessionKind[] = ['cron', 'hook', 'node']

/** Returns the surface of a group, or the last channel of a direct session (T22). */
function providerOf({ kind, metadata, source }: Session, { lastChannel }: LastRun): string {
  if (INTERNAL.includes(kind) || source.kind === 'task') return 'internal'
  const channel = metadata.channel ?? source.platform
  return (kind === 'group' ? channel : (lastChannel ?? channel)) ?? 'unknown'
}
