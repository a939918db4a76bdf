import { type Address, formatAddress } from '../../core/address.ts'
import type { AgentProfile } from '../../core/agent-profile.ts'
import { type Channels, OWN_CHANNELS } from '../../core/channel-traits.ts'
import type { Dispatch, Identity, Origin, PostedText, Route } from '../../core/dispatch.ts'
import { errorCode, ParleyError } from '../../core/errors.ts'
import { type IdSource, type SessionId, scheduleSessionId, toSessionId } from '../../core/ids.ts'
import { JOINED_IDS, joinsChannels, joinsPeople } from '../../core/joins-people.ts'
import type { Sender } from '../../core/message.ts'
import type { Session, SessionDraft, SessionIdentity, SessionSource } from '../../core/session.ts'
import { sessionAliases } from '../../core/session-alias.ts'
import type { SessionContext } from '../../core/session-context.ts'
import { overridesOf, type SessionOverrides } from '../../core/session-settings.ts'
import type { Workplace } from '../../core/workplace.ts'
import type { MetadataChange } from '../../store/session-port.ts'
import type { StoreWriter } from '../../store/store.ts'
import { deliversElsewhere } from './deliver-elsewhere.ts'
import { namesOf } from './place-names.ts'
import { olderSession, takeOverHistory } from './take-over.ts'

/** The reasons to open a session: the routing answer, the sender, and the dispatch itself. */
export interface Opening {
  readonly route: Route
  readonly identity: Identity
  readonly dispatch: Dispatch
  /** The session is a new one, and begins with this of its client. */
  readonly start?: {
    readonly profile: AgentProfile
    readonly context?: SessionContext
    readonly workspace?: string
    readonly workplace?: Workplace
  }
}

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
  const known = current !== undefined && includes(current.metadata, chat) && includes(current.metadata, names)
  if (known && current.inactiveAt === undefined) return current
  const metadata = { ...chat, ...names }
  if (!current) return beginSession(tx, opening, metadata, ports)
  await tx.sessions.reopen(current.id, metadata, dispatch.receivedAt)
  // Another chat of the same person, or a chat whose people are known only now, has names of its own.
  if (!known) await tx.aliases.add(route.scopeKey, aliasesOf(ports.channels, opening))
  return { ...current, metadata: given({ ...current.metadata, ...metadata }) }
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
  const draft = (): SessionDraft => ({ ...draftAfter(last, ids), metadata: given(metadataOf(dispatch, route)) })
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

/** Returns the row of an address's first session, unless it takes something over. */
export function draftAt(opening: Opening, ports: Pick<OpenPorts, 'ids' | 'channels'>): SessionDraft {
  const { dispatch } = opening
  return draftOf(opening, { ...metadataOf(dispatch, opening.route), ...namesOf(dispatch) }, ports)
}

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

/** Returns the row of a new session with the same scope (S10) and, if it is of a client, in its namespaces (S42). */
export function draftAfter(session: Session, ids: IdSource): SessionDraft {
  const { scopeKey, scope, agentId, kind, displayKey, chatType, source, metadata, parent } = session
  const { platform = source.kind } = source
  const space = OWN_CHANNELS.includes(platform) ? session.id.slice(0, session.id.lastIndexOf(':')) : platform
  const id = ids.session(joinedId(session) ?? space)
  return {
    ...{ id, scopeKey, scope, agentId, kind, displayKey, chatType, source, metadata, settingsOf: session.id },
    ...(parent === undefined ? {} : { parent }),
  }
}

function draftOf(
  { route, dispatch, start }: Opening,
  metadata: MetadataChange,
  ports: { readonly ids: Pick<IdSource, 'session'>; readonly channels: Channels },
): SessionDraft {
  const { scopeKey, scope, agent, kind, displayKey, chatType } = route
  const { event, schedule } = dispatch
  return {
    id: schedule ? scheduleSessionId(schedule.id) : sessionIdAt(event.address, route, ports),
    scopeKey,
    scope,
    agentId: agent,
    kind,
    displayKey,
    chatType,
    source: sourceOf(dispatch),
    metadata: given(metadata),
    ...(start === undefined ? {} : { agentProfile: start.profile }),
  }
}

/** Returns the beginning of the id of a session that no token of a channel reaches; undefined for every other. */
function joinedId(session: Pick<Session, 'kind' | 'displayKey' | 'scope'>): string | undefined {
  if (!joinsChannels(session)) return undefined
  return session.kind === 'main' ? JOINED_IDS.main : JOINED_IDS.person
}

/**
 * Returns a session's id (S2, S3). A client's own session is known by its name; a platform's chat gets a new id, as
 * does a session that the clients of such names share, since the name of one of them may not stand for all.
 */
function sessionIdAt(
  { channel, chat }: Address,
  route: Route,
  { ids, channels }: { readonly ids: Pick<IdSource, 'session'>; readonly channels: Channels },
): SessionId {
  const joined = joinedId(route)
  if (joined !== undefined) return ids.session(joined)
  if (OWN_CHANNELS.includes(channel) && joinsPeople(channels, route)) return ids.session(channel)
  return OWN_CHANNELS.includes(channel) ? toSessionId(`${channel}:${chat}`) : ids.session(channel)
}

const TRIGGER_TYPE: Readonly<Record<Origin, string>> = {
  platform: 'message',
  schedule: 'cron',
  tool: 'sessions_send',
  api: 'request',
  hook: 'request',
  node: 'request',
  operator: 'command',
}

/** Returns the source (S1). Schedules are not interactive: nobody is there to answer an approval (S47). */
function sourceOf({ event, origin, schedule }: Dispatch): SessionSource {
  const triggerType = TRIGGER_TYPE[origin]
  if (schedule) return { kind: 'schedule', interactive: false, triggerId: schedule.id, triggerType }
  const { channel } = event.address
  const kind = channel === 'cli' || channel === 'web' || channel === 'api' ? channel : 'channel'
  return { kind, interactive: true, platform: channel, triggerId: formatAddress(event.address), triggerType }
}

/**
 * Returns the chat's own ids as text, and for a direct chat, or a session of one sender, whoever wrote (S4). A schedule
 * lives in no chat, and a caller who names a session speaks in it from elsewhere. Fields that an address lacks are
 * undefined, so that none remain of the address by which the session was entered before.
 */
function metadataOf({ event, schedule, named }: Dispatch, { scope }: Pick<Route, 'scope'>): MetadataChange {
  if (schedule) return { deliver_to: formatAddress(event.address), made_in: schedule.madeIn }
  if (named) return {}
  const { channel, account, chat, chatType, topic, space } = event.address
  const place = {
    channel,
    account,
    chat_id: chat,
    chat_type: chatType,
    topic_id: topic,
    space: space && `${space.type}:${space.id}`,
  }
  const { id, team } = event.sender
  if (id === '' || (chatType !== 'direct' && scope.values.sender === undefined)) return place
  // The team of the chat is that of most ids in it.
  return { ...place, sender_id: id, sender_team: team === space?.id ? undefined : team }
}

function given(metadata: MetadataChange): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

function includes(have: Readonly<Record<string, string>>, want: MetadataChange): boolean {
  for (const key in want) if (have[key] !== want[key]) return false
  return true
}
