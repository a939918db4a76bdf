import type { AgentProfile } from '../../core/agent-profile.ts'
import { OWN_CHANNELS } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import { withCopiedTurns } from '../../core/copied-turns.ts'
import type { Route } from '../../core/dispatch.ts'
import { emptied } from '../../core/emptied.ts'
import { ParleyError, toError } from '../../core/errors.ts'
import type { SessionEvent, UserMessageData } from '../../core/event.ts'
import { type IdSource, toAccountId, toScopeKey } from '../../core/ids.ts'
import type { BundleReport } from '../../core/import.ts'
import { joinsChannels } from '../../core/joins-people.ts'
import type { MediaStore } from '../../core/media.ts'
import { type AuthorId, NOBODY, OPERATOR, personOfAuthor } from '../../core/platform-id.ts'
import { redacted } from '../../core/redact-dispatch.ts'
import type { Session, SessionDraft, SessionScope } from '../../core/session.ts'
import { collectOverrides, SESSION_SETTINGS, type SessionOverrides } from '../../core/session-settings.ts'
import type { EventToAppend } from '../../store/event-port.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import type { Bundle } from '../export/read-bundle.ts'
import { type ModelRules, refusedModel } from './choose-model.ts'

export interface BundleDeps {
  readonly store: Pick<Store, 'write'>
  readonly clock: Clock
  readonly ids: Pick<IdSource, 'session'>
  readonly media: Pick<MediaStore, 'keep'>
  readonly models: ModelRules
  /** Returns the keys that a scope has here. */
  placeOf(scope: SessionScope): Place
  /** Returns a text without the values of configured secrets. */
  redact(this: void, text: string): string
}

type Place = Pick<Route, 'scopeKey' | 'displayKey'>

/**
 * Brings a session of another store into this one, in one commit. It stays in the place it had where no session is
 * there; else, and where a foreign name or the owner decides whose it is, it stands beside under a key of its own. The
 * people of the other configuration mean nobody here: platform ids are all that is believed, and none of them gets
 * more than this configuration says. A second import finds the session of the first.
 */
export async function importBundle(deps: BundleDeps, given: Bundle, dryRun: boolean): Promise<BundleReport> {
  const { store, media } = deps
  const bundle = withoutSecrets(given, deps)
  if (!dryRun) for (const { bytes } of bundle.files) await media.keep(bytes)
  let report: BundleReport | undefined
  const trial = new Error('this was a trial')
  try {
    await store.write(async (tx) => {
      report = await write(tx, bundle, deps)
      if (dryRun) throw trial
    })
  } catch (cause) {
    if (cause !== trial) {
      const message = `the import failed and changed nothing: ${toError(cause).message}`
      throw new ParleyError('migration_failed', message, { cause })
    }
  }
  if (report === undefined) throw new ParleyError('internal', 'the import has no result')
  return report
}

/** The other store knew other secrets. */
function withoutSecrets({ session, events, ...bundle }: Bundle, { redact }: BundleDeps): Bundle {
  const { description, agentProfile, metadata, ...rest } = session
  const said = {
    description: redact(description),
    metadata: redacted(metadata, redact),
    ...(agentProfile && { agentProfile: redacted(agentProfile, redact) }),
  }
  return {
    ...bundle,
    session: { ...rest, ...said },
    events: events.map((event) => redactedEvent(event, redact)),
  }
}

function redactedEvent<Event extends SessionEvent>(event: Event, redact: BundleDeps['redact']): Event {
  return { ...event, data: redacted(event.data, redact) }
}

