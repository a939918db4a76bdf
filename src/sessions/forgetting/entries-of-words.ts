import type { InboxId } from '../../core/ids.ts'
import type { ForgetReader, Pause } from './forget-reader.ts'
import type { Going, MadeByCalls } from './made-by-calls.ts'
import { entriesOfCommands, type ForgottenWords, isEntryOf } from './made-of-words.ts'
import { isWhollyIn } from './origin.ts'
import type { SessionScan } from './scan-session.ts'

const MOST_ENTRIES = 10_000
/** Messages whose entries are looked for at once. */
const AT_ONCE = 2_000

interface EntryParts {
  readonly words: ForgottenWords
  /** The messages that are meant. */
  readonly rows: readonly InboxId[]
  readonly scans: readonly SessionScan[]
  readonly made: MadeByCalls
  readonly pause: Pause
}

/** Returns the entries of long-term memory that are made of the messages which go, whatever their words. */
export async function entriesMade(
  { memory, forgetting }: Pick<ForgetReader, 'memory' | 'forgetting'>,
  { words, rows, scans, made, pause }: EntryParts,
): Promise<Set<number>> {
  const found = new Set<number>(await entriesOfCommands({ memory, words, pause }, rows))
  for (const { no, authors } of await made.corrected({ memory }))
    if (authors.every((author) => words.authors.has(author))) found.add(no)
  for (const { session, messages } of scans)
    for (let at = 0; at < messages.length; at += AT_ONCE, await pause())
      for (const no of await forgetting.entriesOf(session.id, messages.slice(at, at + AT_ONCE))) found.add(no)
  return found
}

/** Returns these, those that repeat the words, and those of a conversation that goes as a whole. */
export async function entriesFound(
  read: Pick<ForgetReader, 'memory' | 'forgetting'>,
  parts: EntryParts,
): Promise<readonly number[]> {
  const { words, scans, pause } = parts
  const found = await entriesMade(read, parts)
  for (const { session } of scans) {
    const isWhole = isWhollyIn(words.target, session)
    for (const entry of await read.memory.newest([session.id], MOST_ENTRIES))
      if (isEntryOf(words, entry) || (isWhole && entry.at < words.target.before)) found.add(entry.no)
    await pause()
  }
  return [...found]
}

/** Later texts may repeat what is made of the words in other words, as they may repeat the words. */
export async function tellMade(
  read: Pick<ForgetReader, 'memory' | 'forgetting' | 'schedules'>,
  parts: EntryParts & Going,
): Promise<void> {
  const { words, made } = parts
  for (const no of await entriesFound(read, parts)) {
    const entry = await read.memory.get(no)
    if (entry === undefined) continue
    made.listEntry(entry)
    // An entry with words of others as well may repeat theirs.
    if (entry.authors.every((author) => words.authors.has(author))) words.tellings.add(entry.text, entry.at)
  }
  for (const { id, definition, createdAt } of await made.reminders(read, parts)) {
    made.listReminder(id)
    const { authors = [], prompt } = definition
    if (authors.every((author) => words.authors.has(author))) words.tellings.add(prompt, createdAt)
  }
}
