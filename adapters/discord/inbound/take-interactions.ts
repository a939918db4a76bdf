import type { ChannelSink } from '../../../src/channels/adapter.ts'
import { ParleyError } from '../../../src/core/errors.ts'
import { failpoint } from '../../../src/core/failpoint.ts'
import type { AccountId } from '../../../src/core/ids.ts'
import { fieldsOf } from '../../shared/fields.ts'
import type { Interactions } from '../outbound/interactions.ts'
import { FOREIGN_BUTTON, interactionIds, readInteraction } from './read-slash-command.ts'

interface Ports {
  readonly account: AccountId
  readonly botId: string
  readonly interactions: Interactions
  readonly sink: ChannelSink
  readonly signal: AbortSignal
  failed(error: unknown, channelId: string): void
}

/** Receives slash commands and presses, which wait behind nothing. */
export class InteractionReceiver {
  readonly #ports: Ports
  readonly #work = new Set<Promise<void>>()

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** Stores it, then acknowledges it: the platform gives up on it after three seconds, and gives none a second time. */
  take(data: unknown): void {
    failpoint('CP1-received')
    const work = this.#store(data)
      .catch((error: unknown) => this.#ports.failed(error, 'interaction'))
      .finally(() => this.#work.delete(work))
    this.#work.add(work)
  }

  async idle(): Promise<void> {
    await Promise.all(this.#work)
  }

  async #store(data: unknown): Promise<void> {
    const { account, botId, sink, interactions, signal } = this.#ports
    const reading = readInteraction(data, { account, botId })
    if (reading.kind !== 'event') {
      if (signal.aborted) return
      sink.unknown(reading.why)
      if (reading.why === FOREIGN_BUTTON) await interactions.refuse(interactionIds(fieldsOf(data)), signal)
      return
    }
    if (signal.aborted) throw new ParleyError('aborted', 'the channel was stopped')
    await sink.accept(reading.event)
    failpoint('CP2-committed')
    const outcome = await interactions.acknowledge(interactionIds(fieldsOf(data)), signal)
    if (outcome.kind !== 'answered') sink.unknown('interaction:not_acknowledged')
    failpoint('CP3-acked')
  }
}
