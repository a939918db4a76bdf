import type { ChatType } from '../../../src/core/address.ts'
import { type Clock, sleep } from '../../../src/core/clock.ts'
import type { SlackClient } from '../connection/client.ts'
import { backFill, TryLater } from './back-fill.ts'
import type { Fields } from './fields.ts'
import type { Gap, Positions } from './positions.ts'

interface Ports {
  readonly client: SlackClient
  readonly clock: Clock
  readonly signal: AbortSignal
  readonly positions: Positions
  /** The same door that live events come by. Rejects when it could not be stored. */
  accept(body: Fields): Promise<void>
  unknown(kind: string): void
}

const STORE_AGAIN_MS = 5000

const WORDS: Readonly<Record<ChatType, string>> = { direct: 'im', group: 'mpim', channel: 'channel' }

/** Reads back what was missed, one conversation after another, beside what is said live. Never rejects. */
export class CatchUp {
  readonly #ports: Ports
  #work: Promise<void> = Promise.resolve()

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** At a start, and after an interruption in which the platform may have given up. */
  begin(): void {
    const gaps = this.#ports.positions.fallBehind()
    this.#work = this.#work.then(() => this.#run(gaps))
  }

  async #run(gaps: readonly Gap[]): Promise<void> {
    const { signal, clock } = this.#ports
    for (const gap of gaps) {
      for (let done = false; !done && !signal.aborted; ) {
        try {
          await this.#readBack(gap)
          done = true
        } catch (error) {
          await sleep(clock, error instanceof TryLater ? error.afterMs : STORE_AGAIN_MS, signal)
        }
      }
    }
  }

  /** What was read before a failure is a repetition the next time. */
  async #readBack(gap: Gap): Promise<void> {
    const { accept, unknown, positions } = this.#ports
    const { messages, left } = await backFill(this.#ports, gap)
    for (const message of messages) {
      const event = { ...message, channel: gap.chat, channel_type: WORDS[gap.chatType] }
      await accept({ type: 'event_callback', event })
    }
    await positions.caughtUp(gap.chat)
    if (left !== undefined) unknown(`back_fill:${left}`)
  }
}
