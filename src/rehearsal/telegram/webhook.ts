import { type Clock, systemClock } from '../../core/clock.ts'
import type { UpdateEntry } from './ledger-entries.ts'
import type { QueuedUpdate, UpdateQueue } from './update-queue.ts'

/** The settings of setWebhook; an empty url means that none is set. */
export interface WebhookSettings {
  readonly url: string
  readonly secretToken: string
  readonly maxConnections: number
}

export interface RedeliveryOptions {
  /** The clock for answers and repetitions. */
  readonly clock?: Clock
  /** The time for an answer. Default: the platform's minute. */
  readonly answerMs?: number
  /**
   * Returns the ms before an update that failed so often is sent again, given the wait that the answer asked for.
   * Default: the platform's.
   */
  readonly waitMs?: (failures: number, askedMs: number) => number
}

interface WebhookDeps extends RedeliveryOptions {
  readonly botId: number
  readonly now: () => number
  readonly queue: UpdateQueue
  readonly record: (entry: UpdateEntry) => void
}

/** A lane of updates, sent one after another; the first that is refused blocks those behind it, and no other lane. */
interface Lane {
  isBusy: boolean
  failures: number
  cancelWait: () => void
}

export const NO_WEBHOOK: WebhookSettings = { url: '', secretToken: '', maxConnections: 40 }
const LONGEST_WAIT_MS = 60_000
const ANSWER_MS = 60_000

/**
 * The platform as the sender of a bot's updates: several connections at once, each chat in order, and again with
 * growing waits until the answer is a 2xx. Only http:// addresses are posted to.
 */
export class Webhook {
  readonly #deps: WebhookDeps
  readonly #clock: Clock
  readonly #lanes = new Map<string, Lane>()
  #settings = NO_WEBHOOK
  #lastError: { readonly at: number; readonly message: string } | undefined
  /** Aborts the work under these settings: its answers do not count any more. */
  #round = new AbortController()
  #open = 0

  constructor(deps: WebhookDeps) {
    this.#deps = deps
    this.#clock = deps.clock ?? systemClock
  }

  get settings(): WebhookSettings {
    return this.#settings
  }

  get lastError(): { readonly at: number; readonly message: string } | undefined {
    return this.#lastError
  }

  /** Sets the settings; the same ones again change nothing. */
  set(settings: WebhookSettings): void {
    const { url, secretToken, maxConnections } = this.#settings
    if (url === settings.url && secretToken === settings.secretToken && maxConnections === settings.maxConnections)
      return
    this.close()
    this.#settings = settings
    this.#lastError = undefined
    this.#round = new AbortController()
    this.wake()
  }

  /** Sends the waiting updates, as far as connections allow. */
  wake(): void {
    const { url, maxConnections } = this.#settings
    if (!url.startsWith('http://') || this.#round.signal.aborted) return
    const seen = new Set<string>()
    for (const update of [...this.#deps.queue.waiting]) {
      if (this.#open >= maxConnections) return
      if (seen.has(update.lane)) continue
      seen.add(update.lane)
      const lane = this.#lanes.get(update.lane) ?? { isBusy: false, failures: 0, cancelWait: () => {} }
      this.#lanes.set(update.lane, lane)
      if (!lane.isBusy) void this.#send(update, lane)
    }
  }

  /** Cuts every connection. */
  close(): void {
    this.#round.abort()
    for (const lane of this.#lanes.values()) lane.cancelWait()
    this.#lanes.clear()
    this.#open = 0
  }

  async #send(update: QueuedUpdate, lane: Lane): Promise<void> {
    const { signal } = this.#round
    lane.isBusy = true
    this.#open++
    this.#deps.queue.handOut(update)
    const { why, askedMs } = await this.#post(update.json, signal)
    if (signal.aborted) return
    this.#open--
    if (why === undefined) {
      this.#lanes.delete(update.lane)
      this.#deps.queue.settle(update)
    } else this.#failed(update, lane, { why, askedMs })
    this.wake()
  }

  #failed(update: QueuedUpdate, lane: Lane, { why, askedMs }: { why: string; askedMs: number }): void {
    const { botId, now, record, waitMs = platformWait } = this.#deps
    this.#lastError = { at: now(), message: why }
    record({ kind: 'undelivered', at: now(), botId, updateId: update.id, why })
    lane.failures++
    lane.cancelWait = this.#clock.after(waitMs(lane.failures, askedMs), () => {
      lane.isBusy = false
      this.wake()
    })
  }

  /** Posts an update. Never rejects; `why` says that the update was refused. */
  async #post(body: string, signal: AbortSignal): Promise<{ why?: string; askedMs: number }> {
    const { url, secretToken } = this.#settings
    const late = new AbortController()
    const cancel = this.#clock.after(this.#deps.answerMs ?? ANSWER_MS, () => late.abort())
    const headers = {
      'content-type': 'application/json',
      ...(secretToken === '' ? {} : { 'x-telegram-bot-api-secret-token': secretToken }),
    }
    try {
      const ends = AbortSignal.any([signal, late.signal])
      const response = await fetch(url, { method: 'POST', body, headers, signal: ends, redirect: 'manual' })
      await response.arrayBuffer()
      if (response.ok) return { askedMs: 0 }
      const asked = Number(response.headers.get('retry-after') ?? 0)
      const why = `Wrong response from the webhook: ${response.status} ${response.statusText}`.trim()
      return { why, askedMs: Number.isFinite(asked) ? Math.min(Math.max(asked, 0), 3600) * 1000 : 0 }
    } catch {
      return { why: late.signal.aborted ? 'Read timeout expired' : 'Connection refused', askedMs: 0 }
    } finally {
      cancel()
    }
  }
}

function platformWait(failures: number, askedMs: number): number {
  return askedMs > 0 ? askedMs : Math.min(LONGEST_WAIT_MS, 1000 * 2 ** (failures - 1))
}
