import { backOffMs } from '../../../src/core/backoff.ts'
import { askedWait, type Clock, sleep, within } from '../../../src/core/clock.ts'
import { toError } from '../../../src/core/errors.ts'
import { failpoint } from '../../../src/core/failpoint.ts'
import { ALLOWED_UPDATES } from '../inbound/read-event.ts'
import type { CallOutcome, TelegramClient } from './client.ts'
import { HandedUpdates } from './handed-updates.ts'
import { confirming, type PollTrouble, readTrouble } from './poll-policy.ts'

const LONG_POLL_SECONDS = 25
/** Silence beyond the long poll itself after which a call counts as dead (telegraf would wait 500 s). */
const SILENCE_MS = 15_000
const MIN_WAIT_MS = 250
/** A batch that cannot be confirmed comes again at once; dedupe absorbs it, this keeps it from spinning. */
const STUCK_WAIT_MS = 1000
/** The platform is asked on at this pace while updates are being stored for longer than that. */
const PATIENCE_MS = 1000
const NO_STORE_CAP_MS = 10_000
const INTERNAL_WAIT_MS = 5000
/** A long poll that is answered sooner without any news was not held by the server. */
const HELD_MS = 1000
/** The pace at which a server is asked that holds no poll: an answer waits no longer than this. */
const BRAKED_MS = 1000
/** The most updates that the platform gives at once. */
const MOST_AT_ONCE = 100
/** Fewer updates are asked for by this factor each time their answer is larger than is read, and more again after. */
const FEWER = 4
/** Matches the beginning of an answer with updates; each begins with its id. */
const FIRST_UPDATE = /^\s*\{\s*"ok"\s*:\s*true\s*,\s*"result"\s*:\s*\[\s*\{\s*"update_id"\s*:\s*(\d{1,15})\s*[,}]/
/** Polls in a row that were not held until it is said; one alone may be a restart of the server. */
const UNHELD_UNTIL_SAID = 3

export interface PollPorts {
  readonly client: TelegramClient
  readonly clock: Clock
  random(): number
  /** Resolves once the update is committed or counted; rejects when it could not be stored. */
  accept(update: unknown): Promise<void>
  /** Called with each poll that is on the wire, or failed: messages can arrive as soon as the platform lets them. */
  onListening(): void
  /** A poll was answered. */
  onProof(): void
  /** A poll brought updates. */
  onUpdates(): void
  /** An update alone is larger than is read of an answer, and is left out. */
  onSkipped(updateId: number): void
  onTrouble(detail: string): void
  /**
   * Called with false when the server answers polls at once with nothing instead of holding them, with true when it
   * holds.
   */
  onHeld(holds: boolean): void
}

/**
 * The poll loop: commit, then acknowledge. The call for the next batch confirms what is before its offset, and that is
 * moved over what is committed alone; what could not be stored is not confirmed and comes again. Runs until
 * `signal` aborts, whatever the platform answers. The offset lives here only: the first poll has none, and a
 * message that comes twice is recognised by the accept transaction, by its event key.
 */
export async function pollUpdates(ports: PollPorts, signal: AbortSignal): Promise<void> {
  const loop = new PollLoop(ports, signal)
  while (!signal.aborted) {
    const waitMs = await loop.round().catch(() => {
      // A mistake of ours: an adapter never ends silently.
      ports.onTrouble('the poll loop failed inside; it continues')
      return INTERNAL_WAIT_MS
    })
    ports.onListening()
    if (waitMs > 0) await sleep(ports.clock, waitMs, signal)
  }
  await loop.ended()
}

class PollLoop {
  readonly #ports: PollPorts
  readonly #signal: AbortSignal
  readonly #handed: HandedUpdates
  #offset: number | undefined
  #confirms = false
  #limit = MOST_AT_ONCE
  #probe = false
  #failures = 0
  #storeFailures = 0
  /** Long polls in a row that were answered at once with nothing. */
  #unheld = 0

  constructor(ports: PollPorts, signal: AbortSignal) {
    this.#ports = ports
    this.#signal = signal
    this.#handed = new HandedUpdates((update) => {
      failpoint('CP1-received')
      return ports.accept(update)
    })
  }

  /** One poll and what it brought. Returns how long to wait before the next, ms. */
  async round(): Promise<number> {
    const { clock } = this.#ports
    const askedAt = clock.elapsed()
    const long = !this.#probe && !this.#handed.waits
    const outcome = await this.#poll(long ? LONG_POLL_SECONDS : 0)
    if (this.#signal.aborted) return 0
    if (outcome.kind !== 'answered') return this.#withoutAnswer(outcome)
    if (!Array.isArray(outcome.result)) {
      return this.#trouble({ detail: 'Telegram: getUpdates was answered without a list', capMs: 30_000, probe: true })
    }
    this.#failures = 0
    this.#probe = false
    this.#limit = Math.min(MOST_AT_ONCE, this.#limit * FEWER)
    const batch = outcome.result
    if (batch.length === 0) this.#storeFailures = 0
    else this.#ports.onUpdates()
    if (this.#storeFailures === 0) this.#ports.onProof()
    if (clock.elapsed() - askedAt >= HELD_MS) {
      this.#unheld = 0
      this.#ports.onHeld(true)
    } else if (batch.length === 0 && long) return this.#brake()
    return batch.length === 0 && !this.#handed.waits ? 0 : this.#take(batch)
  }

  /** An answer that is too large is asked for in smaller parts; an update that alone is too large is confirmed unread. */
  #withoutAnswer(outcome: Exclude<CallOutcome, { kind: 'answered' }>): number {
    const head = outcome.kind === 'failed' ? outcome.tooLong?.head : undefined
    if (head !== undefined && this.#limit > 1) {
      this.#limit = Math.max(1, Math.floor(this.#limit / FEWER))
      return 0
    }
    if (head === undefined) return this.#trouble(readTrouble(outcome))
    // Ids follow each other: one that cannot be read is at least the offset.
    const id = Number(FIRST_UPDATE.exec(head)?.[1] ?? this.#offset)
    if (!Number.isSafeInteger(id)) return this.#trouble(readTrouble(outcome))
    this.#offset = id + 1
    this.#confirms = true
    this.#ports.onSkipped(id)
    return 0
  }

  /** A server that ignores `timeout` would be asked without a pause: waits a little more each time, up to the pace. */
  #brake(): number {
    this.#unheld++
    if (this.#unheld === UNHELD_UNTIL_SAID) this.#ports.onHeld(false)
    return backOffMs(this.#unheld, { firstMs: MIN_WAIT_MS, longestMs: BRAKED_MS })
  }

  #poll(timeout: number): Promise<CallOutcome> {
    const params = {
      timeout,
      limit: this.#limit,
      allowed_updates: ALLOWED_UPDATES,
      ...(this.#offset === undefined ? {} : { offset: this.#offset }),
    }
    const acknowledges = this.#confirms
    this.#confirms = false
    return this.#ports.client.call('getUpdates', params, {
      deadlineMs: timeout * 1000 + SILENCE_MS,
      signal: this.#signal,
      onWritten: () => {
        if (acknowledges) failpoint('CP3-acked')
        this.#ports.onListening()
      },
    })
  }

  #trouble({ detail, capMs, retryAfterMs, probe }: PollTrouble): number {
    this.#failures++
    this.#probe = probe
    this.#ports.onTrouble(detail)
    return Math.max(
      MIN_WAIT_MS,
      retryAfterMs === undefined ? this.#waitMs(this.#failures, capMs) : askedWait(retryAfterMs),
    )
  }

  /**
   * Hands over what is new of a batch and moves the offset over what is committed. What takes long, such as a hook of
   * the operator's, holds up its own chat alone: the platform is asked again without confirming it, and gives it once
   * more with what came since.
   */
  async #take(batch: readonly unknown[]): Promise<number> {
    this.#handed.handOver(batch)
    await within(this.#ports.clock, PATIENCE_MS, this.#handed.settled())
    if (this.#signal.aborted) return 0
    const { stored, waits, failed } = this.#handed.progress(batch)
    const before = this.#offset
    this.#offset = confirming(batch, stored) ?? before
    this.#confirms = this.#offset !== before
    if (failed) return this.#notStored(failed.reason)
    if (stored > 0) failpoint('CP2-committed')
    if (waits) return 0
    if (this.#storeFailures > 0) this.#ports.onProof()
    this.#storeFailures = 0
    return this.#confirms ? 0 : STUCK_WAIT_MS
  }

  /** Resolves once what was handed over is committed, or was not. */
  ended(): Promise<void> {
    return this.#handed.settled()
  }

  #notStored(reason: unknown): number {
    this.#storeFailures++
    this.#ports.onTrouble(`messages cannot be stored, Telegram keeps them for 24 hours: ${toError(reason).message}`)
    return Math.max(MIN_WAIT_MS, this.#waitMs(this.#storeFailures, NO_STORE_CAP_MS))
  }

  #waitMs(attempt: number, longestMs: number): number {
    return backOffMs(attempt, { firstMs: 500, longestMs, jitter: 1 }, this.#ports.random())
  }
}
