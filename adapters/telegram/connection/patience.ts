import { setMaxListeners } from 'node:events'
import type { Clock } from '../../../src/core/clock.ts'

/** How long a call is waited for, and by whose leave. */
export interface Limits {
  /** The whole call, from the first byte out to the last byte in, ms. It may end up to 200 ms earlier. */
  readonly deadlineMs: number
  readonly signal: AbortSignal
}

/** A call that is waited for. */
export interface Waiting {
  readonly signal: AbortSignal
  readonly giveUp: (reason: string) => void
  readonly company: Company
}

/** Calls that began at about the same time and may last equally long: one timer ends them all. */
interface Company {
  readonly deadlineMs: number
  readonly calls: Set<Waiting>
  cancel(): void
}

/** Calls that begin within this time share a timer. */
const TOGETHER_MS = 200

/**
 * Ends calls at their deadline or when their signal aborts. A timer, a signal and its listener for each call would cost
 * more than all the rest of waiting, so calls share them. Deadlines are timers and not times of day: a clock that is set
 * ends no call.
 */
export class Patience {
  readonly #clock: Clock
  readonly #companies = new Set<Company>()
  readonly #heard = new WeakSet<AbortSignal>()
  /** Takes further calls in. */
  #open: Company | undefined
  #cancelClose: () => void = () => {}

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Calls `giveUp` once, unless `over` comes first. */
  wait({ deadlineMs, signal }: Limits, giveUp: (reason: string) => void): Waiting {
    if (!this.#heard.has(signal)) this.#listen(signal)
    const waiting = { signal, giveUp, company: this.#companyFor(deadlineMs) }
    waiting.company.calls.add(waiting)
    return waiting
  }

  /** The call has ended. False if it had before. */
  over(waiting: Waiting): boolean {
    const { company } = waiting
    const wasOpen = company.calls.delete(waiting)
    if (company.calls.size === 0 && company !== this.#open) this.#disband(company)
    return wasOpen
  }

  #companyFor(deadlineMs: number): Company {
    if (this.#open?.deadlineMs === deadlineMs) return this.#open
    this.#close()
    const company: Company = { deadlineMs, calls: new Set(), cancel: () => {} }
    company.cancel = this.#clock.after(deadlineMs, () => {
      this.#disband(company)
      for (const call of company.calls) call.giveUp(`no answer within ${deadlineMs / 1000} s`)
    })
    this.#companies.add(company)
    this.#open = company
    this.#cancelClose = this.#clock.after(TOGETHER_MS, () => this.#close())
    return company
  }

  /** Takes no more in; while it did, it could stand empty. */
  #close(): void {
    this.#cancelClose()
    const company = this.#open
    this.#open = undefined
    if (company?.calls.size === 0) this.#disband(company)
  }

  #disband(company: Company): void {
    company.cancel()
    this.#companies.delete(company)
    if (this.#open === company) this.#open = undefined
  }

  #listen(signal: AbortSignal): void {
    this.#heard.add(signal)
    setMaxListeners(0, signal)
    const onStop = (): void => {
      for (const { calls } of this.#companies) {
        for (const call of calls) if (call.signal === signal) call.giveUp('stopped')
      }
    }
    signal.addEventListener('abort', onStop, { once: true })
  }
}