async function write(
  tx: StoreWriter,
  { session, events, files, sha256 }: Bundle,
  deps: BundleDeps,
): Promise<BundleReport> {
  const counts = { events: events.length, files: files.length }
  const names = [`bundle:${sha256}`, `bundle of ${session.id} ${session.createdAt}`]
  const there = await tx.sessions.get(session.id)
  const known = (await importedAs(tx, names)) ?? (there?.createdAt === session.createdAt ? there : undefined)
  if (known) return { ...counts, session: known.id, key: known.displayKey, state: 'present' }
  const place = deps.placeOf(session.scope)
  const stays = mayStay(session, place) && (await tx.sessions.current(place.scopeKey)) === undefined
  const id = there || !mayKeepId(session, stays) ? deps.ids.session('import') : session.id
  const now = deps.clock.now()
  // A time in the future would keep it the newest of all.
  const createdAt = Math.min(session.createdAt, now)
  const made = await tx.sessions.create(draftOf({ ...session, id }, stays ? place : undefined, deps), createdAt)
  await tx.aliases.add(made.scopeKey, stays ? names : [...names, made.displayKey])
  for (const { at, drafts } of commitsOf(events.map((event) => withCopiedTurns(event, id))))
    await tx.events.append(id, Math.min(at, now), drafts)
  const data = { from: session.id, events: events.length }
  await tx.events.append(id, now, [{ type: 'history_taken_over', data }])
  if (session.description !== '') await tx.sessions.describe(id, session.description, session.descriptionSource)
  await tx.sessions.patchOverrides(id, { set: settingsOf(session, deps), inherit: [] })
  // Nobody takes part here before they have said something: a participant may read all that follows.
  for (const author of authorsOf(session)) await tx.authors.add(id, author)
  return { ...counts, session: id, key: made.displayKey, state: stays ? 'in place' : 'beside' }
}

async function importedAs(tx: StoreWriter, names: readonly string[]): Promise<Session | undefined> {
  for (const name of names) {
    const [scopeKey] = await tx.aliases.carriers(name)
    const session = scopeKey === undefined ? undefined : await tx.sessions.current(scopeKey)
    if (session) return session
  }
  return undefined
}

/** Matches an id that is drawn, with its channel: `telegram:2026-11-26-0a1b2c3d`. */
const DRAWN = /^([a-z][a-z0-9_-]*):\d{4}-\d{2}-\d{2}-[0-9a-f]{8}$/

/**
 * Returns true for an id that means nothing to anybody: one that was drawn on a platform, or that of a client's own
 * conversation in its place. By any other a file could take the name of a schedule, or stand where a token reaches.
 */
function mayKeepId(session: Bundle['session'], stays: boolean): boolean {
  const { id, scope } = session
  const { channel, values } = scope
  if (joinsChannels(session)) return false
  if (OWN_CHANNELS.includes(channel)) return stays && `direct:${id.slice(channel.length + 1)}` === values.chat
  return DRAWN.exec(id)?.[1] === channel
}

/**
 * Returns true if the session belongs to one conversation, and what the file says of it is what its scope says. The
 * main session is its owner's, and one that is set apart by person follows a name of the other configuration.
 */
function mayStay({ agentId, kind, scope, chatType, source, ...session }: Bundle['session'], place: Place): boolean {
  const { channel, dimensions, values } = scope
  return (
    dimensions.length > 0 &&
    dimensions.every((one) => values[one] !== undefined) &&
    values.sender === undefined &&
    (values.chat === undefined || values.chat.startsWith(`${chatType}:`)) &&
    kind === (chatType === 'direct' ? 'other' : 'group') &&
    source.kind === (OWN_CHANNELS.includes(channel) ? channel : 'channel') &&
    scope.agent === agentId &&
    session.scopeKey === place.scopeKey
  )
}

/**
 * The words of a session go where its metadata says: that has to be the conversation of its scope, and its topic. The
 * person who writes there is known with their next message, for things are read for them.
 */
function metadataOf({ scope, metadata: given }: Bundle['session']): Bundle['session']['metadata'] {
  const { sender_id: _id, sender_team: _team, ...metadata } = given
  const { channel, account, chat_type: type, chat_id: chat, topic_id: topic, deliver_to: elsewhere } = metadata
  const { chat: place = '', topic: apart = `topic:${topic}` } = scope.values
  const same = channel === scope.channel && account === scope.account && elsewhere === undefined
  const inChat = [`${type}:${chat}`, `${type}:${chat}/${topic}`].some((one) => isSameName(one, place))
  return same && inChat && isSameName(apart, `topic:${topic}`) ? metadata : {}
}

