import type { SessionEvent } from '../../core/event.ts'
import type { SessionDetail, SessionEventReport, SessionSummary } from '../../core/operator.ts'
import type { Session } from '../../core/session.ts'
import { overridesOf } from '../../core/session-settings.ts'
import { sessionTitle } from '../../core/titles.ts'
import { eventText } from '../view/event-text.ts'
import type { LastRun } from './last-run.ts'

/** The ports that give a session's present state, besides its row. */
export interface Standing {
  readonly running: boolean
  /** Sessions that were last active before this time are stale (S12). */
  readonly activeSince: number
}

export function sessionSummary(session: Session, standing: Standing): SessionSummary {
  return {
    id: session.id,
    key: session.displayKey,
    title: sessionTitle(session),
    kind: session.kind,
    status: statusOf(session, standing),
    agent: session.agentId,
    createdAt: session.createdAt,
    updatedAt: session.lastActivityAt,
    messages: session.messageCount,
    turns: session.turnCount,
    description: session.description,
    preview: session.preview,
  }
}

export interface Findings {
  readonly events: readonly SessionEvent[]
  readonly aliases: readonly string[]
  readonly participants: readonly string[]
  readonly lastRun: LastRun
}

export function sessionDetail(
  session: Session,
  standing: Standing,
  { events, aliases, participants, lastRun }: Findings,
): SessionDetail {
  const { scopeKey, scope, source, metadata } = session
  return {
    ...sessionSummary(session, standing),
    scopeKey,
    scope,
    source,
    metadata,
    aliases,
    participants,
    ...overridesOf(session),
    ...lastRun,
    events: events.map(eventReport),
  }
}

export function eventReport(event: SessionEvent): SessionEventReport {
  const { seq, at, type, turnId } = event
  return { seq, at, type, text: eventText(event), ...(turnId === undefined ? {} : { turn: turnId }) }
}

/** Only the running turn decides whether the session runs (S6); its last message decides whether it is still in use. */
function statusOf(
  { inactiveAt, lastActivityAt }: Session,
  { running, activeSince }: Standing,
): SessionSummary['status'] {
  if (running) return 'running'
  return inactiveAt !== undefined || lastActivityAt < activeSince ? 'inactive' : 'idle'
}
