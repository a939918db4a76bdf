import type { Clock } from '../../../src/core/clock.ts'
import { ReceiptProof } from '../../shared/receipt-proof.ts'

interface WatchPorts {
  readonly clock: Clock
  /** Not connected for a while. */
  down(detail: string): void
}

const LOOK_EVERY_MS = 5_000
/** A heartbeat lasts 41 s; without an answer to two of them the connection is dead. */
const SILENT_LOOKS = 17
/** Reconnects of the platform's own making are over in a moment; only a longer one is worth telling. */
const DEADLINE_MS = 10_000
/** Interruptions after none of which the connection was calm for a minute. */
const MOST_BREAKS = 5
const CALM_MS = 60_000

/** Looks after one connection, by timers alone: a clock that is set ends nothing. */
export class Watch {
  readonly #ports: WatchPorts
  readonly #over: (detail: string) => void
  /** Looks since anything came in. */
  #silentLooks = 0
  #breaks = 0
  #wasCalm = false
  #hasEnded = false
  /** Only READY and RESUMED prove a session, so nothing is asked. */
  readonly #proof: ReceiptProof
  #cancelNotice: () => void = () => {}
  #cancelLook: () => void = () => {}
  #cancelCalm: () => void = () => {}

  constructor(ports: WatchPorts, signal: AbortSignal, over: (detail: string) => void) {
    this.#ports = ports
    this.#over = over
    const { clock } = ports
    const proven = (): void => this.#cancelNotice()
    this.#proof = new ReceiptProof({ clock, signal, ask: undefined, proven, unproven: () => over(NOT_RESUMED) })
  }

  /** It brought everything for a minute on end. */
  get wasCalm(): boolean {
    return this.#wasCalm
  }

  get isInterrupted(): boolean {
    return this.#proof.isSought
  }

  get isProven(): boolean {
    return !this.#hasEnded && !this.#proof.isSought
  }

  begin(): void {
    this.#cancelLook = this.#ports.clock.after(LOOK_EVERY_MS, () => {
      if (++this.#silentLooks >= SILENT_LOOKS) this.#over(SILENT)
      else this.begin()
    })
  }

  end(): void {
    this.#hasEnded = true
    this.#cancelLook()
    this.#cancelCalm()
    this.#cancelNotice()
    this.#proof.end()
  }

  /** Something came in. It shows that the line is alive, and not that the session is. */
  received(): void {
    this.#silentLooks = 0
  }

  /** The session is there, or there again. */
  proven(): void {
    this.received()
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
    this.#cancelNotice = clock.after(DEADLINE_MS, () => down(INTERRUPTED))
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
