import { amended } from '../../core/amended.ts'
import { emptied } from '../../core/emptied.ts'
import type { EventRef, SessionEvent, UserMessageData } from '../../core/event.ts'
import { isLeaving, type LeavingWords } from '../../core/forgetting.ts'
import type { SessionId } from '../../core/ids.ts'
import { postedBy } from '../../core/label.ts'
import type { Session } from '../../core/session.ts'
import type { StoreReader } from '../../store/store.ts'
import { type ReceivedMessage, withReadFiles } from './received.ts'

/** Events of a log that are looked through behind the first message that is shown of it. */
const MOST = 2_000

/** Returns events of a log behind a number, in order, without those that are being forgotten. */
export type ReadLog = (session: SessionId, after: number, limit: number) => Promise<readonly SessionEvent[]>

export interface LogReader {
  readonly events: Pick<StoreReader['events'], 'since'>
  readonly sessions: Pick<StoreReader['sessions'], 'get'>
  readonly forgetting: Pick<StoreReader['forgetting'], 'leaving'>
}

/**
 * Returns the reader of the logs that a session may show by reference: those of its own chat, and no others, whatever
 * an imported log says. A thread that was moved shows nothing of the channel that it came from.
 */
export function channelLogs({ events, sessions, forgetting }: LogReader, shownIn: SessionId): ReadLog {
  return async (id, after, limit) => {
    const [here, there] = [await sessions.get(shownIn), await sessions.get(id)]
    if (here === undefined || there === undefined || !isOfSameChat(here, there)) return []
    return withoutLeaving(await events.since(id, after, limit), await forgetting.leaving(id, 'ended'))
  }
}

function isOfSameChat({ metadata: here }: Session, { metadata: there }: Session): boolean {
  return here.chat_id !== undefined && NAMES_OF_A_CHAT.every((name) => here[name] === there[name])
}

const NAMES_OF_A_CHAT = ['channel', 'account', 'chat_id'] as const

/** Returns events of a log without the words of turns that are being forgotten. */
export function withoutLeaving(events: readonly SessionEvent[], leaving: LeavingWords): readonly SessionEvent[] {
  if (leaving.turns.length === 0) return events
  return events.map((event) => (isLeaving(event, leaving) ? { ...event, ...emptied(event), forgotten: true } : event))
}

/**
 * Returns messages with the words that stand in other logs, as they are there now: what was edited there has its last
 * text, what was deleted, taken back or forgotten is left out. An edit that brings words of others, as a preview of a
 * page, brings only its writer's own: whose words a session was shown is on record from when they were. Where a log has
 * grown so far that a deletion could be overlooked, none of its messages is shown. Nobody keeps the words.
 */
export async function withChannelWords(
  messages: readonly ReceivedMessage[],
  read: ReadLog,
): Promise<ReadonlyMap<ReceivedMessage, ReceivedMessage>> {
  const wanted = messages.flatMap((message) => (message.source === undefined ? [] : [{ message, ...message.source }]))
  const logs = new Map<SessionId, ReadonlyMap<number, ReceivedMessage>>()
  for (const { session } of wanted) {
    if (logs.has(session)) continue
    const seqs = wanted.filter((one) => one.session === session).map(({ seq }) => seq)
    const events = await read(session, Math.min(...seqs) - 1, MOST)
    logs.set(session, events.length < MOST ? saidIn(events) : new Map())
  }
  return new Map(
    wanted.flatMap(({ message, session, seq }) => {
      const said = logs.get(session)?.get(seq)
      return said === undefined ? [] : [[message, shownHere(said, session)] as const]
    }),
  )
}

/** Returns events of a log with the words of the messages that it has by reference. */
export async function withWordsOfChannel(
  events: readonly SessionEvent[],
  read: ReadLog,
): Promise<readonly SessionEvent[]> {
  const shown = events.flatMap(({ type, data }) => (type === 'thread_read' ? data.messages : []))
  const words = await withChannelWords(shown, read)
  return events.map((event) => {
    if (event.type !== 'thread_read') return event
    const messages = event.data.messages.flatMap((message) =>
      message.source === undefined ? message : (words.get(message) ?? []),
    )
    return { ...event, data: { ...event.data, messages } }
  })
}

/**
 * Returns what was said in a log by the numbers of its events: messages of people, with what was read of their files,
 * and texts that the agent posted.
 */
export function saidIn(events: readonly SessionEvent[]): ReadonlyMap<number, ReceivedMessage> {
  const first = new Map(events.map((event) => [event.seq, event]))
  const read = events.flatMap(({ type, data }) => (type === 'files_read' ? data.files : []))
  const files = new Map(read.map(({ ref, ...reading }) => [ref, reading]))
  return new Map(
    amended(events).flatMap((event) => {
      const before = first.get(event.seq)
      const message = said(event)
      if (message === undefined) return []
      const own = before?.type === 'user_message' ? inOwnWords(message, before.data) : message
      return withReadFiles([own], files).map((shown) => [event.seq, shown] as const)
    }),
  )
}

/** Returns a message with its writer's own words as they are now, and what is left of others' that it came with. */
function inOwnWords(now: ReceivedMessage, first: UserMessageData): ReceivedMessage {
  if (now === first) return now
  const { forwarded, via, enclosed = NONE, attachments = NONE } = now
  const { quoted: _quoted, forwarded: _forwarded, via: _via, enclosed: _enclosed, attachments: _files, ...said } = now
  const isOthers = via !== undefined || (forwarded !== undefined && forwarded.text === undefined)
  const files = attachments.filter(({ ref }) => first.attachments?.some((file) => file.ref === ref))
  const things = enclosed.filter((line) => first.enclosed?.includes(line))
  return {
    ...said,
    text: isOthers ? first.text : said.text,
    ...(now.quoted && first.quoted && { quoted: first.quoted }),
    ...(forwarded && first.forwarded && { forwarded: first.forwarded }),
    ...(via && first.via && { via: first.via }),
    ...(things.length === 0 ? {} : { enclosed: things }),
    ...(files.length === 0 ? {} : { attachments: files }),
  }
}

const NONE: readonly never[] = []

function said({ type, data }: SessionEvent): ReceivedMessage | undefined {
  if (type === 'user_message') return data.refused || data.source !== undefined ? undefined : data
  if (type !== 'assistant_posted') return undefined
  const { messageId } = data
  const text = data.script === undefined ? data.text : `(${postedBy(data, '')}) ${data.text}`
  const name = messageId === undefined ? {} : { messageId }
  return { ...name, text, inChannel: 'own', sender: SELF, owner: false, addressed: false, triggers: false }
}

const SELF = { id: 'self', kind: 'bot' } as const

/** It owes no turn here. */
function shownHere({ row: _row, ...data }: ReceivedMessage, elsewhere: SessionId): ReceivedMessage {
  const inChannel = data.inChannel ?? (data.triggers ? 'answered' : 'theirs')
  return { ...data, addressed: false, triggers: false, inChannel, elsewhere }
}

/** Returns the reference to a message of another log: ids, and nothing of what was said. */
export function referenceTo({ messageId, sender, person }: UserMessageData, source: EventRef): UserMessageData {
  const { id, kind, team } = sender
  return {
    ...(messageId === undefined ? {} : { messageId }),
    ...{ text: '', sender: { id, kind, ...(team === undefined ? {} : { team }) } },
    ...(person === undefined ? {} : { person }),
    ...{ owner: false, addressed: false, triggers: false, source },
  }
}
