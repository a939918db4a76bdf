import { randomUUID } from 'node:crypto'
import { type Address, addressNamed, formatAddress } from '../../core/address.ts'
import { type Caller, inNamespace } from '../../core/caller.ts'
import type { Channels } from '../../core/channel-traits.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import {
  type IdSource,
  type NoticeId,
  notificationId,
  notificationsFrom,
  notifierOf,
  type SourceId,
} from '../../core/ids.ts'
import type { MediaStore } from '../../core/media.ts'
import type { NewNotification, NotificationReport, NotifiedFile } from '../../core/operate-outbox.ts'
import { type Delivery, hasEnded, type OutboundFile, type OutboundMessage } from '../../core/outbound.ts'
import { toOutbound } from '../../core/send-file.ts'
import { sendableName } from '../../core/sendable-name.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'
import { addressOf } from './address-of.ts'

/** The decision about a message whose rows were planned. */
interface Planned {
  readonly outcome: 'silent' | 'empty' | 'denied' | 'parted' | 'planned'
  readonly because?: string
}

export interface NotifyDeps<Plan extends Planned> {
  readonly store: Store
  readonly clock: Clock
  readonly ids: Pick<IdSource, 'trace'>
  readonly media: Pick<MediaStore, 'keep'>
  readonly channels: Pick<Channels, 'traits'>
  /** Returns a text without the values of configured secrets. */
  redact(this: void, text: string): string
  /** Returns true for an address on a channel of the configuration. */
  isPlace(this: void, address: Address): boolean
  /** Writes the rows of a message; `release` hands them to their queue after the commit. */
  plan(this: void, tx: StoreWriter, message: OutboundMessage): Promise<Plan>
  release(this: void, plan: Plan): void
  /** Calls `listener` whenever a part has moved; absent without a daemon, where nothing does. */
  moved?(this: void, listener: (source: SourceId) => void): void
}

/** Says texts of scripts in chats. */
export type Notify = (caller: Caller, wanted: NewNotification, left?: AbortSignal) => Promise<NotificationReport>

const LONGEST = 32_000
/** Whatever a script says, whoever waits for an answer has it first. */
const BEHIND_ANSWERS = { lowPriority: { known: true } } as const
const MOST_FILES = 10
/** Messages of one token, or of the command line, that wait to be sent: a loop in a script fills no queue. */
const MOST_WAITING = 100
const WAIT_SECONDS = { fallback: 30, most: 3_600 }
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/

/**
 * Returns what says a text in a chat without a model, through the outbox like everything else, and waits for the
 * outcome (T43). The same request is said once: its rows have their ids from it.
 */
export function createNotify<Plan extends Planned>(deps: NotifyDeps<Plan>): Notify {
  const wakers = new Set<() => void>()
  deps.moved?.((source) => {
    if (notifierOf(source) !== undefined) for (const wake of wakers) wake()
  })

  return async (caller, wanted, left) => {
    const { text = '', files = [], waitSeconds = WAIT_SECONDS.fallback, silent = false } = wanted
    const [to, token] = [await placeOf(deps, caller, wanted.to), tokenOf(caller)]
    checkWanted(text, files, waitSeconds)
    const sent = await Promise.all(files.map((file) => fileOf(deps, to, file)))
    const request = JSON.stringify([formatAddress(to), wanted.id ?? randomUUID()])
    const sources = (sent.length === 0 ? [text] : sent).map((_, at) => notificationId(token, request, at))
    const traceId = deps.ids.trace()
    const messages = sources.map((source, at): OutboundMessage => {
      const file = sent[at]
      const said = { source, traceId, class: 'effect', address: to, text: at === 0 ? deps.redact(text) : '' } as const
      return { ...said, ...BEHIND_ANSWERS, ...(file === undefined ? {} : { file }), ...(silent ? { silent } : {}) }
    })
    const refused = await planAll(deps, messages, token)
    if (refused !== undefined) return { ...refused, to: formatAddress(to), traceId }
    const until = deps.clock.elapsed() + (deps.moved === undefined ? 0 : waitSeconds * 1_000)
    return reportOf(await ended(deps, sources, { until, left, wakers }), to)
  }
}

/** Returns the place. One that whoever asks may not say anything in is not there. */
async function placeOf(
  { store: { read }, isPlace }: Pick<NotifyDeps<Planned>, 'store' | 'isPlace'>,
  caller: Caller,
  name: string,
): Promise<Address> {
  const address = await addressBy(name, read)
  if (address === undefined)
    throw new ParleyError(
      'not_found',
      `"${name}" is no place; write <channel>:<direct|group|channel>:<chat>[/<topic>], as /whoami says it there.`,
    )
  const place = formatAddress(address)
  if (!mayNotify(caller, place)) throw new ParleyError('not_found', `There is no place ${name} for this token.`)
  if (!isPlace(address)) throw new ParleyError('not_found', `${name} is on no channel of the configuration.`)
  return address
}

/**
 * A session is named by its key, in which ids may stand in another case. One that several chats lead to may have been
 * spoken to elsewhere since: an address is that very place.
 */
async function addressBy(name: string, { sessions }: Pick<StoreReader, 'sessions'>): Promise<Address | undefined> {
  const [session, typed] = [await sessions.resolve(name), addressNamed(name)]
  const known = session && addressOf(session)
  if (typed === undefined || known === undefined) return typed ?? known
  return formatAddress(known).toLowerCase() === formatAddress(typed).toLowerCase() ? known : typed
}

