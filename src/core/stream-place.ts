import { ParleyError } from './errors.ts'

/**
 * A place in a stream of events. `57-mf3k2j1a@telegram:2026-11-21-9f3a61c0`, as the id of an event has it: event 57 of
 * that session, with its time, since a session that was deleted and begun again, or that a copy of the database put
 * back, numbers anew. `57`, as a client has it from a history: event 57 of the session that is followed. `0`: before
 * the first event of any stream.
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
