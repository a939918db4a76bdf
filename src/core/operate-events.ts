import type { SessionId, TurnId } from './ids.ts'
import type { SessionEventReport } from './operate-sessions.ts'
import type { StreamPlace } from './stream-place.ts'

/** An event of a session as a live stream delivers it: the same report as in its history (S16). */
export interface LiveEvent {
  readonly session: string
  readonly event: SessionEventReport
}

/** An answer that grows, as its turn reports it. */
export interface GrownText {
  readonly session: SessionId
  readonly turn: TurnId
  /** The whole text so far, raw: markers included. */
  readonly text: string
}

/** Text of an answer that grows: it stands for everything from character `from` on. Nothing of it is stored. */
export interface LiveText {
  readonly session: string
  readonly turn: string
  readonly from: number
  readonly text: string
}

/**
 * The last word of a stream. `succeeded`: the name leads to another session by now, named if the reader may see it.
 * `stopping`: the daemon stops; whoever connects to the next one resumes without a gap.
 */
export type StreamEnd =
  | { readonly reason: 'succeeded'; readonly session: string; readonly successor?: string }
  | { readonly reason: 'deleted'; readonly session: string }
  | { readonly reason: 'revoked' | 'stopping' }

/** A reader of a stream. Nothing here may throw or wait, but `ready`. */
export interface StreamReader {
  /** Takes the next event; readers of one session are given the same object. */
  event(event: LiveEvent): void
  /** Takes text of a running answer; returns false where the reader is behind and has not taken it. */
  text(text: LiveText): boolean
  /** Called with a session that was deleted, where all sessions are followed. */
  deleted(session: string): void
  /** Called now and then, so that nobody on the way takes the connection for dead. */
  beat(): void
  /** Called once; nothing follows. */
  end(end: StreamEnd): void
  /** Called instead of `end` where nothing more can be said: the reader comes again. */
  cut(): void
  /** Returns true if there is room for more of the backlog. */
  roomy(): boolean
  /** Resolves when there is room, or the reader has gone. */
  ready(): Promise<void>
}

export interface FollowRequest {
  /** Events behind this place; absent: those to come. */
  readonly after?: StreamPlace | undefined
  /** With the text of running answers. */
  readonly texts: boolean
  /** Aborted when the reader may not read any more. */
  readonly ended?: AbortSignal | undefined
}

/** A stream that is open and has not begun. */
export interface Followed {
  /** The session that is followed, and its last event before the stream; absent where all are followed. */
  readonly session?: string
  readonly after?: number
  /** The place from which on events are delivered, as the reader may give it back; absent if it did give one. */
  readonly place?: string
  start(reader: StreamReader): void
  /** Called when the reader has gone. Idempotent. */
  close(): void
}

/** Live events, for one caller. */
export interface LiveEvents {
  /**
   * Follows one session by any of its names. Throws `not_found`, `too_old` for a place from which it cannot be resumed
   * exactly, `too_many` and `unavailable`.
   */
  follow(name: string, request: FollowRequest): Promise<Followed>
  /** Follows every session that the caller may see. Throws as `follow` does. */
  followAll(request: FollowRequest): Promise<Followed>
}
