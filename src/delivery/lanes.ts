import { setImmediate } from 'node:timers/promises'
import { type Address, conversationOf } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { AccountId, ChannelId, DeliveryId, SourceId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { Delivery } from '../core/outbound.ts'
import type { StoreWriter } from '../store/store.ts'
import type { Activity } from './activity.ts'
import { createLowQueues, type Queued } from './low-priority.ts'
import type { Looked } from './reconcile.ts'

/** One outbox row on its way. Only the id is kept of what cannot be sent yet; the row is loaded at the head. */
export interface LaneItem extends Queued {
  readonly id: DeliveryId
  row?: Delivery | undefined
  /** `sending` is committed and a slot taken: the next step is the send itself. */
  begun?: boolean | undefined
  /** It waits for a slot that nobody else wants. */
  yielding?: boolean | undefined
  /** When its booked slot comes. */
  slotAt?: number | undefined
  /** When this process first met it as uncertain. */
  uncertainSince?: number
  /** What the platform said when it was asked for the message. */
  looked?: Looked | undefined
  /** The outcome of an attempt, until it is on disk: what happened must not be forgotten over a full disk. */
  outcome?: { readonly write: (tx: StoreWriter) => Promise<void>; readonly next: Step } | undefined
}

/** One conversation's parts, first in first out. */
export interface Lane {
  /** Where its parts go; a chat that moved takes its lane along. */
  address: Address
  /** The platform told of the move at a send; until then the rows know best. */
  followed?: true
  readonly items: LaneItem[]
}

/** `ended` takes the head out of its lane, with `others` of the same message that end with it. `parked`: no adapter. */
export type Step =
  | { readonly kind: 'ended'; readonly others?: readonly LaneItem[] }
  | { readonly kind: 'again' }
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'parked' }

export interface LaneDeps {
  readonly clock: Clock
  readonly logger: Logger
  /** Takes the head one step on. */
  step(item: LaneItem, lane: Lane): Promise<Step>
  ready(address: Address): boolean
  /** Called with what is not sent any more, since newer answers took its place. */
  superseded(items: readonly LaneItem[]): void
  /** Told of all work, so that somebody can wait for its end. */
  readonly activity: Activity
}

export interface Lanes {
  /** True if nothing is queued or held for the conversation: a part planned now may be `sending` at once. */
  free(address: Address, source: SourceId): boolean
  /** Announces a part that is `sending` and comes with `push`. Only a hint: one that never comes holds nobody up. */
  reserve(address: Address, source: SourceId): void
  push(address: Address, items: readonly LaneItem[]): void
  /** So many parts of low priority wait for this account that no more should be added. */
  crowded(address: Address): boolean
  /** An adapter became ready. */
  wake(channel: ChannelId, account: AccountId): void
  /** Starts no further step. */
  stop(): void
}

interface LaneState extends Lane {
  readonly key: string
  state: 'running' | 'waiting' | 'parked'
  failures: number
  cancel: (() => void) | undefined
}

const RETRY_WRITE_MS = 500
const LONGEST_RETRY_MS = 10_000
/** Lanes started before the event loop gets its turn, after a long backlog. */
const WAKE_AT_ONCE = 64

/** Lanes of other conversations never wait for each other. In memory, rebuilt from the store. */
export function createLanes(deps: LaneDeps): Lanes {
  const lanes = new Map<string, LaneState>()
  const reserved = new Map<string, SourceId>()
  const low = createLowQueues()
  let stopped = false

  /** A lane without an adapter is not even looked at; one whose part is `sending` must put it back. */
  function mayStart({ address, items }: LaneState): boolean {
    return !stopped && (deps.ready(address) || items[0]?.begun === true)
  }

  function start(lane: LaneState): void {
    lane.cancel?.()
    lane.state = 'running'
    void work(lane)
  }

  async function work(lane: LaneState): Promise<void> {
    deps.activity.begin()
    for (let item = lane.items[0]; item && lane.state === 'running' && !stopped; item = lane.items[0]) {
      try {
        follow(lane, item, await deps.step(item, lane))
        lane.failures = 0
      } catch (err) {
        rest(lane, deps.clock.now() + afterFailure(lane, item, err))
      }
    }
    if (lane.items.length === 0) {
      lanes.delete(lane.key)
      reserved.delete(lane.key)
    }
    deps.activity.end()
  }

  function follow(lane: LaneState, item: LaneItem, step: Step): void {
    if (step.kind === 'ended') {
      low.begun(lane.items, item.source)
      remove(lane, item, step.others)
    } else if (step.kind === 'wait') rest(lane, step.until)
    else if (step.kind === 'parked' && !deps.ready(lane.address)) lane.state = 'parked'
  }

  /** How long it rests, ms. */
  function afterFailure(lane: LaneState, { id }: LaneItem, err: unknown): number {
    if (!stopped) deps.logger.error('A delivery could not be recorded and will be tried again', { err, id })
    return Math.min(RETRY_WRITE_MS * 2 ** lane.failures++, LONGEST_RETRY_MS)
  }

  function rest(lane: LaneState, until: number): void {
    lane.state = 'waiting'
    lane.cancel = deps.clock.after(Math.max(0, until - deps.clock.now()), () => {
      if (!stopped) start(lane)
    })
  }

  return {
    free(address, source) {
      const key = conversationOf(address)
      const holder = reserved.get(key)
      return !lanes.has(key) && (holder === undefined || holder === source)
    },
    reserve: (address, source) => void reserved.set(conversationOf(address), source),
    push(address, items) {
      const key = conversationOf(address)
      const known = lanes.get(key)
      const lane: LaneState = known ?? { key, address, items: [], state: 'parked', failures: 0, cancel: undefined }
      lanes.set(key, lane)
      const [head] = lane.items
      const superseded = low.enqueue(lane.items, items, { address, headWaits: headWaits(lane) })
      if (superseded.length > 0) deps.superseded(superseded)
      const changed = lane.state === 'waiting' && lane.items[0] !== head
      if ((lane.state === 'parked' || changed) && mayStart(lane)) start(lane)
    },
    crowded: low.crowded,
    wake(channel, account) {
      const parked = [...lanes.values()].filter(
        ({ address }) => address.channel === channel && address.account === account,
      )
      const waking = startGently(parked, (lane) => {
        if (lane.state === 'parked' && !stopped && lanes.get(lane.key) === lane) start(lane)
      })
      deps.activity.track(waking)
    },
    stop() {
      stopped = true
      for (const lane of lanes.values()) lane.cancel?.()
    },
  }
}

/** The head has not been tried yet: it waits for an adapter, or for a slot that nobody else wants. */
function headWaits({ state, items: [head] }: LaneState): boolean {
  if (!head || state === 'running' || head.begun || head.outcome || head.uncertainSince !== undefined) return false
  return state === 'parked' || head.yielding === true
}

function remove(lane: Lane, head: LaneItem, others: readonly LaneItem[] | undefined): void {
  lane.items.shift()
  if (others === undefined || others.length === 0) return
  const gone = new Set([head, ...others])
  const left = lane.items.filter((item) => !gone.has(item))
  lane.items.splice(0, lane.items.length, ...left)
}

async function startGently(lanes: readonly LaneState[], begin: (lane: LaneState) => void): Promise<void> {
  for (const [index, lane] of lanes.entries()) {
    if (index > 0 && index % WAKE_AT_ONCE === 0) await setImmediate()
    begin(lane)
  }
}
