import { ChannelDown } from '../../src/channels/adapter.ts'
import { type Clock, sleep } from '../../src/core/clock.ts'
import { toError } from '../../src/core/errors.ts'
import { createBackoff } from '../shared/backoff.ts'
import type { GatewayConnection, GatewayListener } from './gateway.ts'

export interface KeeperPorts {
  readonly clock: Clock
  random(): number
  connect(listener: GatewayListener): Promise<GatewayConnection>
  /** Called for each thing a connection tells, except its end. */
  readonly listener: Omit<GatewayListener, 'ended' | 'interrupted'>
  /** Not connected for a while, or not to be mended by waiting. */
  down(detail: string): void
}

/** A heartbeat lasts 41 s; without a sign of life for two of them the connection is dead (RELIABILITY 1.1). */
const SILENT_MS = 85_000
const LOOK_EVERY_MS = 5_000
/** Reconnects of the platform's own making are over in a moment; only a longer one is worth telling. */
const PATIENCE_MS = 10_000
const CAP_MS = 30_000
/** A wrong token or intent does not mend itself quickly, but it is mended without a restart. */
const PERMANENT_WAIT_MS = 60_000

/** Keeps one account connected from its first connection to its stop, whatever happens in between. */
export class ConnectionKeeper {
  readonly #ports: KeeperPorts
  readonly #signal: AbortSignal
  #connection: GatewayConnection | undefined
  #aliveAt: number
  #interruptedAt: number | undefined
  #keeping: Promise<void> = Promise.resolve()

  constructor(ports: KeeperPorts, signal: AbortSignal) {
    this.#ports = ports
    this.#signal = signal
    this.#aliveAt = ports.clock.now()
  }

  get connection(): GatewayConnection | undefined {
    return this.#connection
  }

  /** Resolves with the first connection. @throws ChannelDown when it cannot be had; then nothing is kept */
  async start(): Promise<void> {
    const first = await this.#connect()
    this.#keeping = this.#keep(first)
  }

  /** Call after the signal was aborted. */
  async stop(): Promise<void> {
    await this.#connection?.close()
    await this.#keeping
  }

  async #keep(first: Kept): Promise<void> {
    const { clock, down } = this.#ports
    const backoff = createBackoff({ baseMs: 1000, capMs: CAP_MS, random: () => this.#ports.random() })
    let kept: Kept = first
    for (let attempt = 1; !this.#signal.aborted; attempt++) {
      const why = await this.#endOf(kept)
      if (why === undefined) return
      down(why.message)
      await sleep(clock, why.permanent ? PERMANENT_WAIT_MS : backoff.nextDelay(attempt), this.#signal)
      if (this.#signal.aborted) return
      const next = await this.#connect().catch((error: unknown) => ({ ended: Promise.resolve(asDown(error)) }))
      if ('connection' in next) attempt = 0
      kept = next
    }
  }

  /** Why a connection ended, once it is closed; undefined when it was stopped. */
  async #endOf({ connection, ended }: Kept): Promise<ChannelDown | undefined> {
    const stopped = new Promise<undefined>((resolve) => {
      if (this.#signal.aborted) resolve(undefined)
      else this.#signal.addEventListener('abort', () => resolve(undefined), { once: true })
    })
    const why = await Promise.race([ended, stopped])
    await connection?.close()
    return this.#signal.aborted ? undefined : why
  }

  async #connect(): Promise<Kept & { readonly connection: GatewayConnection }> {
    let over: (why: ChannelDown) => void = () => {}
    const ended = new Promise<ChannelDown>((resolve) => {
      over = resolve
    })
    const connection = await this.#ports.connect(this.#listener(over))
    this.#alive()
    const unwatch = this.#watch(over)
    void ended.then(unwatch)
    this.#signal.addEventListener('abort', unwatch, { once: true })
    return { connection, ended }
  }

  #listener(over: (why: ChannelDown) => void): GatewayListener {
    const { listener, clock } = this.#ports
    return {
      dispatch: (type, data) => {
        this.#aliveAt = clock.now()
        listener.dispatch(type, data)
      },
      ready: (connection) => {
        this.#connection = connection
        this.#alive()
        listener.ready(connection)
      },
      resumed: () => {
        this.#alive()
        listener.resumed()
      },
      proven: () => {
        this.#alive()
        listener.proven()
      },
      interrupted: () => {
        this.#interruptedAt ??= clock.now()
      },
      ended: over,
    }
  }

  #alive(): void {
    this.#aliveAt = this.#ports.clock.now()
    this.#interruptedAt = undefined
  }

  /** Looks after the connection until it is told to stop. */
  #watch(over: (why: ChannelDown) => void): () => void {
    const { clock, down } = this.#ports
    let cancel = (): void => {}
    const look = (): void => {
      const now = clock.now()
      if (now - this.#aliveAt > SILENT_MS) over(new ChannelDown(SILENT, { permanent: false }))
      else if (now - (this.#interruptedAt ?? now) > PATIENCE_MS) down(INTERRUPTED)
      cancel = clock.after(LOOK_EVERY_MS, look)
    }
    cancel = clock.after(LOOK_EVERY_MS, look)
    return () => cancel()
  }
}

const SILENT = 'Discord has not acknowledged a heartbeat for two intervals; connecting anew'
const INTERRUPTED = 'the connection to Discord broke and is being mended'

/** `connection`: absent where it could not even be made. */
interface Kept {
  readonly connection?: GatewayConnection
  readonly ended: Promise<ChannelDown>
}

function asDown(error: unknown): ChannelDown {
  return error instanceof ChannelDown ? error : new ChannelDown(toError(error).message, { permanent: false })
}
