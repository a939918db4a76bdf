import type { Gate, GateKeeper } from './deferred.ts'
import { createGate } from './deferred.ts'

/** `before`: the server has read the request and done nothing yet. `after`: the effect is done, no byte is answered. */
export type FaultMoment = 'before' | 'after'

/** A fault that acts at a moment, and may end the call there. */
export type Interruption =
  | { kind: 'drop'; when: FaultMoment }
  | { kind: 'reset'; when: FaultMoment }
  | { kind: 'hold'; when: FaultMoment }
  | { kind: 'delay'; when: FaultMoment; ms: number }
  | { kind: 'answer'; when: FaultMoment; status: number; body: string | object; headers?: Record<string, string> }

/** The action of a fault. One without `when` changes the bytes of the true answer, so the effect always happens. */
export type FaultAction =
  | Interruption
  | { kind: 'trickle'; everyMs: number; bytes?: number }
  | { kind: 'truncate'; bytes: number }

export interface FaultRule<Call, Action extends FaultAction = FaultAction> {
  /** The API method the fault is for (`sendMessage`, `messages`); every method if absent. */
  method?: string
  where?: (call: Call) => boolean
  /** The number of calls it hits. Default 1; `Number.POSITIVE_INFINITY` until removed. */
  times?: number
  /** The time after which it stops by itself, by the server's clock. */
  forMs?: number
  action: Action
}

/**
 * A fault that was set. `reached` resolves at its first hit (for a hold: when the first call is at the gate); `release`
 * lets held calls continue, or cuts them with `drop`.
 */
export interface Fault extends Gate {
  readonly hits: number
  remove(): void
}

/** A fault that the server plays on one call. */
export interface PlayedFault {
  readonly action: FaultAction
  readonly gate: GateKeeper
}

interface SetFault<Call> extends PlayedFault {
  readonly rule: FaultRule<Call>
  readonly until: number
  hits: number
}

/** The faults of one server, tried in the order they were set; one call meets at most one. */
export class FaultBook<Call extends { readonly method: string }, Action extends FaultAction = FaultAction> {
  readonly #now: () => number
  #active: SetFault<Call>[] = []
  readonly #gates = new Set<GateKeeper>()

  constructor(now: () => number) {
    this.#now = now
  }

  add(rule: FaultRule<Call, Action>): Fault {
    const gate = createGate()
    const until = rule.forMs === undefined ? Number.POSITIVE_INFINITY : this.#now() + rule.forMs
    const fault: SetFault<Call> = { rule, action: rule.action, gate, until, hits: 0 }
    this.#active.push(fault)
    this.#gates.add(gate)
    return {
      get hits() {
        return fault.hits
      },
      reached: gate.reached,
      release: gate.release,
      remove: () => this.#drop(fault),
    }
  }

  /** Returns the fault this call meets, used up by one. */
  take(call: Call): PlayedFault | undefined {
    if (this.#active.length === 0) return undefined
    const fault = this.#active.find((candidate) => this.#hits(candidate, call))
    if (fault === undefined) return undefined
    fault.hits++
    if (fault.hits >= (fault.rule.times ?? 1)) this.#drop(fault)
    if (fault.action.kind !== 'hold') fault.gate.touch()
    return fault
  }

  /** Opens every gate with `closed`: calls held there end without an effect or an answer. */
  close(): void {
    this.#active = []
    for (const gate of this.#gates) gate.close()
  }

  #hits(fault: SetFault<Call>, call: Call): boolean {
    if (this.#now() >= fault.until) return false
    if (fault.rule.method !== undefined && fault.rule.method !== call.method) return false
    return fault.rule.where === undefined || fault.rule.where(call)
  }

  #drop(fault: SetFault<Call>): void {
    this.#active = this.#active.filter((other) => other !== fault)
  }
}
