import type { Clock } from '../../../src/core/clock.ts'
import type { DeliveryReceipt, RenderedPart } from '../../../src/core/outbound.ts'
import { NOTHING_ANY_MORE } from '../../shared/press.ts'
import type { CallOutcome, DiscordClient } from '../connection/client.ts'
import { handleOf, type InteractionIds } from '../inbound/read-slash-command.ts'
import { toReceipt } from './receipts.ts'
import { contentOf, NO_PINGS, SUPPRESS_EMBEDS } from './send.ts'

interface Ports {
  readonly client: DiscordClient
  readonly clock: Clock
}

/** One part of a private answer. */
export interface InteractionAnswer {
  /** The command's `answerBy`. */
  readonly handle: string
  readonly rendered: RenderedPart
  readonly partNo: number
}

/** The platform waits three seconds; storing took some of them. */
const ACKNOWLEDGE_WITHIN_MS = 2500
const ANSWER_WITHIN_MS = 15_000
const DEFERRED = 5
/** Shown to nobody but the person. */
const EPHEMERAL = 64
/**
 * An interaction without an answer, such as another person's use of an owner's command, stops showing as pending after
 * this time.
 */
const GIVE_UP_MS = 60_000
/** Unknown message, webhook or interaction, invalid token: it was never acknowledged in time, or is too old. */
const GONE = new Set([10_008, 10_015, 10_062, 50_027])

/**
 * The platform's own way to answer what a person did by its menu: at once an acknowledgement, then the answer in its
 * place, both for that person alone. Editing the acknowledgement is idempotent, so a lost answer may simply be
 * repeated.
 */
export class Interactions {
  readonly #ports: Ports
  readonly #open = new Map<string, () => void>()

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** After the commit. Without it the platform shows the person that nothing came of it. */
  async acknowledge(ids: InteractionIds, signal: AbortSignal): Promise<CallOutcome> {
    const { client, clock } = this.#ports
    const handle = handleOf(ids)
    const giveUp = (): void => {
      this.#open.delete(handle)
      const path = `/webhooks/${handle}/messages/@original` as const
      void client.call({ verb: 'DELETE', path }, { signal, deadlineMs: ANSWER_WITHIN_MS })
    }
    this.#open.set(handle, clock.after(GIVE_UP_MS, giveUp))
    const path = `/interactions/${ids.id}/${encodeURIComponent(ids.token)}/callback` as const
    const body = { type: DEFERRED, data: { flags: EPHEMERAL } }
    const outcome = await client.call({ verb: 'POST', path, body }, { signal, deadlineMs: ACKNOWLEDGE_WITHIN_MS })
    if (outcome.kind !== 'answered') this.#settle(handle)
    return outcome
  }

  /** Answers the press of a button that is none of ours. */
  async refuse(ids: InteractionIds, signal: AbortSignal): Promise<void> {
    const outcome = await this.acknowledge(ids, signal)
    if (outcome.kind !== 'answered') return
    const rendered: RenderedPart = { text: NOTHING_ANY_MORE, plain: NOTHING_ANY_MORE, markup: 'plain' }
    await this.answer({ handle: handleOf(ids), rendered, partNo: 0 }, signal)
  }

  /** Undefined: the interaction takes no answer any more. */
  async answer(
    { handle, rendered, partNo }: InteractionAnswer,
    signal: AbortSignal,
  ): Promise<DeliveryReceipt | undefined> {
    this.#settle(handle)
    const options = { signal, deadlineMs: ANSWER_WITHIN_MS }
    const body = { content: contentOf(rendered), flags: SUPPRESS_EMBEDS, ...NO_PINGS }
    const path = `/webhooks/${handle}` as const
    const first = { verb: 'PATCH', path: `${path}/messages/@original`, body } as const
    const further = { verb: 'POST', path, body: { ...body, flags: EPHEMERAL | SUPPRESS_EMBEDS } } as const
    const outcome = await this.#ports.client.call(partNo === 0 ? first : further, options)
    return outcome.kind === 'refused' && GONE.has(outcome.code) ? undefined : toReceipt(outcome)
  }

  /** Idempotent. */
  close(): void {
    for (const cancel of this.#open.values()) cancel()
    this.#open.clear()
  }

  #settle(handle: string): void {
    this.#open.get(handle)?.()
    this.#open.delete(handle)
  }
}
