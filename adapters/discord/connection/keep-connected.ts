import { ChannelDown } from '../../../src/channels/adapter.ts'
import { type Clock, sleep } from '../../../src/core/clock.ts'
import { toError } from '../../../src/core/errors.ts'
import { createBackoff } from '../../shared/backoff.ts'
import { onAbort } from '../../shared/deadline.ts'
import { ReceiptProof } from '../../shared/receipt-proof.ts'
import type { GatewayConnection, GatewayListener } from './gateway.ts'
import { SessionsSpent } from './session-limit.ts'

export interface KeeperPorts {
  readonly clock: Clock
  random(): number
  /** Begins a session. @throws ChannelDown when it cannot be had, or is better not begun now */
  connect(listener: GatewayListener): Promise<GatewayConnection>
  /**
   * Called for each thing a connection tells, except its end. Of an interruption it is told once, until `ready` or
   * `resumed`; heartbeats that are acknowledged meanwhile are not passed on.
   */
  readonly listener: Omit<GatewayListener, 'ended'>
  /** Not connected for a while, or not to be mended by waiting. */
  down(detail: string): void
}

const LOOK_EVERY_MS = 5_000
/** A heartbeat lasts 41 s; without a sign of life for two of them the connection is dead. */
const SILENT_LOOKS = 17
/** Reconnects of the platform's own making are over in a moment; only a longer one is worth telling. */
const PATIENCE_MS = 10_000
/** Interruptions after none of which the connection was calm for a minute. */
const MOST_BREAKS = 5
const CALM_MS = 60_000
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
  #keeping: Promise<void> = Promise.resolve()

  constructor(ports: KeeperPorts, signal: AbortSignal) {
    this.#ports = ports
    this.#signal = signal
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
    return createBackoff({ baseMs: 1000, capMs, random: () => this.#ports.random() }).nextDelay(attempt)
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
      over = resolve
    })
    const watch = new Watch(this.#ports, this.#signal, (detail) => over(new ChannelDown(detail, { permanent: false })))
    try {
      const connection = await this.#ports.connect(this.#listener(watch, over))
      watch.begin()
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
        watch.heard()
        listener.dispatch(type, data)
      },
      ready: (connection) => {
        this.#connection = connection
        watch.proven()
        listener.ready(connection)
      },
      resumed: () => {
        watch.proven()
        listener.resumed()
      },
      acknowledged: () => {
        watch.heard()
        if (!watch.isInterrupted) listener.acknowledged()
      },
      interrupted: () => {
        if (watch.interrupted()) listener.interrupted()
      },
      unreadable: () => listener.unreadable(),
      ended: over,
    }
  }
}

/** Looks after one connection, by timers alone: a clock that is set ends nothing. */
class Watch {
  readonly #ports: Pick<KeeperPorts, 'clock' | 'down'>
  readonly #over: (detail: string) => void
  /** Looks since anything came in. */
  #silentLooks = 0
  #breaks = 0
  #wasCalm = false
  /** Only READY and RESUMED prove a session, so nothing is asked. */
  readonly #proof: ReceiptProof
  #cancelTell: () => void = () => {}
  #cancelLook: () => void = () => {}
  #cancelCalm: () => void = () => {}

  constructor(ports: Pick<KeeperPorts, 'clock' | 'down'>, signal: AbortSignal, over: (detail: string) => void) {
    this.#ports = ports
    this.#over = over
    const { clock } = ports
    const proven = (): void => this.#cancelTell()
    this.#proof = new ReceiptProof({ clock, signal, ask: undefined, proven, unproven: () => over(NOT_RESUMED) })
  }

  /** It told everything for a minute on end. */
  get wasCalm(): boolean {
    return this.#wasCalm
  }

  get isInterrupted(): boolean {
    return this.#proof.isSought
  }

  begin(): void {
    this.#cancelLook = this.#ports.clock.after(LOOK_EVERY_MS, () => {
      if (++this.#silentLooks >= SILENT_LOOKS) this.#over(SILENT)
      else this.begin()
    })
  }

  end(): void {
    this.#cancelLook()
    this.#cancelCalm()
    this.#cancelTell()
    this.#proof.end()
  }

  /** Something came in. It shows that the line is alive, and not that the session is. */
  heard(): void {
    this.#silentLooks = 0
  }

  /** The session is there, or there again. */
  proven(): void {
    this.heard()
    this.#proof.found()
    this.#cancelCalm()
    this.#cancelCalm = this.#ports.clock.after(CALM_MS, () => {
      this.#wasCalm = true
      this.#breaks = 0
    })
  }

  /** False: it was interrupted already. */
  interrupted(): boolean {
    this.#cancelCalm()
    if (this.#proof.isSought) return false
    const { clock, down } = this.#ports
    this.#cancelTell = clock.after(PATIENCE_MS, () => down(INTERRUPTED))
    this.#proof.lost()
    this.#proof.seek()
    if (++this.#breaks > MOST_BREAKS) this.#over(RESTLESS)
    return true
  }
}

const SILENT = 'Discord has not acknowledged a heartbeat for two intervals; connecting anew'
const INTERRUPTED = 'the connection to Discord broke and is being mended'
const NOT_RESUMED =
  'Discord did not take the session up again within 60 s after the connection broke; beginning a new one'
const RESTLESS = 'the connection to Discord breaks again and again; beginning a new session'

/** `connection` and `watch`: absent where it could not even be made. */
interface Kept {
  readonly connection?: GatewayConnection
  readonly watch?: Watch
  readonly ended: Promise<ChannelDown>
}

function asDown(error: unknown): ChannelDown {
  return error instanceof ChannelDown ? error : new ChannelDown(toError(error).message, { permanent: false })
}
