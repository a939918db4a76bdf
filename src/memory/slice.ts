import { amended } from '../core/amended.ts'
import { cutText } from '../core/cut-text.ts'
import type { SessionEvent, UserMessageData } from '../core/event.ts'
import { tellingWords } from '../core/fold-text.ts'
import { labelledWords, plainExcerpt, postedBy, speakerName } from '../core/label.ts'
import type { NumberedLine } from '../core/memory.ts'
import { type MessageName, messageNameKey } from '../core/message.ts'
import { stripSilence } from '../core/silence.ts'
import { spokenWords } from '../core/spoken.ts'
import type { MessageRef } from '../store/memory-port.ts'

/** The part of a session's log that a checkpoint looks at. */
export interface Slice {
  readonly lines: readonly NumberedLine[]
  /** The messages of people behind the lines, by their numbers. */
  readonly sources: ReadonlyMap<number, MessageRef>
  /** The last event of it; 0 for none. */
  readonly upTo: number
}

/** Characters of a slice: the newest lines; and of one line. */
const MOST_CHARACTERS = 32_000
const LONGEST_LINE = 2_000

/** Returns what people and the agent have said in these events, as they read now. Pure. */
export function sliceOf(events: readonly SessionEvent[]): Slice {
  const now = amended(events)
  const here = new Set(now.flatMap((event) => (event.type === 'user_message' ? messageNameKey(event.data) : [])))
  // An edit of a message that is here stands in its place already.
  const said = now.flatMap((event) =>
    event.type === 'message_edited' && here.has(messageNameKey(event.data)) ? [] : saidIn(event),
  )
  const kept = newest(said.filter(({ text }) => text !== ''))
  const lines = kept.map(({ text }, at) => ({ no: at + 1, text }))
  const sources = new Map<number, MessageRef>()
  for (const [at, { message }] of kept.entries()) {
    const ref = message && refOf(message)
    if (ref) sources.set(at + 1, ref)
  }
  return { lines, sources, upTo: events.at(-1)?.seq ?? 0 }
}

interface Said {
  readonly text: string
  readonly message?: MessageName
}

function saidIn(event: SessionEvent): readonly Said[] {
  switch (event.type) {
    case 'user_message':
      return event.data.refused ? [] : [byPerson(event.data)]
    case 'message_edited':
      return [{ ...byPerson(event.data), text: `${byPerson(event.data).text} [edited]` }]
    case 'thread_read':
      return event.data.messages.map(byPerson)
    case 'assistant_message':
    case 'assistant_posted': {
      const text = stripSilence(event.data.text).text.trim()
      const who = 'script' in event.data ? postedBy(event.data, 'you') : 'you'
      return text === '' ? [] : [{ text: `[${who}] ${cut(text)}` }]
    }
    default:
      return []
  }
}

function byPerson(message: UserMessageData): Said {
  const words = [labelledWords(message), spokenWords(message)].filter((part) => part !== '').join('\n')
  const quoted =
    message.quoted?.text && !message.quoted.own ? ` [in reply to: ${plainExcerpt(message.quoted.text, 200)}]` : ''
  return { text: words === '' ? '' : `[${speakerName(message)}]${quoted} ${cut(words)}`, message }
}

function cut(text: string): string {
  if (text.length <= LONGEST_LINE) return text
  return `${cutText(text, LONGEST_LINE)} [cut]`
}

/** Older lines are left out where all of them are too many. */
function newest(said: readonly Said[]): readonly Said[] {
  let left = MOST_CHARACTERS
  const first = said.findLastIndex(({ text }) => {
    left -= text.length
    return left < 0
  })
  return said.slice(first + 1)
}

export function refOf({ messageId, chat }: MessageName): MessageRef | undefined {
  return messageId === undefined ? undefined : { messageId, ...(chat === undefined ? {} : { chat }) }
}

/**
 * Returns the messages that a text is made of: those that the model names, and whatever has a telling word in common
 * with it, for a model may name the wrong ones. Where there is none, all of them. Pure.
 */
export function sourcesOf(text: string, named: readonly number[], slice: Slice): readonly MessageRef[] {
  const found = likeIn(slice, text, named)
  return found.length === 0 ? [...slice.sources.values()] : found
}

/** Returns the messages of the slice that a text may be made of, by a telling word that both have. Pure. */
export function likeIn({ lines, sources }: Slice, text: string, named: readonly number[] = []): readonly MessageRef[] {
  const words = new Set(tellingWords(text))
  const behind = lines.filter(
    ({ no, text: line }) =>
      sources.has(no) && (named.includes(no) || tellingWords(line).some((word) => words.has(word))),
  )
  return behind.flatMap(({ no }) => sources.get(no) ?? [])
}
