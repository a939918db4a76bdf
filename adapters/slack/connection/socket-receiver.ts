import type { Receiver } from '@slack/bolt'
import { backOffMs } from '../../../src/core/backoff.ts'
import { sleep } from '../../../src/core/clock.ts'
import { failpoint } from '../../../src/core/failpoint.ts'
import type { Fields } from '../../shared/fields.ts'
import { wordOf } from '../../shared/reading.ts'
import type { Take } from '../inbound/bolt-app.ts'
import { type ConnectionPorts, type ConnectionSettings, SlackConnection } from './socket-connection.ts'
import { connectionTrouble, DEAF, SOCKET_MODE_OFF, toChannelDown, UNPROVEN } from './trouble.ts'

export interface ReceiverPorts {
  /** Counts what is no event. */
  unknown(kind: string): void
  /** An event came in. */
  onProof(): void
  /** Something came in, be it a ping: the line is alive, which proves no receipt. */
  onAlive(): void
  onConnected(): void
  onTrouble(detail: string): void
}

export interface SocketSettings extends ConnectionSettings {
  random(): number
}

/**
 * Why a connection is to be replaced. `asked`: the platform said that it wants to close it, but it still brings events.
 */
type Ending = 'asked' | 'closed' | 'silent' | 'unproven' | 'deaf' | 'link_disabled'

const TROUBLES: { readonly [ending in Ending]?: string } = {
  link_disabled: SOCKET_MODE_OFF,
  unproven: UNPROVEN,
  deaf: DEAF,
}

interface Live {
  readonly connection: SlackConnection
  readonly ending: Promise<Ending>
}

const BACKOFF_MS = 500
/** The package's own waits have no bound. */
const CAP_MS = 30_000
/** Until somebody mends it; asked again all the same. */
const MENDING_MS = 60_000
/** A connection that ends sooner counts as a failure, so that one that never lasts is not opened without a pause. */
const SHORT_LIFE_MS = 10_000
/** The platform pings every few seconds; a connection without any frame for so long is dead, whatever it says. */
const SILENCE_MS = 45_000
const LOOK_EVERY_MS = 5000

/**
 * Socket Mode: one connection, replaced before it ends where the platform says so, and for ever where it does not. An
 * event is acknowledged after its commit and not before; without one the platform repeats it.
 */
export class SocketReceiver implements Receiver {
  readonly #settings: SocketSettings
  readonly #ports: ReceiverPorts
  readonly #abort = new AbortController()
  readonly #open = new Set<SlackConnection>()
  readonly #working = new Set<Promise<void>>()
  #take: Take | undefined
  #giveUp: (why: 'unproven' | 'deaf') => void = () => {}
  #ended: Promise<void> = Promise.resolve()

  constructor(settings: SocketSettings, ports: ReceiverPorts) {
    this.#settings = settings
    this.#ports = ports
  }

  init(): void {}

  use(take: Take): void {
    this.#take = take
  }

