import { type Address, formatAddress, parseAddress } from '../../core/address.ts'
import { holdsSession, namespacesOf } from '../../core/caller.ts'
import { type Channels, OWN_CHANNELS } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import { failpoint } from '../../core/failpoint.ts'
import { joinsPeople } from '../../core/joins-people.ts'
import { type AuthorId, platformIdOf } from '../../core/platform-id.ts'
import type { Relocation, RelocationRequest } from '../../core/relocation.ts'
import type { Session, SessionDraft } from '../../core/session.ts'
import { overridesOf } from '../../core/session-settings.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'
import { draftAfter, draftAt } from '../turns/session-draft.ts'
import { addressOf } from './address-of.ts'
import { checkForgetting } from './check-forgetting.ts'
import type { NamedAudiences } from './named-audiences.ts'
import { placeTitle } from './place-title.ts'
import type { DaemonSessions } from './session-service.ts'
import { startAfter } from './start-after.ts'

export interface RelocateDeps {
  readonly store: Store
  readonly clock: Clock
  readonly channels: Channels
  readonly daemon: Pick<DaemonSessions, 'ids' | 'overrides' | 'place' | 'posts'> & {
    readonly models: Pick<DaemonSessions['models'], 'agents'>
  }
  /** The audiences that were named to whoever asked before. */
  readonly named: NamedAudiences
}

/** The conversation in which a session is continued, and the session that it has now. */
interface Destination {
  readonly address: Address
  readonly there: Session | undefined
  /** The id that the chat has by now, where it was named by a former one. */
  readonly movedTo: string | undefined
  draft(): SessionDraft
}

/**
 * Continues a session in another conversation, in one commit, so that it has moved once or not at all. Its log and its
 * authors are copied into a new session there: who took part before reads nothing of what is said later. Throws
 * `conflict` while a turn runs or waits in either of them.
 */
export async function relocate(session: Session, request: RelocationRequest, deps: RelocateDeps): Promise<Relocation> {
  const { store, daemon, named } = deps
  const before = request.once && (await store.read.keyedRequests.effect(request.once))
  if (before !== undefined) return JSON.parse(before) as Relocation
  if (session.messageCount === 0) throw new ParleyError('conflict', `Nothing was said in ${session.id} yet.`)
  const destination = await destinationOf(request.to, deps)
  const { address, there } = destination
  if (there?.scopeKey === session.scopeKey && there.id === session.id)
    throw new ParleyError('conflict', `${session.id} is in ${formatAddress(address)} already.`)
  const audience = await widerAudience(session, destination, { ...deps, read: store.read })
  const to = formatAddress(address)
  const key = `${session.scopeKey} ${to}`
  if (audience !== undefined && request.confirmed !== true) {
    named.name(key, audience.names)
    return { state: 'asks', session: session.id, to, audience: audience.words }
  }
  const done = await store.write(async (tx) => {
    await checkIdle(tx, [session, ...(there ? [there] : [])])
    await checkStands(tx, session, destination)
    const now = await widerAudience(session, destination, { ...deps, read: tx })
    if (audience === undefined && now)
      throw new ParleyError('conflict', `Somebody else has spoken in ${session.id} meanwhile: ask again.`)
    if (now) checkNamed(now, { key, named, session })
    const made = await continueThere(tx, session, destination, deps)
    const fresh = request.kind === 'move' ? await beginAfresh(tx, session, deps) : undefined
    tx.afterCommit(() => {
      named.done(key)
      for (const one of [made, ...(fresh ? [fresh] : [])]) daemon.overrides.set(one, overridesOf(one), true)
    })
    const moved = relocated(session, made, there)
    if (request.once) await tx.keyedRequests.took(request.once, JSON.stringify(moved))
    failpoint('CP24-move-uncommitted')
    return moved
  })
  failpoint('CP25-move-committed')
  return done
}

/** Throws `conflict` for what was not named yet, and names it: the next yes means that too. */
function checkNamed(
  { names }: Audience,
  { key, named, session }: { readonly key: string; readonly named: NamedAudiences; readonly session: Session },
): void {
  const more = named.unnamed(key, names)
  if (more.length === 0) return
  named.name(key, names)
  throw new ParleyError(
    'conflict',
    `Since that was asked, there is more to ${session.displayKey}: ${someOf(more)}. Say yes once more if that is meant too.`,
  )
}

