import { createHash } from 'node:crypto'

/**
 * Ids are opaque branded strings: each is made and parsed by one codec in this file and by nobody else.
 * Row ids are ULID-like: sortable by time of making, so appended rows land at the end of their index.
 */
declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

/**
 * A platform connection kind: a name of the catalogue (`adapters/index.ts`), or of a channel of our own. The
 * configuration and whoever reads a name that was typed check it against the channels there are
 * (`core/channel-traits.ts`).
 */
export type ChannelId = string

export type AccountId = Branded<'AccountId'>
export type AgentId = Branded<'AgentId'>
export type PersonId = Branded<'PersonId'>
/** `telegram:2026-11-21-9f3a61c0`, `cli:<name>`, `web:<device>`, `schedule:<id>` (S2, S3). */
export type SessionId = Branded<'SessionId'>
/** `sk_v1_` and 64 hex characters (K3). */
export type ScopeKey = Branded<'ScopeKey'>
/** Names a schedule: `morning`. Its session is `schedule:<id>` (S2), shown as `cron:<id>` (T4). */
export type ScheduleId = Branded<'ScheduleId'>
/** Names the run of a message to a session, before and after it is accepted: the same call has the same id (T19). */
export type RunId = Branded<'RunId'>
export type InboxId = Branded<'InboxId'>
export type TurnId = Branded<'TurnId'>
export type DeliveryId = Branded<'DeliveryId'>
/** Names something the daemon says by itself, which answers no message and no turn: a card, a warning. */
export type NoticeId = Branded<'NoticeId'>
/** The turn, inbox row or notice that a delivery belongs to. */
export type SourceId = TurnId | InboxId | NoticeId
/** Names one dispatch in every log line, stored row and error notice. */
export type TraceId = Branded<'TraceId'>

/** Names a file of the media store by its content: `media://sha256-` and 64 hex digits (C25). */
export type MediaId = Branded<'MediaId'>

const MEDIA_ID = /^media:\/\/sha256-([0-9a-f]{64})$/

const CROCKFORD = '0123456789abcdefghjkmnpqrstvwxyz'

/** Makes row ids from an injected clock and injected randomness. */
export interface IdSource {
  inbox(): InboxId
  turn(): TurnId
  delivery(): DeliveryId
  notice(): NoticeId
  /** Names what a turn says beside its answer: a file, a question about a call. */
  aside(turn: TurnId): NoticeId
  /** Five letters for people to type; not unguessable. */
  code(): string
  trace(): TraceId
  /** A fresh channel session id `<platform>:<UTC date>-<8 hex>` (S3). */
  session(platform: string): SessionId
}

export interface IdInputs {
  now(): number
  /** `count` random bytes. */
  randomBytes(count: number): Uint8Array
}

/** One source a process: a counter keeps ids of one millisecond ordered, a random suffix keeps two processes apart. */
export function createIdSource({ now, randomBytes }: IdInputs): IdSource {
  const instance = base32(randomBytes(5))
  let counter = 0
  let at = Number.NaN
  let time = ''
  const next = (): string => {
    counter = (counter + 1) % 2 ** 30
    const ms = now()
    // Many ids are made in one millisecond.
    if (ms !== at) time = fixed(ms, 10)
    at = ms
    return `${time}${fixed(counter, 6)}${instance}`
  }
  return {
    inbox: () => `in_${next()}` as InboxId,
    turn: () => `turn_${next()}` as TurnId,
    delivery: () => `out_${next()}` as DeliveryId,
    notice: () => `note_${next()}` as NoticeId,
    aside: (turn) => `${asideFrom(turn)}${next()}` as NoticeId,
    code: () => [...randomBytes(5)].map((byte) => CROCKFORD.charAt(byte % 32)).join(''),
    trace: () => `tr_${next()}` as TraceId,
    session: (platform) =>
      `${platform}:${new Date(now()).toISOString().slice(0, 10)}-${Buffer.from(randomBytes(4)).toString('hex')}` as SessionId,
  }
}

/**
 * The agent and account normal form (K, "Ids"): lower case, runs outside `a-z 0-9 _ -` become one dash, 64 characters.
 */
export function toAgentId(raw: string): AgentId {
  return (slug(raw) || 'main') as AgentId
}

/** Parses an account id like `toAgentId`; an empty one is `default`. */
export function toAccountId(raw: string): AccountId {
  return (slug(raw) || 'default') as AccountId
}

export function toPersonId(raw: string): PersonId {
  return raw.trim().toLowerCase() as PersonId
}

/** The person who claimed the agent by its code, whatever the configuration calls them. */
export const CLAIMED_OWNER = toPersonId('owner')

/** Brands a key made by `routing/session-key.ts`, read back from a row, or given by a caller (K23): taken as it is. */
export function toScopeKey(raw: string): ScopeKey {
  return raw as ScopeKey
}

/** Accepts an id read back from a row or typed by an operator; the store decides whether it exists. */
export function toSessionId(raw: string): SessionId {
  return raw as SessionId
}

/** Brands an id that the configuration checked, that a row held, or that an operator typed. */
export function toScheduleId(raw: string): ScheduleId {
  return raw as ScheduleId
}

/** The one session of a schedule (S2). */
export function scheduleSessionId(id: ScheduleId): SessionId {
  return `schedule:${id}` as SessionId
}

