import { type AuthorId, NOBODY } from '../../core/platform-id.ts'

/** A person a decision depends on, and whether they could do the thing themselves. */
export interface Judged {
  readonly author: AuthorId
  readonly may: boolean
}

/**
 * `absent`: a single person is behind the request and could not do it either, so it does not exist for them. `denied`:
 * one of several people could not, in words for the model. The words are the same whether or not the thing exists.
 */
export type Verdict =
  | { readonly kind: 'allowed' }
  | { readonly kind: 'absent' }
  | { readonly kind: 'denied'; readonly reason: string }

export const ALLOWED: Verdict = { kind: 'allowed' }

const MOST_NAMED = 3

/**
 * Decides what a turn may send elsewhere, change or admit: only what every author whose words it was shown may do.
 * Without a known author nothing is allowed. Pure.
 */
export function judgeActing(authors: readonly Judged[]): Verdict {
  return judge(
    authors,
    (unable) =>
      `Denied: this conversation contains words of ${namesOf(unable)}, who may not do this, so it is not done from here. Ask in another conversation, or begin a fresh one with /new.`,
  )
}

/**
 * Decides whether a turn may send at all: each message begins one more turn, and no guest may cause turns that are not
 * counted as theirs. Pure.
 */
export function judgeSending(authors: readonly (Pick<Judged, 'author'> & { readonly known: boolean })[]): Verdict {
  const guests = authors.filter(({ known }) => !known).map(({ author }) => author)
  if (guests.length === 0) return ALLOWED
  const reason = `Denied: this conversation contains words of ${namesOf(guests)}. Where guests speak, nothing is sent; answer here instead.`
  return { kind: 'denied', reason }
}

function namesOf(authors: readonly AuthorId[]): string {
  const names = authors.slice(0, MOST_NAMED).map((author) => (author === NOBODY ? STRANGERS : author))
  const more = authors.length > MOST_NAMED ? ` and ${authors.length - MOST_NAMED} more` : ''
  return authors.length === 0 ? STRANGERS : `${names.join(', ')}${more}`
}

/**
 * Decides what a turn may read outside of its conversation: only what everybody who sees its answer could read
 * themselves. `shared` means that it is unknown who sees it. Pure.
 */
export function judgeReading(readers: readonly Judged[] | 'shared'): Verdict {
  return readers === 'shared' ? { kind: 'denied', reason: HERE_ONLY } : judge(readers, () => NOT_FOR_ALL)
}

const STRANGERS = 'nobody I know'
const HERE_ONLY =
  'Denied: others see what is answered here, so nothing but this conversation can be read from it. Ask in a direct chat.'
const NOT_FOR_ALL = 'Denied: not everybody who sees what is answered here may read that.'

function judge(people: readonly Judged[], because: (unable: readonly AuthorId[]) => string): Verdict {
  const unable = people.filter(({ may }) => !may).map(({ author }) => author)
  if (people.length > 0 && unable.length === 0) return ALLOWED
  return people.length === 1 && unable[0] !== NOBODY ? { kind: 'absent' } : { kind: 'denied', reason: because(unable) }
}