function relocated(session: Session, done: Session, there: Session | undefined): Relocation {
  return {
    ...{ state: 'done', from: session.id, session: done.id, key: done.displayKey },
    ...(there ? { replaced: there.id } : {}),
    ...(done.agentId === session.agentId ? {} : { agent: done.agentId }),
  }
}

/** A session of the conversation has more of it than its address: the team, the name, the agent. */
async function destinationOf(to: string, { store, daemon, channels }: RelocateDeps): Promise<Destination> {
  const named = await store.read.sessions.resolve(to)
  const there = named && (await store.read.sessions.current(named.scopeKey))
  if (there) {
    const nowhere = there.scopeKey === there.displayKey || there.parent !== undefined
    if (nowhere || ['cron', 'hook', 'node'].includes(there.kind))
      throw new ParleyError('invalid', `${to} is no conversation in which people write; name a chat.`)
    refuseRoot({ channels, daemon }, addressOf(there))
    return { address: addressOf(there), there, movedTo: undefined, draft: () => draftAfter(there, daemon.ids) }
  }
  const address = parseAddress(OWN_CHANNELS.some((one) => to.startsWith(`${one}:`)) ? ownName(to) : to)
  if (!OWN_CHANNELS.includes(address.channel) && !daemon.posts(address.channel))
    throw new ParleyError('invalid', `No account of ${address.channel} is configured, so nobody could go on there.`)
  const movedTo = await store.read.chatMoves.movedTo(address.channel, address.chat)
  const opening = daemon.place(address)
  // The store has a new id a moment before routing knows of it: nobody would find what began in the former chat.
  if (movedTo !== undefined && opening.dispatch.reply.address.chat !== movedTo) throw changed(to)
  refuseRoot({ channels, daemon }, address)
  const current = await store.read.sessions.current(opening.route.scopeKey)
  const draft = (): SessionDraft =>
    current ? draftAfter(current, daemon.ids) : draftAt(opening, { ids: daemon.ids, channels })
  return { address, there: current, movedTo, draft }
}

/** Throws `invalid` for the root of a channel in which no mention would ever reach the session; no real id matters. */
function refuseRoot({ channels, daemon }: Pick<RelocateDeps, 'channels' | 'daemon'>, address: Address): void {
  const { channel, chatType, topic } = address
  if (chatType !== 'channel' || topic !== undefined) return
  const { rootBeginsThreads, name } = channels.traits(channel)
  if (!rootBeginsThreads) return
  const [root, thread] = [daemon.place(address).route, daemon.place({ ...address, topic: '1700000000.000100' }).route]
  if (root.scopeKey === thread.scopeKey) return
  const key = `${root.displayKey}/<thread>`
  throw new ParleyError(
    'invalid',
    `In a channel of ${name} each mention begins a thread of its own, so nobody would reach the session at its root. Name a thread: mention the bot in the channel, then use the key that \`parley sessions list\` shows for it, \`${key}\`.`,
  )
}

/** `cli:<name>` has no type of chat in it. */
function ownName(name: string): string {
  const [channel = '', ...rest] = name.split(':')
  return rest[0] === 'direct' ? name : `${channel}:direct:${rest.join(':')}`
}

async function checkIdle(tx: StoreWriter, sessions: readonly Session[]): Promise<void> {
  const running = await tx.turns.running()
  for (const session of sessions) {
    const { id, displayKey } = session
    const busy = running.some(({ sessionId }) => sessionId === id) || (await tx.inbox.waiting(id, 1)).length > 0
    if (busy)
      throw new ParleyError('conflict', `${displayKey} has a turn that runs or waits: try again when it has ended.`)
    await checkForgetting(tx, session)
  }
}

/**
 * Throws `conflict` where another relocation, a command, or the new id of one of the chats came first: what was begun
 * would be lost from sight.
 */
async function checkStands(
  { sessions, chatMoves }: StoreWriter,
  session: Session,
  { address, there, movedTo, draft }: Destination,
): Promise<void> {
  const [left, current] = [await sessions.get(session.id), await sessions.current(draft().scopeKey)]
  const stays = left?.scopeKey === session.scopeKey && left.inactiveAt === session.inactiveAt
  const present = there ? movedTo : await chatMoves.movedTo(address.channel, address.chat)
  if (stays && current?.id === there?.id && present === movedTo) return
  throw changed(`${session.displayKey} or the other conversation`)
}

function changed(what: string): ParleyError {
  return new ParleyError('conflict', `${what} has changed meanwhile: ask again.`)
}

