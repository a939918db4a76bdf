import type { OutboundPart } from '../../src/channels/adapter.ts'
import type { FindsOwnMessages, FoundMessage, LostMessage } from '../../src/channels/capabilities.ts'
import { formatAddress } from '../../src/core/address.ts'
import type { Clock } from '../../src/core/clock.ts'
import type { DeliveryReceipt } from '../../src/core/outbound.ts'
import { FakeChannel } from './fake-channel.ts'

/** A platform that gives the first message back for a key used again in time, and can be asked for lost ones. */
export class KeyedChannel extends FakeChannel implements FindsOwnMessages {
  readonly sameKeyWindowMs: number
  /** How often a key gave its first message back. */
  givenBack = 0
  readonly looks: LostMessage[] = []
  /** What the history says; by default the truth. */
  history: (lost: LostMessage) => FoundMessage | undefined = () => undefined
  readonly #clock: () => Clock
  readonly #made = new Map<string, { readonly messageId: string; readonly at: number }>()

  constructor(clock: () => Clock, sameKeyWindowMs: number) {
    super(clock)
    this.#clock = clock
    this.sameKeyWindowMs = sameKeyWindowMs
  }

  override async send(part: OutboundPart, signal: AbortSignal): Promise<DeliveryReceipt> {
    const now = this.#clock().now()
    const first = this.#made.get(part.key)
    if (first !== undefined && now - first.at < this.sameKeyWindowMs && this.fates.length === 0) {
      this.givenBack++
      return { kind: 'sent', messageId: first.messageId }
    }
    const to = formatAddress(part.address)
    const before = this.visible(to).length
    const sending = super.send(part, signal)
    if (this.visible(to).length > before) this.#made.set(part.key, { messageId: `first-${part.key}`, at: now })
    return sending
  }

  async findOwn(lost: LostMessage): Promise<FoundMessage> {
    this.looks.push(lost)
    const made = this.#made.get(lost.key)
    return (
      this.history(lost) ?? (made ? { kind: 'found', messages: [{ messageId: made.messageId }] } : { kind: 'absent' })
    )
  }
}