  /** @throws ChannelDown when the first connection cannot be opened */
  async start(): Promise<void> {
    const first = await this.#connect().catch((error: unknown) => {
      throw toChannelDown(connectionTrouble(error))
    })
    this.#ports.onConnected()
    this.#ended = this.#keep(first)
  }

  /** Takes nothing more in, lets what is being stored be acknowledged, closes. The caller bounds the wait. */
  async stop(): Promise<void> {
    this.#abort.abort()
    await Promise.allSettled(this.#working)
    this.kill()
    await this.#ended
  }

  /** The connection brings nothing: another one is opened, with growing waits where it proves nothing either. */
  giveUp(why: 'unproven' | 'deaf'): void {
    this.#giveUp(why)
  }

  kill(): void {
    this.#abort.abort()
    for (const connection of this.#open) connection.kill()
    this.#open.clear()
  }

  async #keep(first: Live): Promise<void> {
    const { signal } = this.#abort
    const { clock } = this.#settings
    let live = first
    let short = 0
    while (!signal.aborted) {
      const since = clock.elapsed()
      const ending = await live.ending
      if (signal.aborted) return
      short = ending === 'unproven' || clock.elapsed() - since < SHORT_LIFE_MS ? short + 1 : 0
      if (ending !== 'asked') this.#ports.onTrouble(TROUBLES[ending] ?? `the connection to Slack ended (${ending})`)
      const next = await this.#reconnect({ failures: short, permanent: ending === 'link_disabled' })
      this.#drop(live.connection)
      if (next === undefined) return
      live = next
    }
  }

  /** Tries until it succeeds, at once if nothing has failed yet. Undefined: stopped. */
  async #reconnect(so: { readonly failures: number; readonly permanent: boolean }): Promise<Live | undefined> {
    const { clock } = this.#settings
    const { signal } = this.#abort
    let { permanent } = so
    for (let failed = so.failures; !signal.aborted; failed++) {
      await sleep(clock, this.#waitMs(failed, permanent), signal)
      if (signal.aborted) return undefined
      try {
        const live = await this.#connect()
        this.#ports.onConnected()
        return live
      } catch (error) {
        const trouble = connectionTrouble(error)
        permanent = trouble.permanent
        this.#ports.onTrouble(trouble.detail)
      }
    }
    return undefined
  }

  #waitMs(failed: number, permanent: boolean): number {
    if (permanent) return MENDING_MS
    if (failed === 0) return 0
    const pace = { firstMs: BACKOFF_MS, longestMs: CAP_MS, jitter: 1 }
    return Math.max(BACKOFF_MS, backOffMs(failed, pace, this.#settings.random()))
  }

  async #connect(): Promise<Live> {
    let end: (ending: Ending) => void = () => {}
    const ending = new Promise<Ending>((resolve) => {
      end = resolve
    })
    const { clock } = this.#settings
    let lastFrameAt = clock.elapsed()
    const ports: ConnectionPorts = {
      onEnvelope: (envelope) => {
        this.#ports.onProof()
        this.#receive(envelope, connection)
      },
      onTooLong: () => this.#ports.unknown('frame:too_long'),
      onDisconnectAsked: (reason) => end(reason === 'link_disabled' ? 'link_disabled' : 'asked'),
      onClosed: () => end('closed'),
      onFrame: () => {
        lastFrameAt = clock.elapsed()
        this.#ports.onAlive()
      },
    }
    const connection = new SlackConnection(this.#settings, ports)
    this.#open.add(connection)
    try {
      await connection.open()
    } catch (error) {
      this.#drop(connection)
      throw error
    }
    this.#giveUp = end
    if (this.#abort.signal.aborted) this.#drop(connection)
    else this.#listenForSilence(connection, () => clock.elapsed() - lastFrameAt >= SILENCE_MS && end('silent'))
    return { connection, ending }
  }

  #listenForSilence(connection: SlackConnection, look: () => void): void {
    this.#settings.clock.after(LOOK_EVERY_MS, () => {
      if (!this.#open.has(connection)) return
      look()
      this.#listenForSilence(connection, look)
    })
  }

  #drop(connection: SlackConnection): void {
    this.#open.delete(connection)
    connection.kill()
  }

  #receive(envelope: Fields, connection: SlackConnection): void {
    if (this.#abort.signal.aborted) return
    const work = this.#process(envelope, connection).finally(() => this.#working.delete(work))
    this.#working.add(work)
  }

  /** Never rejects. */
  async #process(envelope: Fields, connection: SlackConnection): Promise<void> {
    const { envelope_id: id, type, payload, retry_attempt: retryNum, retry_reason: retryReason } = envelope
    if (typeof id !== 'string') return this.#ports.unknown(`frame:${wordOf(type)}`)
    failpoint('CP1-received')
    try {
      if (type === 'events_api' || type === 'slash_commands' || type === 'interactive') {
        const retry = {
          ...(typeof retryNum === 'number' && { retryNum }),
          ...(typeof retryReason === 'string' && { retryReason }),
        }
        await this.#take?.({ body: payload, ...retry })
      } else this.#ports.unknown(`envelope:${wordOf(type)}`)
    } catch {
      // Not stored, hence not acknowledged: the platform gives it again. The function that refused it has logged why.
      return
    }
    failpoint('CP2-committed')
    connection.acknowledge(id)
    failpoint('CP3-acked')
  }
}
