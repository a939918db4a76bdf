import { type Address, formatAddress } from '../../core/address.ts'
import type { AgentProfile } from '../../core/agent-profile.ts'
import { type Channels, OWN_CHANNELS } from '../../core/channel-traits.ts'
import type { Dispatch, Identity, Origin, Route } from '../../core/dispatch.ts'
import { type IdSource, type SessionId, scheduleSessionId, toSessionId } from '../../core/ids.ts'
import { JOINED_IDS, joinsChannels, joinsPeople } from '../../core/joins-people.ts'
import type { Session, SessionDraft, SessionSource } from '../../core/session.ts'
import type { SessionContext } from '../../core/session-context.ts'
import type { Workplace } from '../../core/workplace.ts'
import type { MetadataChange } from '../../store/session-port.ts'
import { namesOf } from './place-names.ts'

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

export interface DraftPorts {
  readonly ids: Pick<IdSource, 'session'>
  readonly channels: Channels
}

/** Returns the row of an address's first session, unless it takes something over. */
export function draftAt(opening: Opening, ports: DraftPorts): SessionDraft {
  const { dispatch } = opening
  return draftOf(opening, { ...metadataOf(dispatch, opening.route), ...namesOf(dispatch) }, ports)
}

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

export function draftOf(
  { route, dispatch, start }: Opening,
  metadata: MetadataChange,
  ports: DraftPorts,
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
    metadata: definedFields(metadata),
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
function sessionIdAt({ channel, chat }: Address, route: Route, { ids, channels }: DraftPorts): SessionId {
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
export function metadataOf({ event, schedule, named }: Dispatch, { scope }: Pick<Route, 'scope'>): MetadataChange {
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

export function definedFields(metadata: MetadataChange): Record<string, string> {
  return Object.fromEntries(
    Object.entries(metadata).filter((entry): entry is [string, string] => entry[1] !== undefined),
  )
}

export function includesAll(have: Readonly<Record<string, string>>, want: MetadataChange): boolean {
  for (const key in want) if (have[key] !== want[key]) return false
  return true
}
