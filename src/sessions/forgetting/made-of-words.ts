import type { ForgetTarget } from '../../core/forgetting.ts'
import type { InboxId } from '../../core/ids.ts'
import type { MemoryEntry } from '../../core/memory.ts'
import type { AuthorId } from '../../core/platform-id.ts'
import { repeats, type Tellings } from '../../core/repeats.ts'
import type { Schedule } from '../../core/schedule.ts'
import type { ForgetReader, Pause } from './forget-reader.ts'
import { liesIn } from './origin.ts'

/** The target of a request, the words that it means, and everybody who has said some of them. */
export interface ForgottenWords {
  readonly target: ForgetTarget
  readonly tellings: Tellings
  readonly authors: ReadonlySet<AuthorId>
}

/** Returns whether an entry of long-term memory repeats what is meant, or is the own one of whoever is forgotten. */
export function isEntryOf(words: ForgottenWords, { text, authors, at }: MemoryEntry): boolean {
  return (isPartly(words, authors) && repeats(words.tellings, text, at)) || isOwn(words, authors, at)
}

/**
 * Returns whether a reminder repeats what is meant, is for a chat that is forgotten, made in such a session, or of such
 * a person.
 */
export function isScheduleOf(words: ForgottenWords, { source, definition, creator, createdAt }: Schedule): boolean {
  const { target, tellings } = words
  if (source !== 'command') return false
  if (isPartly(words, definition.authors) && repeats(tellings, definition.prompt, createdAt)) return true
  if (createdAt >= target.before || createdAt < (target.since ?? 0)) return false
  if (target.kind === 'chat') return liesIn(target.place, definition.deliverTo)
  if (target.kind === 'session') return definition.madeIn !== undefined && target.sessions.includes(definition.madeIn)
  if (target.kind !== 'person' || target.person === undefined || creator !== target.person) return false
  return target.place === undefined || liesIn(target.place, definition.deliverTo)
}

/** Commands whose entries are looked for at once. */
const AT_ONCE = 2_000

/** Returns the entries that commands which go have made, and nobody else has written anew since. */
export async function entriesOfCommands(
  { memory, words, pause }: Pick<ForgetReader, 'memory'> & { readonly words: ForgottenWords; readonly pause: Pause },
  rows: readonly InboxId[],
): Promise<readonly number[]> {
  const found: number[] = []
  for (let at = 0; at < rows.length; at += AT_ONCE, await pause())
    for (const { no, authors } of await memory.ofCommands(rows.slice(at, at + AT_ONCE)))
      if (isPartly(words, authors)) found.push(no)
  return found
}

/** Returns the applicants who are forgotten as a whole. */
export function applicantsOf(target: ForgetTarget): readonly string[] {
  return target.kind === 'person' && target.place === undefined && target.since === undefined ? target.ids : []
}

/** A text that is made of the words of others alone stays theirs, whatever it repeats. */
function isPartly({ authors: meant }: ForgottenWords, authors: readonly AuthorId[] | undefined): boolean {
  return authors === undefined || authors.some((author) => meant.has(author))
}

/** An entry of one person alone is theirs, wherever it was made: it goes where all of their words go. */
function isOwn({ target }: ForgottenWords, authors: readonly AuthorId[], at: number): boolean {
  if (target.kind !== 'person' || at >= target.before || at < (target.since ?? 0)) return false
  return target.place === undefined && authors.length > 0 && authors.every((author) => target.ids.includes(author))
}
