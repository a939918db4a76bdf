import { type Address, conversationOf } from '../../core/address.ts'
import { askingAuthors, tokensBehind } from '../../core/author.ts'
import { namespacesOf } from '../../core/caller.ts'
import type { Channels } from '../../core/channel-traits.ts'
import { type SessionId, toPersonId } from '../../core/ids.ts'
import { joinsChannels } from '../../core/joins-people.ts'
import { type AuthorId, holderOf, NOBODY, personAuthor, platformIdOf } from '../../core/platform-id.ts'
import { isOwnChannel, isScheduled, type Session } from '../../core/session.ts'
import type { TurnRef } from '../../core/session-tools.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreReader } from '../../store/store.ts'
import { lastSender } from './parted-chat.ts'

/** The people a turn's tools depend on, by the rows of this moment. */
export interface TurnAuthority {
  /** Everybody whose words the session's model was shown since the session began. */
  readonly authors: readonly AuthorId[]
  /** Everybody who sees the answer; `shared` where that cannot be known, as in a group. */
  readonly readers: readonly AuthorId[] | 'shared'
}

export interface TurnAuthorsDeps {
  readonly channels: Channels
  readonly read: Pick<StoreReader, 'sessions' | 'inbox' | 'authors' | 'tokens'>
}

export interface TurnAuthorityDeps extends TurnAuthorsDeps {
  readonly read: TurnAuthorsDeps['read'] & Pick<StoreReader, 'participants' | 'people'>
  /** With `asker`, the agent may read in a shared conversation what everybody who asks there could read. */
  readonly inGroups: 'here' | 'asker'
  /** Returns true if everybody's direct chats are the main session: whoever writes next is shown what is said in it. */
  mainIsShared(): boolean
  /** Returns true if what is posted at an address is on record in a session that people of other chats share. */
  joins(address: Address): boolean
}

/**
 * Returns the people whose authority a turn has. Called at each tool call: a message that joined the turn meanwhile
 * counts, a link that ended does not.
 */
export async function turnAuthority(deps: TurnAuthorityDeps, turn: TurnRef): Promise<TurnAuthority> {
  const { read, inGroups } = deps
  const session = await read.sessions.get(turn.sessionId)
  const rows = await read.inbox.ofTurn(turn.id)
  if (session === undefined) return { authors: [], readers: 'shared' }
  const askers = await askersOf(deps, rows)
  const authors = unique([...askers, ...(await read.authors.of(session.id))])
  if (await isRevoked(read, rows)) return { authors, readers: [NOBODY] }
  const people = await readersOf(deps, session, { rows, askers })
  const own = people === 'shared' ? people : unique([...people, ...(await holdersOf(read, session, rows))])
  const widens =
    inGroups === 'asker' && askers.length > 0 && session.parent === undefined && isAskedThere(session, rows)
  return { authors, readers: own === 'shared' && widens ? askers : own }
}

/** Returns false where a chat's session is asked from elsewhere, and the chat is not shown the answer. */
function isAskedThere(session: Session, rows: readonly InboxRow[]): boolean {
  return isOwnChannel(session) || rows.every(({ dispatch }) => dispatch.reply.elsewhere !== 'only')
}

/** Returns the authors alone; none where the session is gone. */
export async function turnAuthors(deps: TurnAuthorsDeps, turn: TurnRef): Promise<readonly AuthorId[]> {
  const { read } = deps
  if ((await read.sessions.get(turn.sessionId)) === undefined) return []
  const askers = await askersOf(deps, await read.inbox.ofTurn(turn.id))
  return unique([...askers, ...(await read.authors.of(turn.sessionId))])
}

/**
 * Returns the authors of the messages the turn answers, including those that joined it while it ran. `nobody` has
 * written what a token led to that was revoked since.
 */
async function askersOf({ read, channels }: TurnAuthorsDeps, rows: readonly InboxRow[]): Promise<readonly AuthorId[]> {
  const askers = await Promise.all(
    rows.map(async (row) => ((await isRevoked(read, [row])) ? [NOBODY] : askingAuthors(channels, row.dispatch))),
  )
  return unique(askers.flat())
}

/** Returns true if one of the tokens that have led to these messages was revoked since. */
async function isRevoked({ tokens }: TurnAuthorsDeps['read'], rows: readonly InboxRow[]): Promise<boolean> {
  const behind = await Promise.all(tokensBehind(rows).map((token) => tokens.get(token)))
  return behind.some((token) => token?.revokedAt !== undefined)
}

/** A clock that is ahead by less is set right some time: a token that has expired by it then reads on. */
const CLOCK_DOUBT_MS = 86_400_000