/** The send policy stays with the place: a chat that was silenced is not opened by a session that comes into it. */
async function continueThere(
  tx: StoreWriter,
  session: Session,
  { there, draft }: Destination,
  { clock, daemon }: RelocateDeps,
): Promise<Session> {
  const at = clock.now()
  const { agents } = daemon.models
  if (there) await tx.sessions.deactivate(there.id, at)
  const made = await startAfter(tx, session, {
    at,
    there,
    agents,
    draft: () => ({ ...draft(), settingsOf: session.id }),
  })
  if (!there) await tx.aliases.add(made.scopeKey, [made.displayKey])
  const sendPolicy = there?.sendPolicy
  await tx.sessions.patchOverrides(
    made.id,
    sendPolicy === undefined ? { set: {}, inherit: ['sendPolicy'] } : { set: { sendPolicy }, inherit: [] },
  )
  const events = await tx.events.copy(session.id, made.id)
  await tx.authors.copy(session.id, made.id)
  await tx.events.append(made.id, at, [{ type: 'history_taken_over', data: { from: session.id, events } }])
  return (await tx.sessions.get(made.id)) ?? made
}

/** The conversation that a session left begins afresh, as after `/new`; that of a client as its client has begun it. */
async function beginAfresh(
  tx: StoreWriter,
  session: Session,
  { clock, daemon: { ids, models } }: RelocateDeps,
): Promise<Session | undefined> {
  const at = clock.now()
  await tx.sessions.deactivate(session.id, at)
  if ((await tx.sessions.current(session.scopeKey))?.id !== session.id) return undefined
  return startAfter(tx, session, { at, there: undefined, agents: models.agents, draft: () => draftAfter(session, ids) })
}

type AudiencePorts = Pick<RelocateDeps, 'channels' | 'clock'> & {
  readonly read: Pick<StoreReader, 'authors' | 'sessions' | 'tokens'>
}

interface Audience {
  /** Says to people who could read the session. */
  readonly words: string
  /** The authors and the tokens, one by one. */
  readonly names: readonly string[]
}

/**
 * Returns who could read the session there and could not before; undefined if it is nobody: a
 * direct chat of the only one whose words it holds, which shares its session with no other chat, and which no token
 * reaches that did not reach the session before.
 */
async function widerAudience(
  session: Session,
  { address, there, draft }: Destination,
  { read, channels, clock }: AudiencePorts,
): Promise<Audience | undefined> {
  const authors = await read.authors.of(session.id)
  const row = draft()
  const joined = joinsPeople(channels, there ?? row)
  const only = joined ? undefined : personAt(address, channels)
  const reading = await read.tokens.readers(namespacesOf(row.id), clock.now())
  const holders = reading.map(({ namespace }) => namespace).filter((one) => !holdsSession(one, session.id))
  const isTheirs = only !== undefined && authors.length > 0 && authors.every((author) => author === only)
  if (isTheirs && holders.length === 0) return undefined
  const title = (await placeTitle(read, address)).title ?? formatAddress(address)
  const from = (await placeTitle(read, addressOf(session), session.id)).title ?? session.displayKey
  const people = joined ? `Everybody whose chats share ${(there ?? row).displayKey}` : readersOf(address, title)
  const tokens = holders.length === 0 ? '' : `, and whoever has a token of ${[...new Set(holders)].join(', ')},`
  return {
    words: `${people}${tokens} could then have the agent say everything that was said in ${from}: ${session.messageCount} messages, ${wordsOf(authors)}.`,
    names: [...authors.map((author) => `words of ${author}`), ...holders.map((one) => `a token of ${one}`)],
  }
}

function personAt(address: Address, channels: Channels): AuthorId | undefined {
  const { channel, chat, chatType } = address
  const { ids } = channels.traits(channel)
  return chatType === 'direct' && ids.directChatIsPerson ? platformIdOf(channels, channel, { id: chat }) : undefined
}

function readersOf({ channel, chatType }: Address, title: string): string {
  if (OWN_CHANNELS.includes(channel)) return `Whoever may use ${title} on this machine or with a token`
  return chatType === 'direct' ? `Whoever writes in ${title}` : `Everybody who writes in ${title}`
}

const MOST_NAMED = 5

function wordsOf(authors: readonly AuthorId[]): string {
  return authors.length === 0 ? 'words of nobody who is on record' : `words of ${someOf(authors)}`
}

function someOf(names: readonly string[]): string {
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : ''
  return `${names.slice(0, MOST_NAMED).join(', ')}${more}`
}
