import { formatAddress, parseAddress } from '../../core/address.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Dispatch, PostedText } from '../../core/dispatch.ts'
import { errorCode, ParleyError } from '../../core/errors.ts'
import type { IdSource, SessionId } from '../../core/ids.ts'
import type { Sender } from '../../core/message.ts'
import type { Session, SessionDraft, SessionIdentity } from '../../core/session.ts'
import { sessionAliases } from '../../core/session-alias.ts'
import type { SessionContext } from '../../core/session-context.ts'
import { overridesOf, type SessionOverrides } from '../../core/session-settings.ts'
import type { Workplace } from '../../core/workplace.ts'
import type { MetadataChange } from '../../store/session-port.ts'
import type { StoreWriter } from '../../store/store.ts'
import { namesOf } from './place-names.ts'
import { definedFields, draftAfter, draftOf, includesAll, metadataOf, type Opening } from './session-draft.ts'
import { olderSession, takeOverHistory } from './take-over.ts'

export interface OpenPorts {
  readonly ids: IdSource
  readonly channels: Channels
  /** Receives the overrides that a new session has taken over. */
  readonly overrides: { set(session: Session, overrides: SessionOverrides, current: boolean): void }
}

/**
 * Returns the session a route leads to: the one its scope key points to, found again after any restart (S5), else a new
 * one. Reopening merges the metadata and keeps the first source (S18); an inactive session becomes active again (S11).
 */
export async function openSession(tx: StoreWriter, opening: Opening, ports: OpenPorts): Promise<SessionIdentity> {
  const { route, dispatch } = opening
  if (dispatch.posted) return continuePosted(tx, opening, dispatch.posted, ports)
  const current = await tx.sessions.identity(route.scopeKey)
  // The configuration may give a schedule another agent; everywhere else the agent is part of the key.
  if (current && dispatch.schedule && current.agentId !== route.agent) {
    await tx.sessions.setAgent(current.id, route.agent)
    return openSession(tx, opening, ports)
  }
  if (current && (await deliversElsewhere(tx, current, dispatch))) return beginElsewhere(tx, opening, ports)
  const [chat, names] = [metadataOf(dispatch, route), namesOf(dispatch, current?.metadata)]
  const known = current !== undefined && includesAll(current.metadata, chat) && includesAll(current.metadata, names)
  if (known && current.inactiveAt === undefined) return current
  const metadata = { ...chat, ...names }
  if (!current) return beginSession(tx, opening, metadata, ports)
  await tx.sessions.reopen(current.id, metadata, dispatch.receivedAt)
  // Another chat of the same person, or a chat whose people are known only now, has names of its own.
  if (!known) await tx.aliases.add(route.scopeKey, aliasesOf(ports.channels, opening))
  return { ...current, metadata: definedFields({ ...current.metadata, ...metadata }) }
}

/** Begins the session of a schedule afresh, as `/new` does. */
async function beginElsewhere(
  tx: StoreWriter,
  { route, dispatch }: Opening,
  { ids, overrides }: OpenPorts,
): Promise<SessionIdentity> {
  const at = dispatch.receivedAt
  const last = await tx.sessions.current(route.scopeKey)
  if (last === undefined) throw new ParleyError('internal', `no session has the key ${route.scopeKey}`)
  await tx.sessions.deactivate(last.id, at)
  const draft = (): SessionDraft => ({ ...draftAfter(last, ids), metadata: definedFields(metadataOf(dispatch, route)) })
  const session = await startSession(tx, draft(), { at, draw: () => draft().id })
  tx.afterCommit(() => overrides.set(session, overridesOf(session), true))
  return session
}

/**
 * A text posted into a session says nothing about its chat: an existing row keeps its metadata, and a new one has only
 * the address.
 */
async function continuePosted(
  tx: StoreWriter,
  { route, identity, dispatch }: Opening,
  { session: id, begins, approval }: PostedText,
  ports: OpenPorts,
): Promise<Session> {
  const session = (await tx.sessions.get(id)) ?? (begins && (await tx.sessions.current(route.scopeKey)))
  if (session) {
    // A call that was allowed late is made in the conversation that asked, and not once that has ended.
    if (session.inactiveAt !== undefined && approval === undefined)
      await tx.sessions.reopen(session.id, {}, dispatch.receivedAt)
    return session
  }
  if (!begins) throw new ParleyError('not_found', `There is no session ${id}.`)
  const place: Dispatch = { ...dispatch, origin: 'platform', event: { ...dispatch.event, sender: NO_SENDER } }
  const opening = { route, identity: { role: identity.role }, dispatch: place }
  return beginSession(tx, opening, metadataOf(place, route), { ...ports, ids: { session: () => id } })
}