/**
 * Returns whoever holds a token that reaches the session, by its namespace: they read the answer too. What a schedule
 * or a hook delivers is on record in the session of that chat.
 */
async function holdersOf(
  { tokens }: TurnAuthorityDeps['read'],
  session: Session,
  rows: readonly InboxRow[],
): Promise<readonly AuthorId[]> {
  const delivered = isDelivered(session) ? rows.map(({ dispatch }) => dispatch.reply.address) : []
  const ids = [session.id, ...delivered.map(({ channel, chat }) => `${channel}:${chat}`)]
  const namespaces = unique(ids.flatMap(namespacesOf))
  const at = (rows.at(-1)?.dispatch.receivedAt ?? 0) - CLOCK_DOUBT_MS
  return (await tokens.readers(namespaces, at)).map(holderOf)
}

type Asked = { readonly rows: readonly InboxRow[]; readonly askers: readonly AuthorId[] }

async function readersOf(
  deps: TurnAuthorityDeps,
  session: Session,
  { rows, askers }: Asked,
): Promise<TurnAuthority['readers']> {
  const { read, channels, mainIsShared } = deps
  if (session.parent !== undefined) return readersOfTask(session.parent, rows)
  if (rows.some(({ dispatch }) => dispatch.reply.address.chatType !== 'direct')) return 'shared'
  const asking = rows.flatMap(({ dispatch }) => dispatch.posted?.readers ?? [])
  if (isDelivered(session)) {
    const there = await atDelivery(deps, rows)
    return there === 'shared' ? there : unique([...there, ...asking])
  }
  if (!isPrivate(session) || (session.kind === 'main' && mainIsShared())) return 'shared'
  // A session that /new, a fork or a delivery has begun has a reader in its chat who has not spoken in it yet.
  const inChat = peopleOfChat(channels, session)
  return unique([...askers, ...asking, ...inChat, ...(await read.participants.of(session.id))])
}

/**
 * Returns the person whose chat a private session is, `nobody` where that is not known. A client's session has no chat,
 * and the main one is an owner's.
 */
function peopleOfChat(channels: Channels, session: Session): readonly AuthorId[] {
  const { source, kind, scope } = session
  if (source.kind !== 'channel' || kind === 'main') return []
  const last = lastSender(session, channels) ?? NOBODY
  const { sender } = scope.values
  return sender !== undefined && joinsChannels(session) ? [last, personAuthor(toPersonId(sender))] : [last]
}

/**
 * Returns the readers of the conversation that began a task, which reads all that is said in it, as the turn there has
 * named them. Whoever else writes to the task, an owner from another chat, does not know them.
 */
function readersOfTask(parent: SessionId, rows: readonly InboxRow[]): TurnAuthority['readers'] {
  const named = rows.map(({ dispatch: { posted } }) => {
    const byParent = posted?.from !== undefined && 'session' in posted.from && posted.from.session === parent
    return byParent ? (posted.readers ?? []) : []
  })
  return named.length === 0 || named.some((readers) => readers.length === 0) ? 'shared' : unique(named.flat())
}

/** Returns true for a session without a chat of its own whose answers go to one: that of a schedule, or of a hook. */
function isDelivered(session: Session): boolean {
  return isScheduled(session) || session.metadata.deliver_to !== undefined
}

/**
 * Returns the readers of a direct chat that a schedule or a hook delivers to: the person whose id it has, the owner
 * known to write there, or whoever writes in its session.
 */
async function atDelivery(
  { read, channels, joins }: TurnAuthorityDeps,
  rows: readonly InboxRow[],
): Promise<TurnAuthority['readers']> {
  const address = rows[0]?.dispatch.reply.address
  if (address === undefined || joins(address)) return 'shared'
  const { channel, chat } = address
  if (channels.traits(channel).ids.directChatIsPerson) return [platformIdOf(channels, channel, { id: chat })]
  const place = conversationOf(address)
  const owners = (await read.people.directChats()).filter((one) => conversationOf(one.address) === place)
  if (owners.length > 0) return owners.map(({ platformId }) => platformId)
  const [session] = await read.sessions.under(`${channel}:direct:${chat}`, 1)
  return session === undefined ? [NOBODY] : peopleOfChat(channels, session)
}

/** Returns true if only direct chats can be in the session, whatever the rules join into one. */
function isPrivate({ chatType, kind, scope, source, displayKey }: Session): boolean {
  if (chatType !== 'direct') return false
  if (kind === 'main' || source.kind !== 'channel') return true
  const { chat, sender } = scope.values
  return chat?.startsWith('direct:') ?? (sender !== undefined && displayKey.endsWith(`direct:${sender}`))
}

function unique(authors: readonly AuthorId[]): readonly AuthorId[] {
  return [...new Set(authors)]
}
