import type { Address } from '../core/address.ts'
import { authorsOfSaid } from '../core/author.ts'
import type { Channels } from '../core/channel-traits.ts'
import type { Clock } from '../core/clock.ts'
import type { Decision, Dispatch, Route } from '../core/dispatch.ts'
import type { EventRef } from '../core/event.ts'
import type { IdSource, SessionId } from '../core/ids.ts'
import { NOBODY } from '../core/platform-id.ts'
import type { StartedTurn } from '../sessions/turns/started-turn.ts'
import { referenceTo, saidIn } from '../sessions/view/channel-words.ts'
import type { ReceivedMessage } from '../sessions/view/received.ts'
import type { Transcript } from '../sessions/view/transcript.ts'
import type { Store, StoreReader } from '../store/store.ts'

/** Messages at the root of a channel that a thread is shown, as many as a prompt has of what was said meanwhile. */
const MOST_MESSAGES = 50
const MOST_CHARACTERS = 24_000
/** Events of the channel's own session that are looked through, back from the newest. */
const MOST_EVENTS = 300
/** Threads whose first messages, which stand at the root as well, are looked for, and their first events. */
const MOST_THREADS = 20
const FIRST_EVENTS = 10

export interface ReadBeforeDeps {
  readonly store: Store
  readonly ids: Pick<IdSource, 'trace'>
  readonly clock: Clock
  readonly channels: Channels
  readonly transcript: Pick<Transcript, 'view'>
  /** Decides like `decide` about what was said long ago; nobody is notified, nothing becomes known of anybody. */
  judge(dispatch: Dispatch): Decision
}

interface SaidInChannel {
  readonly message: ReceivedMessage
  readonly source: EventRef
  readonly at: number
}

/**
 * Has the first turn of a thread that begins with its question know what was said in the channel before: its root and
 * its threads are one room of people. The log keeps which messages were shown, by reference, and their authors; the
 * words stay in the log that has them, so that what is edited, deleted or forgotten there is so here.
 */
export async function readChannelBefore(deps: ReadBeforeDeps, turn: StartedTurn): Promise<void> {
  const route = routeOfChannel(deps, turn)
  if (route === undefined) return
  const { store, channels, clock, transcript } = deps
  const { session, id: turnId, reply } = turn
  const before = await store.read.forgetting.removals()
  const said = withinBounds(await saidInChannel(store.read, turn, route))
  if (said.length === 0) return
  const logs = [...new Set(said.map(({ source }) => source.session))]
  await store.write(async (tx) => {
    // Some of it may have been taken out since it was read: the answer does without the rest.
    if (await tx.forgetting.hasRemovedSince(before, logs)) return
    for (const { message } of said) {
      const authors = message.inChannel === 'own' ? [NOBODY] : authorsOfSaid(channels, reply.address.channel, message)
      for (const author of authors) await tx.authors.add(session.id, author)
    }
    const messages = said.map(({ message, source }) => referenceTo(message, source))
    await tx.events.append(session.id, clock.now(), [
      { type: 'thread_read', turnId, data: { messages, leftOut: 0, channel: true } },
    ])
  })
  await transcript.view(session)
}

/** Returns where an unaddressed message of the asking person would go at the root of the channel. */
function routeOfChannel({ judge, ids, clock }: ReadBeforeDeps, { reply, asked }: StartedTurn): Route | undefined {
  if (asked?.sender === undefined) return undefined
  const { topic: _topic, ...address }: Address = reply.address
  // A message without any words is none: what it says is not looked at.
  const said = { eventKey: '', messageId: '', text: '…', mentioned: false, mentionsOthers: false, attachments: [] }
  const dispatch: Dispatch = {
    origin: 'platform',
    ...{ traceId: ids.trace(), receivedAt: clock.now(), reply: { address } },
    event: { kind: 'message', ...said, address, sender: asked.sender, sentAt: asked.at },
  }
  const judged = judge(dispatch)
  return judged.kind === 'run' || judged.kind === 'context' ? judged.route : undefined
}

/** Returns what was said at the root before the message of the turn, in order. */
async function saidInChannel(
  read: StoreReader,
  { session, asked }: StartedTurn,
  { scopeKey, scope, displayKey }: Route,
): Promise<readonly SaidInChannel[]> {
  const channel = await read.sessions.current(scopeKey)
  const found = channel === undefined ? [] : await saidInLog(read, channel.id, 'all')
  // The threads of others are no part of a session that is one person's.
  const threads = scope.values.sender === undefined ? await read.sessions.under(displayKey, MOST_THREADS) : []
  for (const { id, metadata } of threads) {
    const root = metadata.topic_id
    if (root !== undefined && id !== session.id) found.push(...(await saidInLog(read, id, root)))
  }
  return found
    .filter(({ message, at }) => at <= (asked?.at ?? 0) && message.messageId !== asked?.messageId)
    .sort((one, other) => one.at - other.at)
}

/** Returns what was said in a log, or of a thread its first message, which has the id of the thread. */
async function saidInLog(read: StoreReader, session: SessionId, which: string): Promise<SaidInChannel[]> {
  const events =
    which === 'all' ? await read.events.latest(session, MOST_EVENTS) : await read.events.since(session, 0, FIRST_EVENTS)
  const times = new Map(events.map(({ seq, at }) => [seq, at]))
  return [...saidIn(events)].flatMap(([seq, message]) =>
    which === 'all' || message.messageId === which
      ? [{ message, source: { session, seq }, at: times.get(seq) ?? 0 }]
      : [],
  )
}

/** Returns the newest that fit. */
function withinBounds(said: readonly SaidInChannel[]): readonly SaidInChannel[] {
  let left = MOST_CHARACTERS
  const newest = said.slice(-MOST_MESSAGES).toReversed()
  const end = newest.findIndex(({ message: { text, forwarded } }) => {
    left -= text.length + (forwarded?.text?.length ?? 0)
    return left < 0
  })
  return (end === -1 ? newest : newest.slice(0, end)).toReversed()
}
