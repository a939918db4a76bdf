import type { Namespace } from '../core/caller.ts'
import type { AccountId, ChannelId, MediaId, ScopeKey, SessionId, SourceId } from '../core/ids.ts'
import type { KeyedRequest, RequestId } from '../core/keyed-request.ts'
import type { AuthorId } from '../core/platform-id.ts'
import type { StoredToken } from '../core/token.ts'

/** The small repositories: a part of the store port, apart only for its size. */
export interface ChannelStateReader {
  get(channel: ChannelId, account: AccountId, key: string): Promise<string | undefined>
}

export interface ChannelStateWriter {
  set(channel: ChannelId, account: AccountId, key: string, value: string): Promise<void>
  /** Does nothing for a key that is not there. */
  delete(channel: ChannelId, account: AccountId, key: string): Promise<void>
}

/** A conversation the agent says nothing in, by `formatAddress`. */
export interface Mute {
  readonly conversation: string
  /** Ms since the epoch; absent: until it is ended. */
  readonly until?: number
}

export interface MuteReader {
  all(): Promise<readonly Mute[]>
}

export interface MuteWriter {
  /** Replaces an earlier one. */
  set(mute: Mute, at: number): Promise<void>
  clear(conversation: string): Promise<void>
}

export interface MediaUseReader {
  /** Returns those of the files that an event of any session names, or that are still to be sent. */
  used(ids: readonly MediaId[]): Promise<ReadonlySet<MediaId>>
  /** Returns the files that the events of a session name. */
  ofSession(session: SessionId): Promise<readonly MediaId[]>
}

/** The transcripts of recordings, by the handle of each. */
export interface TranscriptReader {
  of(media: MediaId): Promise<string | undefined>
}

export interface TranscriptWriter {
  /** Does nothing for one that is known. */
  add(media: MediaId, said: string, at: number): Promise<void>
  /** Deletes those of recordings that no event names, and that were made before a time; returns how many. */
  sweep(before: number): Promise<number>
}

export interface NoticeWriter {
  /** True at most once per `key` until `windowMs` have passed: one notice for a burst. */
  once(key: string, at: number, windowMs: number): Promise<boolean>
  /** True if `once` has had this key, and it is not aged out. */
  known(key: string): Promise<boolean>
}

/**
 * Messages with buttons, by what they ask about (`approval:<code>`, `admission:<code>`): each is closed once that is
 * over, and is not listed any more then.
 */
export interface CardReader {
  of(subject: string): Promise<readonly SourceId[]>
  /** Returns everything that has such a message. */
  subjects(): Promise<readonly string[]>
}

export interface CardWriter {
  /** Does nothing for one that is listed. */
  add(subject: string, source: SourceId): Promise<void>
  remove(subject: string, source: SourceId): Promise<void>
}

export interface AgeingReader {
  /** Returns the time, ms since the epoch, before which all that belonged to no session is gone, if anything is. */
  agedOut(): Promise<number | undefined>
  /** Returns when the message or delivery that was stored last was made, ms since the epoch. */
  newest(): Promise<number | undefined>
}

/**
 * Deletes what came before a time and is nothing a session is made of, at most `limit` rows, the oldest first; returns
 * how many.
 */
export interface AgeingWriter {
  /** Messages that were refused or ignored, and commands. With the row goes the knowledge that the message was seen. */
  messages(before: number, limit: number): Promise<number>
  /** Answers to commands, refusals and cards, once their sending has ended. */
  deliveries(before: number, limit: number): Promise<number>
  /** Answers in sessions, once their sending has ended. The session's log keeps what was said. */
  answers(before: number, limit: number): Promise<number>
  /** Marks of what was said once. */
  notices(before: number, limit: number): Promise<number>
  /** Mutes that ran out. */
  mutes(before: number, limit: number): Promise<number>
}

/** Further names of scopes, in lower case (K25). A name may stand for several scopes: linked people, equal ids. */
export interface AliasReader {
  of(scopeKey: ScopeKey): Promise<readonly string[]>
  carriers(alias: string): Promise<readonly ScopeKey[]>
}

export interface AliasWriter {
  /** Those the scope has already stay as they are. */
  add(scopeKey: ScopeKey, aliases: readonly string[]): Promise<void>
  /** Takes all of them from the scope. */
  drop(scopeKey: ScopeKey): Promise<void>
}

