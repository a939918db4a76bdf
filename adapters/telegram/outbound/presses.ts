import { type Clock, sleep } from '../../../src/core/clock.ts'
import { cutText } from '../../../src/core/cut-text.ts'
import type { DeliveryReceipt, RenderedPart } from '../../../src/core/outbound.ts'
import { NOTHING_ANY_MORE } from '../../shared/press.ts'
import type { TelegramClient } from '../connection/client.ts'

interface Ports {
  readonly client: TelegramClient
  readonly clock: Clock
}

/** An app shows a pressed button as busy until it is answered: longer than most commands take. */
const PATIENCE_MS = 1_500
const ANSWER_WITHIN_MS = 10_000
/** Characters of a notice (Bot API, answerCallbackQuery). */
const LONGEST = 200

/**
 * The platform's own way to answer who pressed a button: a notice that nobody else sees. Each press is answered once:
 * by the daemon's answer, and without words where none comes in time.
 */
export class Presses {
  readonly #ports: Ports
  readonly #open = new Map<string, AbortController>()

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** Called when a press arrives. */
  received(id: string, signal: AbortSignal): void {
    const answered = new AbortController()
    this.#open.set(id, answered)
    void sleep(this.#ports.clock, PATIENCE_MS, AbortSignal.any([answered.signal, signal])).then(() => {
      if (this.#open.delete(id) && !signal.aborted) void this.#notify(id, '', signal)
    })
  }

  /** Answers the press of a button that is none of ours. */
  refuse(id: string, signal: AbortSignal): void {
    void this.#notify(id, NOTHING_ANY_MORE, signal)
  }

  /** Undefined: the press takes no answer any more. */
  async answer(id: string, { plain }: RenderedPart, signal: AbortSignal): Promise<DeliveryReceipt | undefined> {
    const open = this.#open.get(id)
    if (open === undefined) return undefined
    this.#open.delete(id)
    open.abort()
    const text = plain.length <= LONGEST ? plain : `${cutText(plain, LONGEST - 1)}…`
    const outcome = await this.#notify(id, text, signal)
    // The notice has no id; that of the press stands for it.
    return outcome.kind === 'answered' ? { kind: 'sent', messageId: `press:${id}` } : receiptOf(outcome)
  }

  #notify(id: string, text: string, signal: AbortSignal) {
    const params = { callback_query_id: id, ...(text === '' ? {} : { text, show_alert: true }) }
    return this.#ports.client.call('answerCallbackQuery', params, { signal, deadlineMs: ANSWER_WITHIN_MS })
  }
}

type Unanswered = Exclude<Awaited<ReturnType<TelegramClient['call']>>, { kind: 'answered' }>

/** A press that is too old takes no answer; nobody has read anything then. */
function receiptOf(outcome: Unanswered): DeliveryReceipt | undefined {
  if (outcome.kind === 'refused' && outcome.code === 400) return undefined
  return outcome.kind === 'refused'
    ? { kind: 'rejected', reason: `${outcome.code}: ${outcome.description}` }
    : { kind: outcome.bytesMayHaveLeft ? 'unknown' : 'not_sent', reason: outcome.reason }
}
