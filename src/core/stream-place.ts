import { ParleyError } from './errors.ts'

/**
 * A place in a stream of events, as the id of an event carries it. `57`: event 57 of the session that is followed.
 * `57-mf3k2j1a@telegram:2026-11-21-9f3a61c0`: the same of a session that the stream's own name may not stand for any
 * more, with the time of the event, since a session that was deleted and begun again numbers anew.
 */
export interface StreamPlace {
  readonly seq: number
  readonly at?: number
  readonly session?: string
}

const PLACE = /^(\d{1,15})(?:-([0-9a-z]{1,11})@(\S{1,512}))?$/

/** Parses what a client gives back. Throws `invalid`, by the name of the value. */
export function parsePlace(name: string, text: string): StreamPlace {
  const [, seq, at, session] = PLACE.exec(text) ?? []
  if (seq === undefined)
    throw new ParleyError('invalid', `"${name}" must be the id of an event of this stream, such as 57`)
  if (at === undefined || session === undefined) return { seq: Number(seq) }
  return { seq: Number(seq), at: Number.parseInt(at, 36), session }
}

/** Returns the whole place of an event. */
export function placeOf(session: string, { seq, at }: { readonly seq: number; readonly at: number }): string {
  return `${seq}-${Math.max(0, at).toString(36)}@${session}`
}
