import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { telegramTraits } from '../../adapters/telegram/config.ts'
import { createTelegramFormat } from '../../adapters/telegram/format.ts'
import type { ChannelAdapter } from '../../src/channels/adapter.ts'
import { type Address, parseAddress } from '../../src/core/address.ts'
import { ParleyError } from '../../src/core/errors.ts'
import { createIdSource, type IdSource, type InboxId, type TraceId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Delivery, OutboundMessage } from '../../src/core/outbound.ts'
import { createDelivery, type DeliveryDeps, type DeliveryService } from '../../src/delivery/delivery.ts'
import type { Speaker, SpeakerVerdict } from '../../src/delivery/plan-reply.ts'
import type { PlannedReply } from '../../src/delivery/plan-rows.ts'
import type { SendLimits } from '../../src/delivery/rate-limiter.ts'
import type { OwnMediaStore } from '../../src/media/media-store.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { mediaStoreIn } from '../fakes/media.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { sessionDraft } from '../store/sample-rows.ts'
import { withDatabase } from '../store/temp-database.ts'
import { FakeChannel } from './fake-channel.ts'
import { type SteppedClock, steppedClock } from './stepped-clock.ts'

export const DM = 'telegram:direct:7'
export const GROUP = 'telegram:group:-100'
export const UNLIMITED: SendLimits = { perSecond: 1e6, perChatPerSecond: 1e6, perGroupPerMinute: 1e6 }
export const TELEGRAM: SendLimits = { perSecond: 30, perChatPerSecond: 1, perGroupPerMinute: 20 }

const { id, scopeKey, displayKey, kind, scope } = sessionDraft(1)
/** What a turn in the direct chat speaks for. */
export const TURN = { address: parseAddress(DM), session: { id, scopeKey, displayKey, kind, scope } }

/** UTF-16 units of a part; short, so that few words make several parts. */
export const LIMIT = 40

export type RigOptions = Pick<
  Partial<DeliveryDeps>,
  'settings' | 'moved' | 'streams' | 'unreadable' | 'speak' | 'answerAsFile' | 'stranded'
> & {
  readonly limits?: SendLimits
}

/** The delivery service on a real database file and a platform in memory. */
export interface Rig {
  readonly channel: FakeChannel
  readonly media: OwnMediaStore
  readonly clock: SteppedClock
  readonly ids: IdSource
  readonly store: Store
  readonly delivery: DeliveryService
  /** No write of the delivery service succeeds. */
  diskFull: boolean
  /** Is the adapter ready? */
  up: boolean
  /** Takes the place of the channel in memory. */
  adapter?: ChannelAdapter
  verdict: SpeakerVerdict
  /** Where the verdict depends on who would speak. */
  verdictOf?: (speaker: Speaker) => SpeakerVerdict
  message(text: string, changes?: Partial<OutboundMessage>): OutboundMessage
  /** Plans in a transaction of its own and releases. */
  say(text: string, changes?: Partial<OutboundMessage>): Promise<PlannedReply>
  /** Lets time pass, timer by timer, each followed to its end. */
  pass(ms: number): Promise<void>
  rows(source: OutboundMessage['source']): Promise<readonly Delivery[]>
  /** Something else than the daemon wrote into the rows of a message. */
  spoil(source: OutboundMessage['source'], part?: string): void
  /** The process dies as it stands and a new one starts on the same file; the adapter is not ready yet. */
  crash(): Promise<void>
  /** The adapter of the new process is ready. */
  ready(): Promise<void>
}

export async function openRig(options: RigOptions = {}): Promise<Rig> {
  const folder = await mkdtemp(join(tmpdir(), 'parley-delivery-'))
  const path = readyDatabase(join(folder, 'parley.db'))
  const channel = new FakeChannel(() => process.clock)
  const open = async (now?: number): Promise<Process> => {
    const clock = steppedClock(now)
    const store = await openSqliteStore({ path, clock })
    const ids = createIdSource({ now: clock.now, randomBytes: (count) => new Uint8Array(count) })
    const delivery = createDelivery({
      media: rig.media,
      ...options,
      ...ports(rig),
      store: fillable(rig, store),
      clock,
      ids,
      epoch: store.epoch,
      limits: () => limits,
      streams: options.streams ?? (() => true),
    })
    return { clock, store, ids, delivery }
  }
  const limits = options.limits ?? UNLIMITED
  const rig: Rig = {
    channel,
    media: mediaStoreIn(join(folder, 'media')),
    up: true,
    diskFull: false,
    verdict: { allowed: true, because: 'default' },
    get clock() {
      return process.clock
    },
    get ids() {
      return process.ids
    },
    get store() {
      return process.store
    },
    get delivery() {
      return process.delivery
    },
    message: (text, changes = {}) => ({ ...sample(rig, text), ...changes }),
    async say(text, changes) {
      const planned = await rig.store.write((tx) => rig.delivery.plan(tx, rig.message(text, changes)))
      rig.delivery.release(planned)
      return planned
    },
    async pass(ms) {
      const end = rig.clock.now() + ms
      await rig.delivery.idle()
      for (let due = rig.clock.nextDue(); due <= end; due = rig.clock.nextDue()) {
        rig.clock.moveTo(due)
        await rig.delivery.idle()
      }
      rig.clock.moveTo(end)
      await rig.delivery.idle()
    },
    spoil: (source, part = 'spoiled') =>
      withDatabase(path, (database) => {
        database.prepare('UPDATE outbox SET part = ? WHERE source = ?').run(part, source)
      }),
    rows: (source) => rig.store.read.outbox.ofSource(source),
    async crash() {
      rig.up = false
      await process.store.close()
      process = await open(process.clock.now())
      await process.delivery.recover()
    },
    async ready() {
      rig.up = true
      rig.delivery.ready('telegram', parseAddress(DM).account)
      await rig.delivery.idle()
    },
  }
  let process = await open()
  onTestFinished(async () => {
    await process.store.close()
    await rm(folder, { recursive: true })
  })
  return rig
}

interface Process {
  readonly clock: SteppedClock
  readonly store: Store
  readonly ids: IdSource
  readonly delivery: DeliveryService
}

function ports(rig: Rig): Pick<DeliveryDeps, 'logger' | 'random' | 'format' | 'files' | 'adapter' | 'sendAllowed'> {
  const format = createTelegramFormat(LIMIT)
  return {
    logger: silentLogger,
    random: () => 0.5,
    format: () => format,
    files: () => telegramTraits.files,
    adapter: () => (rig.up ? (rig.adapter ?? rig.channel) : undefined),
    sendAllowed: (speaker) => rig.verdictOf?.(speaker) ?? rig.verdict,
  }
}

/** The real store, behind a disk that can be full. */
function fillable(rig: Rig, store: Store): Store {
  return {
    ...store,
    write: (body) =>
      rig.diskFull ? Promise.reject(new ParleyError('unavailable', 'the disk is full')) : store.write(body),
  }
}

function sample({ ids }: Rig, text: string): OutboundMessage {
  return { source: ids.turn(), traceId: 'tr_1' as TraceId, address: parseAddress(DM), class: 'reply', text }
}

export function at(text: string): Address {
  return parseAddress(text)
}

export function anInbox(name: string): InboxId {
  return `in_${name}` as InboxId
}