/** A token reaches the places that begin with its namespace: a channel, or one chat with all its topics. */
function mayNotify(caller: Caller, place: string): boolean {
  if (caller.kind === 'operator') return true
  if (caller.kind === 'person') return false
  const { namespace } = caller
  return inNamespace(namespace, place) || place === `${namespace}` || place.startsWith(`${namespace}/`)
}

function tokenOf(caller: Caller): string | undefined {
  return caller.kind === 'person' ? undefined : caller.token
}

function checkWanted(text: string, files: readonly NotifiedFile[], waitSeconds: number): void {
  if (text.trim() === '' && files.length === 0)
    throw new ParleyError('invalid', 'There is nothing to say: the text is empty.')
  if (text.length > LONGEST)
    throw new ParleyError('too_long', `The text has ${LONGEST} characters at most; send the rest as a file.`)
  if (files.length > MOST_FILES) throw new ParleyError('too_long', `At most ${MOST_FILES} files can be sent at once.`)
  if (!Number.isFinite(waitSeconds) || waitSeconds < 0 || waitSeconds > WAIT_SECONDS.most)
    throw new ParleyError('invalid', `waitSeconds must be 0 to ${WAIT_SECONDS.most}.`)
}

/** Keeps a file for its row. Throws `invalid` for what is no base64, `too_long` for more than its platform takes. */
async function fileOf(
  { media, channels }: Pick<NotifyDeps<Planned>, 'media' | 'channels'>,
  { channel }: Address,
  { name, data }: NotifiedFile,
): Promise<OutboundFile> {
  const { files, name: platform } = channels.traits(channel)
  if (files === undefined) throw new ParleyError('invalid', `No files can be sent there: ${platform}.`)
  if (!BASE64.test(data)) throw new ParleyError('invalid', `The data of the file ${name} is no base64.`)
  const bytes = Buffer.from(data, 'base64')
  if (bytes.length === 0) throw new ParleyError('invalid', `The file ${name} is empty.`)
  return toOutbound(await media.keep(bytes, sendableName(name)), { ...files, name: platform })
}

type Refused = Pick<NotificationReport, 'status' | 'reason' | 'messageIds'>

/**
 * Plans all messages in one commit, up to one that is refused; those of an earlier request of the same name are there
 * already.
 */
async function planAll<Plan extends Planned>(
  { store, plan, release }: NotifyDeps<Plan>,
  messages: readonly OutboundMessage[],
  token: string | undefined,
): Promise<Refused | undefined> {
  const plans = await store.write(async (tx) => {
    const [first] = messages
    if (first === undefined || (await tx.outbox.ofSource(first.source)).length > 0) return []
    if ((await tx.outbox.owedOf(notificationsFrom(token))) >= MOST_WAITING)
      throw new ParleyError('too_many', `${MOST_WAITING} messages wait already that were said so: send this one later.`)
    const made: Plan[] = []
    for (const message of messages) {
      const one = await plan(tx, message)
      made.push(one)
      if (one.outcome !== 'planned') break
    }
    return made
  })
  const refused = plans.find(({ outcome }) => outcome !== 'planned')
  for (const one of plans) if (one.outcome === 'planned') release(one)
  if (refused === undefined) return undefined
  const reason = refused.because ?? 'there is nothing to say in that text'
  return { status: 'refused', reason, messageIds: [] }
}

interface Wait {
  readonly until: number
  readonly left: AbortSignal | undefined
  /** Called whenever something that a script said has moved. */
  readonly wakers: Set<() => void>
}

/** Returns the rows once all have ended, or as they are when nobody waits any more. */
async function ended(
  { store: { read }, clock }: Pick<NotifyDeps<Planned>, 'store' | 'clock'>,
  sources: readonly NoticeId[],
  { until, left, wakers }: Wait,
): Promise<readonly Delivery[]> {
  for (;;) {
    const woken = new AbortController()
    const wake = (): void => woken.abort()
    // Subscribed before the look, so that an end in between is not missed.
    wakers.add(wake)
    try {
      const rows = (await Promise.all(sources.map((source) => read.outbox.ofSource(source)))).flat()
      const ms = until - clock.elapsed()
      if (ms <= 0 || left?.aborted || rows.every(({ state }) => hasEnded(state))) return rows
      await sleep(clock, ms, left === undefined ? woken.signal : AbortSignal.any([woken.signal, left]))
    } finally {
      wakers.delete(wake)
    }
  }
}

function reportOf(rows: readonly Delivery[], to: Address): NotificationReport {
  const named = {
    to: formatAddress(to),
    traceId: rows[0]?.traceId ?? '',
    messageIds: rows.flatMap(({ messageId }) => messageId ?? []),
  }
  const open = rows.filter(({ state }) => state !== 'sent' && state !== 'resent')
  const worst = open.find(({ state }) => hasEnded(state)) ?? open[0]
  if (worst === undefined) return { status: 'delivered', ...named }
  const { state, reason } = worst
  const status = !hasEnded(state) ? 'queued' : state === 'given_up' ? 'lost' : 'refused'
  return { status, ...named, ...(reason === undefined ? {} : { reason }) }
}
