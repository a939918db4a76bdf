import type { SessionId } from './ids.ts'

/** The name of words that a message quotes: those of an event, or what an applicant calls themselves. */
export type QuotedName = `event:${string}` | `applicant:${string}`

/** The words of somebody in a message, which keeps the rest once they are forgotten. */
export interface Quoting {
  readonly of: QuotedName
  /** The whole message without them, in Markdown. */
  readonly text: string
}

export function quotedEvent(session: SessionId, seq: number): QuotedName {
  return `event:${session} ${seq}`
}

export function quotedApplicant(key: string): QuotedName {
  return `applicant:${key}`
}