const NO_SENDER: Sender = { id: '', kind: 'user' }

/**
 * Begins a scope's first session; those of `/new` have their names already and take over nothing (K27). The overrides
 * of the older conversation carry over with its history, so a silenced one stays silent.
 */
async function beginSession(
  tx: StoreWriter,
  opening: Opening,
  metadata: MetadataChange,
  {
    ids,
    channels,
    overrides,
  }: Pick<OpenPorts, 'overrides' | 'channels'> & {
    readonly ids: Pick<IdSource, 'session'>
  },
): Promise<Session> {
  const at = opening.dispatch.receivedAt
  const draft = draftOf(opening, metadata, { ids, channels })
  const aliases = aliasesOf(channels, opening)
  const older = await olderSession(tx, draft, aliases)
  const draw = (): SessionId => draftOf(opening, metadata, { ids, channels }).id
  const { context } = opening.start ?? opening.dispatch.posted ?? {}
  const { workspace, workplace } = opening.start ?? {}
  const start = { at, draw, context, workspace, workplace }
  const session = await startSession(tx, older ? { ...draft, settingsOf: older.id } : draft, start)
  if (older) {
    await takeOverHistory(tx, { id: session.id, older, at })
    tx.afterCommit(() => overrides.set(session, overridesOf(session), true))
  }
  await tx.aliases.add(draft.scopeKey, aliases)
  return session
}

function aliasesOf(channels: Channels, { route, identity, dispatch }: Opening): readonly string[] {
  return sessionAliases(channels, { route, event: dispatch.event, person: identity.person })
}

/** The start of a session and, where its id was drawn, the way to draw another. */
export interface Start {
  readonly at: number
  readonly draw?: () => SessionId
  /** The variables that the client gave. */
  readonly context?: SessionContext | undefined
  /** The group of sessions that the client named. */
  readonly workspace?: string | undefined
  readonly workplace?: Workplace | undefined
}

/** Makes the row and its first event (C2). Throws `conflict` if its id is used and no other can be drawn. */
export async function startSession(tx: StoreWriter, draft: SessionDraft, start: Start): Promise<Session> {
  const session = await create(tx, draft, start)
  const { at, context, workspace, workplace } = start
  const data = {
    agent: draft.agentId,
    ...(context === undefined ? {} : { context }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(workplace === undefined ? {} : { workplace }),
  }
  await tx.events.append(session.id, at, [{ type: 'session_started', data }])
  return session
}

/** The ids of one day are few enough for two sessions to draw the same: then another is drawn. */
async function create(tx: StoreWriter, draft: SessionDraft, { at, draw }: Start): Promise<Session> {
  let id = draft.id
  for (let drawn = 1; draw !== undefined && drawn < MOST_DRAWN; drawn++) {
    try {
      return await tx.sessions.create({ ...draft, id }, at)
    } catch (err) {
      if (errorCode(err) !== 'conflict') throw err
      id = draw()
    }
  }
  return tx.sessions.create({ ...draft, id }, at)
}

const MOST_DRAWN = 8

/**
 * Returns true for a run of a schedule that delivers to another place than its session did so far, though its chat has
 * not moved. What was learned for other readers would go along: such a run begins a session of its own.
 */
export async function deliversElsewhere(
  { chatMoves }: Pick<StoreWriter, 'chatMoves'>,
  { metadata: { deliver_to: before } }: Pick<SessionIdentity, 'metadata'>,
  { event, schedule }: Dispatch,
): Promise<boolean> {
  const now = formatAddress(event.address)
  if (schedule === undefined || before === undefined || before === now) return false
  const address = parseAddress(before)
  const chat = address.chatType === 'group' ? await chatMoves.movedTo(address.channel, address.chat) : undefined
  return chat === undefined || formatAddress({ ...address, chat }) !== now
}
