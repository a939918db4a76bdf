import { type MediaPart, mediaOf } from '../../core/content.ts'
import type { SessionEvent, SessionStartData } from '../../core/event.ts'
import { eventName } from '../../core/event-names.ts'
import { formatCursor } from '../../core/list-cursor.ts'
import type { AttachmentRef } from '../../core/message.ts'
import type {
  EventFile,
  ListedSession,
  SessionDetail,
  SessionEventReport,
  SessionList,
  SessionSummary,
} from '../../core/operate-sessions.ts'
import type { Session } from '../../core/session.ts'
import { overridesOf } from '../../core/session-settings.ts'
import { sessionTitle } from '../../core/titles.ts'
import { stopReasonOf } from '../../core/turn-end.ts'
import { eventText } from '../view/event-text.ts'
import type { LastRun } from './last-run.ts'
import type { PageWithTasks } from './with-tasks.ts'

/** The ports that give a session's present state, besides its row. */
export interface Standing {
  readonly running: boolean
  /** Its turn waits for somebody to allow a call. */
  readonly awaiting: boolean
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

/** Returns a page as a list of summaries. */
export function listReport(
  { sessions, total, next }: PageWithTasks,
  standingOf: (session: Session) => Standing,
): SessionList {
  const summary = (session: Session): SessionSummary => sessionSummary(session, standingOf(session))
  const row = ({ session, children }: PageWithTasks['sessions'][number]): ListedSession =>
    children.length === 0 ? summary(session) : { ...summary(session), children: children.map(summary) }
  return { sessions: sessions.map(row), total, ...(next === undefined ? {} : { next: formatCursor(next) }) }
}

export interface Findings {
  /** The first event; absent in a log that begins with another. */
  readonly start?: SessionStartData
  readonly events: readonly SessionEvent[]
  readonly aliases: readonly string[]
  readonly participants: readonly string[]
  readonly lastRun: LastRun
}

export function sessionDetail(
  session: Session,
  standing: Standing,
  { start = { agent: '' }, events, aliases, participants, lastRun }: Findings,
): SessionDetail {
  const { scopeKey, scope, source, metadata, parent, exportedAt, inactiveAt } = session
  const { workspace, workplace } = start
  return {
    ...sessionSummary(session, standing),
    scopeKey,
    scope,
    source,
    metadata,
    aliases,
    participants,
    ...(parent === undefined ? {} : { parent }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(workplace === undefined ? {} : { workplace }),
    ...(exportedAt === undefined ? {} : { exportedAt }),
    ...(inactiveAt === undefined ? {} : { endedAt: inactiveAt }),
    ...overridesOf(session),
    ...lastRun,
    events: events.map(eventReport),
  }
}

export function eventReport(event: SessionEvent): SessionEventReport {
  const { seq, at, turnId } = event
  return {
    ...{ seq, at, type: eventName(event), text: eventText(event) },
    ...(turnId === undefined ? {} : { turn: turnId }),
    ...partsOf(event),
  }
}

type ReportedParts = Pick<
  SessionEventReport,
  'stopReason' | 'model' | 'usage' | 'calls' | 'files' | 'synthetic' | 'summary'
>

/** Returns everything of a message beside its text (R37). */
function partsOf(event: SessionEvent): ReportedParts {
  switch (event.type) {
    case 'user_message':
    case 'message_edited': {
      const files = (event.data.attachments ?? []).map(fileOf)
      return { ...(files.length === 0 ? {} : { files }), ...(event.data.from ? { synthetic: true } : {}) }
    }
    case 'turn_completed':
      return { stopReason: stopReasonOf(event.data) }
    case 'turn_cancelled':
      return { stopReason: 'aborted' }
    case 'assistant_step': {
      const { model, usage } = event.data
      const calls = event.data.calls.map(({ tool, args }) => ({ tool, arguments: JSON.stringify(args) ?? '' }))
      return { model, usage, calls }
    }
    case 'assistant_message': {
      const { model, usage } = event.data
      return { model, usage }
    }
    case 'files_read': {
      const files = event.data.files.flatMap(({ media }) => (media === undefined ? [] : [mediaFile(media)]))
      return files.length === 0 ? {} : { files }
    }
    case 'tool_result': {
      const files = mediaOf(event.data.content).map(mediaFile)
      return files.length === 0 ? {} : { files }
    }
    case 'context_compacted': {
      const { model, usage } = event.data
      return { model, usage, synthetic: true, summary: true }
    }
    case 'checkpoint_written': {
      const { model, usage } = event.data
      return { model, usage, synthetic: true }
    }
    case 'assistant_posted':
      return { synthetic: true }
    default:
      return {}
  }
}

function fileOf({ media, mime, fileName, size }: AttachmentRef): EventFile {
  if (media !== undefined) return mediaFile(media)
  return {
    ...(mime === undefined ? {} : { mime }),
    ...(fileName === undefined ? {} : { name: fileName }),
    ...(size === undefined ? {} : { size }),
  }
}

function mediaFile({ media, mime, name, size }: MediaPart): EventFile {
  return { media, mime, ...(name === undefined ? {} : { name }), size }
}

/** Only the running turn decides whether the session runs (S6); its last message decides whether it is still in use. */
function statusOf(
  { inactiveAt, lastActivityAt }: Session,
  { running, awaiting, activeSince }: Standing,
): SessionSummary['status'] {
  if (running) return awaiting ? 'awaiting_approval' : 'running'
  return inactiveAt !== undefined || lastActivityAt < activeSince ? 'inactive' : 'idle'
}
