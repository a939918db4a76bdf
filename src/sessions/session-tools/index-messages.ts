import type { SessionEvent } from '../../core/event.ts'
import type { SessionId, TurnId } from '../../core/ids.ts'
import { labelledWords } from '../../core/label.ts'
import type { MessageName } from '../../core/message.ts'
import { stripSilence } from '../../core/silence.ts'
import { isOwnVoice, Spoken, spokenWords } from '../../core/spoken.ts'
import { messagesIn } from '../../core/words-in.ts'
import type { MessageRef } from '../../store/memory-port.ts'
import type { Store } from '../../store/store.ts'

const PAGE = 200

/**
 * Indexes what was said in a session since the last time, one page a transaction, and returns the number of events that
 * were read, at most about `most`. It runs when somebody searches, so that no message waits for an index.
 */
export async function indexSession(
  { read, write }: Pick<Store, 'read' | 'write'>,
  session: SessionId,
  most: number,
): Promise<number> {
  let events = 0
  while (events < most) {
    const since = await read.forgetting.removals()
    const after = await read.search.indexedTo(session)
    const next = await read.events.since(session, after, PAGE)
    const page = untilCopied(next)
    const last = page.at(-1)
    if (last === undefined) break
    const earlier = await withRecordings(read, session, { page, after })
    const changes = { ...changesOf(page, earlier), copied: last.type === 'history_taken_over' }
    const isIndexed = await write(async (tx) => {
      // Another search may have been here first, or something was forgotten since it was read: it is read again then.
      if ((await tx.search.indexedTo(session)) !== after || (await tx.forgetting.hasRemovedSince(since))) return false
      await tx.search.index(session, last.seq, changes)
      return true
    })
    if (!isIndexed) continue
    events += page.length
    if (next.length < PAGE && page.length === next.length) break
  }
  return events
}

/** Copied events are a page of their own: a number in it means another message than the same number behind it. */
function untilCopied(events: readonly SessionEvent[]): readonly SessionEvent[] {
  const end = events.findIndex(({ type }) => type === 'history_taken_over')
  return end === -1 ? events : events.slice(0, end + 1)
}

/** Events before a page among which the messages of its recordings are looked for. */
const MOST_BACK = 5_000

/** Returns the messages before a page that came with recordings whose words are read in it, perhaps long after. */
async function withRecordings(
  { events }: Pick<Store['read'], 'events'>,
  session: SessionId,
  { page, after }: { readonly page: readonly SessionEvent[]; readonly after: number },
): Promise<readonly SessionEvent[]> {
  const here = new Set<string>()
  const missing = new Set<string>()
  for (const event of page) {
    for (const ref of recordingsIn(event)) here.add(ref)
    for (const ref of heardIn(event)) if (!here.has(ref)) missing.add(ref)
  }
  let found: readonly SessionEvent[] = []
  for (let first = after; missing.size > 0 && first > 0 && after - first < MOST_BACK; first -= PAGE) {
    const from = Math.max(0, first - PAGE)
    const before = await events.since(session, from, first - from)
    found = [...before.filter((event) => recordingsIn(event).some((ref) => missing.has(ref))), ...found]
    for (const ref of before.flatMap(recordingsIn)) missing.delete(ref)
  }
  return found
}

/** Returns the names of the recordings that their senders have spoken. */
function recordingsIn(event: SessionEvent): readonly string[] {
  return messagesIn(event).flatMap((message) =>
    (message.attachments ?? []).flatMap((file) => (isOwnVoice(file, message) ? file.ref : [])),
  )
}

/** Returns the names of the recordings whose words an event has. */
function heardIn({ type, data }: SessionEvent): readonly string[] {
  return type === 'files_read' ? data.files.flatMap(({ ref, spoken }) => (spoken === undefined ? [] : ref)) : []
}

interface Indexed {
  readonly seq: number
  readonly words: string
  readonly message?: MessageRef
}

/** The recording of an earlier message may be read with a later turn. */
function changesOf(
  events: readonly SessionEvent[],
  earlier: readonly SessionEvent[],
): {
  readonly added: readonly Indexed[]
  readonly gone: readonly MessageRef[]
} {
  let added: readonly Indexed[] = []
  const gone: MessageRef[] = []
  for (const event of events) {
    for (const old of replacedBy(event)) {
      added = added.filter(({ message }) => message === undefined || !isSame(message, old))
      gone.push(old)
    }
    if (heardIn(event).length > 0) added = [...added, ...heardWith(event, [...earlier, ...events])]
    const words = wordsOf(event)
    if (words === '') continue
    const message = nameOf(event)
    added = [...added, { seq: event.seq, words, ...(message ? { message } : {}) }]
  }
  return { added, gone }
}

/** Returns the words of the recordings that an event has read, each in the place of the message with which it came. */
function heardWith(read: SessionEvent, events: readonly SessionEvent[]): readonly Indexed[] {
  const spoken = new Spoken()
  if (read.type === 'files_read') spoken.add(read.data.files)
  return events.flatMap((event) => {
    if (event.type !== 'user_message' || event.seq > read.seq || event.forgotten || event.data.refused) return []
    const words = spokenWords(spoken.in(event.data))
    const message = refOf(event.data)
    return words === '' ? [] : [{ seq: event.seq, words, ...(message ? { message: notesOf(message) } : {}) }]
  })
}

/** Returns the names of what an event replaces or removes. */
function replacedBy(event: SessionEvent): readonly MessageRef[] {
  switch (event.type) {
    case 'message_edited':
      return [refOf(event.data) ?? []].flat()
    case 'message_deleted':
      return allOf(event.data)
    case 'exchange_taken_back':
      return [...event.data.messages.flatMap(allOf), answerOf(event.data.turn)]
    default:
      return []
  }
}

function allOf(name: MessageName): readonly MessageRef[] {
  const message = refOf(name)
  return message === undefined ? [] : [message, notesOf(message)]
}

/** An edit changes what is written with a voice note and nothing that is said in it, which has a name of its own. */
function notesOf({ messageId, ...chat }: MessageRef): MessageRef {
  return { messageId: `notes of ${messageId}`, ...chat }
}

function nameOf(event: SessionEvent): MessageRef | undefined {
  if (event.type === 'user_message' || event.type === 'message_edited') return refOf(event.data)
  return event.type === 'assistant_message' && event.turnId !== undefined ? answerOf(event.turnId) : undefined
}

/** The log has no platform id of an answer: the index knows it by its turn. */
function answerOf(turn: TurnId): MessageRef {
  return { messageId: `answer of ${turn}` }
}

function wordsOf(event: SessionEvent): string {
  if (event.forgotten) return ''
  switch (event.type) {
    case 'user_message':
    case 'message_edited':
      return event.data.refused ? '' : labelledWords(event.data)
    case 'assistant_message':
    case 'assistant_posted':
      return stripSilence(event.data.text).text.trim()
    default:
      return ''
  }
}

function refOf({ messageId, chat }: MessageName): MessageRef | undefined {
  return messageId === undefined ? undefined : { messageId, ...(chat === undefined ? {} : { chat }) }
}

function isSame(one: MessageRef, other: MessageRef): boolean {
  return one.messageId === other.messageId && one.chat === other.chat
}