/** Reads the participants of a session: `<channel>:<id>`, or `person:<id>` for those who came by another entrance. */
export interface ParticipantReader {
  /** In the order of joining. */
  of(sessionId: SessionId): Promise<readonly string[]>
  /** Returns the sessions in which somebody takes part. */
  sessionsOf(participant: string): Promise<readonly SessionId[]>
  /** Returns those of any session that have this id in a team, whichever it is. */
  inAnyTeam(channel: ChannelId, id: string): Promise<readonly string[]>
}

export interface ParticipantWriter {
  /** Each once (S22). */
  add(sessionId: SessionId, participant: string, at: number): Promise<void>
  /**
   * Takes one away, who has left; returns false for somebody who took no part. Whoever shall stay an author of the
   * session has to be written down as one.
   */
  leave(sessionId: SessionId, participant: string): Promise<boolean>
  /** All of a session. */
  remove(sessionId: SessionId): Promise<void>
}

/** Reads the authors whose words the model of a session was shown. */
export interface AuthorReader {
  /**
   * Returns its participants and its further authors, each once. Of more than 200 it returns 200 and `nobody`, who may
   * do no more than all of them together.
   */
  of(sessionId: SessionId): Promise<readonly AuthorId[]>
  /** Returns those of any session, participants too, that have this id in a team, whichever it is. */
  inAnyTeam(channel: ChannelId, id: string): Promise<readonly AuthorId[]>
}

export interface AuthorWriter {
  /**
   * Adds an author who is no participant: somebody quoted, a bot, whoever wrote in a session that was read. Where there
   * are 200 already, `nobody` is added instead.
   */
  add(sessionId: SessionId, author: AuthorId): Promise<void>
  /**
   * Makes every author of `from` one of `to`, whose model is shown what was said there; `nobody` if `from` was deleted
   * meanwhile, or if it began only after `writtenAt`, ms since the epoch, and has the id of one that was deleted.
   */
  copy(from: SessionId, to: SessionId, writtenAt?: number): Promise<void>
  /** Removes those that `add` and `copy` wrote. */
  remove(sessionId: SessionId): Promise<void>
}

/** Requests by the hash of who sent them, the route and the key. */
export interface KeyedRequestReader {
  get(key: string): Promise<KeyedRequest | undefined>
  /** Returns what the request has made, as its service noted it. */
  effect(id: RequestId): Promise<string | undefined>
}

/** The requests of one holder that are kept, and those of them that have the body of their answer. */
export interface MostKept {
  readonly requests: number
  readonly bodies: number
}

export interface KeyedRequestWriter {
  /**
   * Replaces an earlier one of this key, and deletes the oldest of its holder, and of older ones the bodies of their
   * answers, beyond what is kept, some at a time.
   */
  begin(request: Omit<KeyedRequest, 'effect' | 'answer'>, most: MostKept): Promise<void>
  /** Notes in the transaction of the effect what it made. */
  took(id: RequestId, effect: string): Promise<void>
  /** Keeps the answer; without a body that it was answered. */
  answered(id: RequestId, status: number, body?: string): Promise<void>
  /** Deletes a request that had no effect. */
  drop(id: RequestId): Promise<void>
  /** Deletes the bodies of all answers, which may hold words of any session. */
  forgetAnswers(): Promise<void>
  /** Deletes those from before a time, at most `limit`; returns how many. */
  sweep(before: number, limit: number): Promise<number>
}

/** Whoever holds a token of a namespace. */
export interface TokenReaders {
  readonly namespace: Namespace
  /** The token can also ask, in the name of somebody of the namespace. */
  readonly speaks: boolean
}

export interface TokenReader {
  get(id: string): Promise<StoredToken | undefined>
  /** Newest first. */
  all(): Promise<readonly StoredToken[]>
  /** Returns whose valid tokens read what is said in some namespaces, once each. */
  readers(namespaces: readonly string[], at: number): Promise<readonly TokenReaders[]>
}

export interface TokenWriter {
  add(token: StoredToken): Promise<void>
  /** Notes the last use. */
  used(id: string, at: number): Promise<void>
  /** Deletes one that nobody was shown. */
  remove(id: string): Promise<void>
  /** Also those that it has made. Returns all their ids, none if there is no such token. The first revocation counts. */
  revoke(id: string, at: number): Promise<readonly string[]>
}