/** No turn made at `ms` or later has a smaller id: with it a time is a range of the key. */
export function turnIdFloor(ms: number): TurnId {
  return `turn_${fixed(ms, 10)}` as TurnId
}

/** Does for messages what `turnIdFloor` does for turns. */
export function inboxIdFloor(ms: number): InboxId {
  return `in_${fixed(ms, 10)}` as InboxId
}

/** Does for deliveries what `turnIdFloor` does for turns. */
export function deliveryIdFloor(ms: number): DeliveryId {
  return `out_${fixed(ms, 10)}` as DeliveryId
}

/** When an inbox, delivery or trace id was made, ms since the epoch; undefined for any other text. */
export function madeAt(text: string): number | undefined {
  const digits = /^(?:in|out|tr)_([0-9a-z]{10})[0-9a-z]{6,}$/.exec(text)?.[1]
  if (digits === undefined) return undefined
  return [...digits].reduce((value, digit) => value * 32 + CROCKFORD.indexOf(digit), 0)
}

/** Tells a turn from the other sources of a delivery, an inbox row and a notice. */
export function isTurnId(id: SourceId): id is TurnId {
  return id.startsWith('turn_')
}

/** Returns how the ids of all begin that a turn says beside its answer. */
export function asideFrom(turn: TurnId): string {
  return `note_${turn}_`
}

/** Returns the turn that has said something, as its answer or beside it. */
export function turnOf(source: SourceId): TurnId | undefined {
  if (isTurnId(source)) return source
  return /^note_(turn_.+)_/.exec(source)?.[1] as TurnId | undefined
}

export function isInboxId(id: SourceId): id is InboxId {
  return id.startsWith('in_')
}

/** Returns the id of a file with this digest: 64 hex digits. */
export function mediaId(sha256: string): MediaId {
  return `media://sha256-${sha256}` as MediaId
}

/** Returns whether a value is an id as `mediaId` makes it; inline bytes and URLs are none. */
export function isMediaId(value: unknown): value is MediaId {
  return typeof value === 'string' && MEDIA_ID.test(value)
}

const SHORT_DIGITS = 12

/** Returns as much of a handle as sets the files of one conversation apart, for a model to copy. */
export function shortHandle(id: MediaId): string {
  return id.slice(0, 'media://sha256-'.length + SHORT_DIGITS)
}

/** Returns the digest of the file: 64 hex digits. */
export function digestOf(id: MediaId): string {
  return id.slice(-64)
}

/** The run that one call, named by `parts`, asks for: 30 characters. */
export function runId(...parts: readonly string[]): RunId {
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest()
  return `run_${base32(digest).slice(0, 26)}` as RunId
}

/**
 * Names, in the log of a session, a turn that another log has under its own id: the same copy has the same id. No turn
 * that was run has one of this length.
 */
export function copiedTurnId(turn: TurnId, session: SessionId): TurnId {
  const digest = createHash('sha256')
    .update(JSON.stringify([turn, session]))
    .digest()
  return `turn_${base32(digest).slice(0, 32)}` as TurnId
}

/**
 * Names a text that a script has said in a chat: the same request of the same token has the same id. `at` counts its
 * messages, of which each file is one.
 */
export function notificationId(token: string | undefined, request: string, at: number): NoticeId {
  const digest = createHash('sha256').update(request).digest()
  return `${notificationsFrom(token)}${base32(digest).slice(0, 26)}${at}` as NoticeId
}

/** Returns how the ids of all begin that a script says by this token, or by none. */
export function notificationsFrom(token: string | undefined): string {
  return `note_by_${token ?? ''}_`
}

/** Returns the script that has said a text; undefined for a text of no script. */
export function notifierOf(source: SourceId): { readonly token?: string } | undefined {
  const [, token] = /^note_by_([^_]*)_/.exec(source) ?? []
  if (token === undefined) return undefined
  return token === '' ? {} : { token }
}

/** The key every send of one delivery carries, stable over attempts and restarts: 25 characters. */
export function deliveryKey(id: DeliveryId): string {
  return base32(createHash('sha256').update(id).digest().subarray(0, 16)).slice(0, 25)
}

function slug(raw: string): string {
  return raw
    .trim()
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, '-')
    .replace(/^-+/, '')
    .slice(0, 64)
    .replace(/-+$/, '')
}

/** Every two characters there are, in order: an id is put together from half as many pieces. */
const PAIRS: readonly string[] = [...CROCKFORD].flatMap((first) => [...CROCKFORD].map((second) => first + second))

/**
 * `value`, whole and not below zero, in `width` characters, an even number; what does not fit is cut off at the front.
 */
function fixed(value: number, width: number): string {
  let rest = Math.max(0, Math.floor(value))
  let text = ''
  for (let index = 0; index < width; index += 2) {
    text = PAIRS[rest % 1024] + text
    rest = Math.floor(rest / 1024)
  }
  return text
}

function base32(bytes: Uint8Array): string {
  let bits = 0
  let value = 0
  let text = ''
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      text += CROCKFORD.charAt((value >>> (bits - 5)) & 31)
      bits -= 5
    }
    value &= (1 << bits) - 1
  }
  return bits > 0 ? text + CROCKFORD.charAt((value << (5 - bits)) & 31) : text
}
