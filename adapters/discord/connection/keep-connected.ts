import { ChannelDown } from '../../../src/channels/adapter.ts'
import { backOffMs } from '../../../src/core/backoff.ts'
import { type Clock, sleep } from '../../../src/core/clock.ts'
import { toError } from '../../../src/core/errors.ts'
import { onAbort } from '../../shared/deadline.ts'
import type { GatewayConnection, GatewayListener } from './gateway.ts'
import { SessionsSpent } from './session-limit.ts'
import { Watch } from './watch.ts'

export interface KeeperPorts {
  readonly clock: Clock
  random(): number
  /** Begins a session. @throws ChannelDown when it cannot be had, or is better not begun now */
  connect(listener: GatewayListener): Promise<GatewayConnection>
  /**
   * Called for each event of a connection. For an interruption it is called once, until `ready` or `resumed`, and an
   * end is one too; heartbeats that are acknowledged meanwhile are not passed on.
   */
  readonly listener: Omit<GatewayListener, 'ended'>
  /** Not connected for a while, or not to be mended by waiting. */
  down(detail: string): void
}

const CAP_MS = 30_000
/** After a session that did not last: each costs one of a thousand a day. */
const SHORT_LIVED_CAP_MS = 120_000
const SPENT_CAP_MS = 300_000
/** A wrong token or intent does not mend itself quickly, but it is mended without a restart. */
const PERMANENT_WAIT_MS = 60_000

/** Keeps one account connected from its first connection to its stop, whatever happens in between. */
export class ConnectionKeeper {
  readonly #ports: KeeperPorts
  readonly #signal: AbortSignal
  #connection: GatewayConnection | undefined
  #watch: Watch | undefined
  #giveUp: (why: ChannelDown) => void = () => {}
  #keeping: Promise<void> = Promise.resolve()

  constructor(ports: KeeperPorts, signal: AbortSignal) {
    this.#ports = ports
    this.#signal = signal
  }

  get connection(): GatewayConnection | undefined {
    return this.#connection
  }

  /** A session is there and not interrupted. */
  get looksWell(): boolean {
    return this.#watch?.isProven === true
  }

  /** Ends the connection, whatever it looks like, and begins another session. */
  giveUp(detail: string): void {
    this.#giveUp(new ChannelDown(detail, { permanent: false }))
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
    let kept: Kept = first
    for (let attempt = 1; !this.#signal.aborted; attempt++) {
      const why = await this.#endOf(kept)
      if (why === undefined) return
      down(why.message)
      if (kept.watch?.wasCalm === true) attempt = 1
      await sleep(clock, this.#waitMs(why, { attempt, begun: kept.watch !== undefined }), this.#signal)
      if (this.#signal.aborted) return
      kept = await this.#connect().catch((error: unknown) => ({ ended: Promise.resolve(asDown(error)) }))
    }
  }

  #waitMs(why: ChannelDown, { attempt, begun }: { readonly attempt: number; readonly begun: boolean }): number {
    if (why.permanent) return PERMANENT_WAIT_MS
    const spent = why instanceof SessionsSpent
    const capMs = spent
      ? Math.min(SPENT_CAP_MS, Math.max(CAP_MS, why.resetAfterMs))
      : begun
        ? SHORT_LIVED_CAP_MS
        : CAP_MS
    return backOffMs(attempt, { firstMs: 1000, longestMs: capMs, jitter: 1 }, this.#ports.random())
  }

  /** Why a connection ended, once it is closed; undefined when it was stopped. */
  async #endOf({ connection, ended }: Kept): Promise<ChannelDown | undefined> {
    let forget = (): void => {}
    const stopped = new Promise<undefined>((resolve) => {
      forget = onAbort(this.#signal, () => resolve(undefined))
    })
    const why = await Promise.race([ended, stopped])
    forget()
    await connection?.close()
    return this.#signal.aborted ? undefined : why
  }

  async #connect(): Promise<Kept> {
    let over: (why: ChannelDown) => void = () => {}
    const ended = new Promise<ChannelDown>((resolve) => {
      over = (why) => {
        // Until the next session is proven, it moves no position past the messages that this one missed.
        if (watch.isProven) this.#ports.listener.interrupted()
        resolve(why)
      }
    })
    const watch = new Watch(this.#ports, this.#signal, (detail) => over(new ChannelDown(detail, { permanent: false })))
    try {
      const connection = await this.#ports.connect(this.#listener(watch, over))
      watch.begin()
      this.#watch = watch
      this.#giveUp = over
      const forget = onAbort(this.#signal, () => watch.end())
      void ended.then(() => {
        forget()
        watch.end()
      })
      return { connection, ended, watch }
    } catch (error) {
      watch.end()
      throw error
    }
  }

  #listener(watch: Watch, over: (why: ChannelDown) => void): GatewayListener {
    const { listener } = this.#ports
    return {
      dispatch: (type, data) => {
        watch.received()
        listener.dispatch(type, data)
      },
      ready: (connection) => {
        this.#connection = connection
        watch.proven()
        listener.ready(connection)
      },
      shown: (channels) => listener.shown(channels),
      resumed: () => {
        watch.proven()
        listener.resumed()
      },
      acknowledged: () => {
        watch.received()
        if (!watch.isInterrupted) listener.acknowledged()
      },
      interrupted: () => {
        if (watch.interrupted()) listener.interrupted()
      },
      odd: (what) => listener.odd(what),
      ended: over,
    }
  }
}

/** `connection` and `watch`: absent where it could not even be made. */
interface Kept {
  readonly connection?: GatewayConnection
  readonly watch?: Watch
  readonly ended: Promise<ChannelDown>
}

function asDown(error: unknown): ChannelDown {
  return error instanceof ChannelDown ? error : new ChannelDown(toError(error).message, { permanent: false })
}