/** The values of a scope are in small letters. */
function isSameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** Returns the row of a session in its place, or of one that stands beside. */
function draftOf(session: Bundle['session'], place: Place | undefined, { models }: BundleDeps): SessionDraft {
  const { id, scope, agentId, kind, chatType, source } = session
  const profile = profileOf(session, models)
  const own = { id, agentId, source, chatType, ...(profile === undefined ? {} : { agentProfile: profile }) }
  if (place !== undefined) return { ...own, ...place, scope, kind, metadata: metadataOf(session) }
  const key = `agent:${agentId}:import:${id}`
  const nowhere = {
    version: 1,
    agent: agentId,
    channel: 'api',
    account: toAccountId(''),
    dimensions: [],
    values: {},
  } as const
  return { ...own, scopeKey: toScopeKey(key), scope: nowhere, kind: 'other', displayKey: key, metadata: {} }
}

/** The agent that the session keeps has no tool and no model that this configuration does not give it. */
function profileOf({ agentId, agentProfile }: Bundle['session'], models: ModelRules): AgentProfile | undefined {
  const agent = models.agents.find(({ id }) => id === agentId)
  if (agentProfile === undefined || agent === undefined) return undefined
  const { prompt, tools, model } = agentProfile
  const refused = refusedModel(models, agentId, model) !== undefined
  return {
    ...agent,
    ...(typeof prompt === 'string' ? { prompt } : {}),
    ...(refused ? {} : { model }),
    tools: Array.isArray(tools) ? agent.tools.filter((tool) => tools.includes(tool)) : agent.tools,
  }
}

/**
 * A value that no setting takes is left out. A chat that was silent there is silent here, and none that is silent here
 * is opened by a file.
 */
function settingsOf({ agentId, overrides }: Bundle['session'], { models }: BundleDeps): SessionOverrides {
  return collectOverrides((name) => {
    const value = SESSION_SETTINGS[name].value.read(overrides[name])
    if (name === 'sendPolicy' && value !== 'deny') return undefined
    return name === 'model' && refusedModel(models, agentId, String(value)) !== undefined ? undefined : value
  })
}

/** Whoever has made the file can have named the owner as the only author: imported words are nobody's as well. */
function authorsOf({ authors, participants }: Bundle['session']): readonly AuthorId[] {
  const all = [...authors, ...participants]
  return [...new Set([...all.map((one) => (isPlatformId(one) ? one : NOBODY)), NOBODY])]
}

/** A person and the operator are those of the other store. */
function isPlatformId(author: AuthorId): boolean {
  return author !== OPERATOR && author !== NOBODY && personOfAuthor(author) === undefined
}

/** Returns the events in the groups that have one time. */
function* commitsOf(
  events: readonly SessionEvent[],
): Iterable<{ readonly at: number; readonly drafts: EventToAppend[] }> {
  let group: { at: number; drafts: EventToAppend[] } | undefined
  for (const { seq: _number, at, ...draft } of events.map(asForgotten)) {
    if (group && group.at !== at) yield group
    if (group?.at !== at) group = { at, drafts: [] }
    group.drafts.push(localEvent(draft))
  }
  if (group) yield group
}

/** An event that is marked as forgotten has nothing in it, whatever its file says: nobody would look there again. */
function asForgotten(event: SessionEvent): SessionEvent {
  return event.forgotten ? { ...event, ...emptied(event) } : event
}

/**
 * Returns an event without references that only the other store can resolve: its people, its other sessions, and the
 * files it was exported to.
 */
function localEvent(event: EventToAppend): EventToAppend {
  switch (event.type) {
    case 'user_message':
      return { ...event, data: localMessage(event.data) }
    case 'message_edited':
      return { ...event, data: localMessage(event.data) }
    case 'thread_read':
      return { ...event, data: { ...event.data, messages: event.data.messages.map(localMessage) } }
    case 'tool_result': {
      const { shows: _others, ...data } = event.data
      return { ...event, data }
    }
    case 'session_exported':
      return { ...event, data: { format: event.data.format } }
    default:
      return event
  }
}

function localMessage({ person: _name, ...message }: UserMessageData): UserMessageData {
  return { ...message, owner: false }
}
