import { type Address, formatAddress } from '../core/address.ts'
import type { Dispatch, Origin, Route } from '../core/dispatch.ts'
import type { IdSource } from '../core/ids.ts'
import type { Session, SessionDraft, SessionSource } from '../core/session.ts'
import type { StoreWriter } from '../store/store.ts'

/**
 * The session a route leads to: the one its scope key points to, found again after any restart (S5), else a new one.
 * Reopening merges the metadata and keeps the first source (S18); an inactive session becomes active again (S11).
 */
export async function openSession(tx: StoreWriter, route: Route, dispatch: Dispatch, ids: IdSource): Promise<Session> {
  const metadata = metadataOf(dispatch.event.address)
  const current = await tx.sessions.current(route.scopeKey)
  if (!current) return startSession(tx, draftOf(route, dispatch, metadata, ids), dispatch.receivedAt)
  if (current.inactiveAt === undefined && includes(current.metadata, metadata)) return current
  await tx.sessions.reopen(current.id, metadata, dispatch.receivedAt)
  return { ...current, metadata: { ...current.metadata, ...metadata } }
}

/** Makes the row and its first event (C2). */
export async function startSession(tx: StoreWriter, draft: SessionDraft, at: number): Promise<Session> {
  const session = await tx.sessions.create(draft, at)
  await tx.events.append(session.id, at, [{ type: 'session_started', data: { agent: draft.agentId } }])
  return session
}

/** The row a session with the same scope as `session` starts from: what `/new` opens (S10). */
export function draftAfter(session: Session, ids: IdSource): SessionDraft {
  const { scopeKey, scope, agentId, kind, displayKey, chatType, source, metadata } = session
  const id = ids.session(source.platform ?? source.kind)
  return { id, scopeKey, scope, agentId, kind, displayKey, chatType, source, metadata }
}

function draftOf(route: Route, dispatch: Dispatch, metadata: Record<string, string>, ids: IdSource): SessionDraft {
  const { scopeKey, scope, agent, kind, displayKey, chatType } = route
  const { channel } = dispatch.event.address
  return {
    id: ids.session(channel),
    scopeKey,
    scope,
    agentId: agent,
    kind,
    displayKey,
    chatType,
    source: sourceOf(dispatch),
    metadata,
  }
}

const TRIGGER_TYPE: Readonly<Record<Origin, string>> = {
  platform: 'message',
  schedule: 'cron',
  tool: 'sessions_send',
  api: 'request',
  operator: 'command',
}

/** S1. Schedules are not interactive: nobody is there to answer an approval. */
function sourceOf({ event, origin }: Dispatch): SessionSource {
  const { channel } = event.address
  const kind =
    origin === 'schedule'
      ? 'schedule'
      : channel === 'cli' || channel === 'web' || channel === 'api'
        ? channel
        : 'channel'
  return {
    kind,
    interactive: origin !== 'schedule',
    platform: channel,
    triggerId: formatAddress(event.address),
    triggerType: TRIGGER_TYPE[origin],
  }
}

/** S4: the chat's own ids, as text. */
function metadataOf({ channel, account, chat, chatType, topic, space }: Address): Record<string, string> {
  return {
    channel,
    account,
    chat_id: chat,
    chat_type: chatType,
    ...(topic === undefined ? {} : { topic_id: topic }),
    ...(space === undefined ? {} : { space: `${space.type}:${space.id}` }),
  }
}

function includes(have: Readonly<Record<string, string>>, want: Readonly<Record<string, string>>): boolean {
  return Object.entries(want).every(([key, value]) => have[key] === value)
}
