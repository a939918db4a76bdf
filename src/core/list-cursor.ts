import { ParleyError } from './errors.ts'
import type { SessionId } from './ids.ts'

/** The end of a page of a list: the last activity of its last session, and that session. */
export interface ListPlace {
  /** Ms since the epoch. */
  readonly at: number
  readonly id: SessionId
}

const FORM = /^(\d{1,16}) ([^\s\p{Cc}]{1,500})$/u

/** Returns the opaque name of a place, for the next page. It says nothing that the page did not. */
export function formatCursor({ at, id }: ListPlace): string {
  return Buffer.from(`${at} ${id}`).toString('base64url')
}

/** Returns the place that a cursor names. Throws `invalid` for a text that no list has given. */
export function parseCursor(cursor: string): ListPlace {
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, at = '', id = ''] = FORM.exec(text) ?? []
  const place = { at: Number(at), id: id as SessionId }
  if (id !== '' && Number.isSafeInteger(place.at) && formatCursor(place) === cursor) return place
  throw new ParleyError('invalid', '"cursor" is not one that a list has given as next')
}
