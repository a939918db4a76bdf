import { setImmediate as turn } from 'node:timers/promises'
import type { Clock } from '../../../src/core/clock.ts'

interface Timer {
  at: number
  readonly callback: () => void
}

/** A clock that stands until it is moved. */
export class ManualClock implements Clock {
  #now = Date.parse('2026-11-21T12:00:00Z')
  /** By how much the time of day was set. */
  #set = 0
  readonly #timers = new Set<Timer>()
  readonly #armed = new Set<() => void>()

  now(): number {
    return this.#now
  }

  elapsed(): number {
    return this.#now - this.#set
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.#now + ms, callback }
    this.#timers.add(timer)
    for (const check of this.#armed) check()
    return () => this.#timers.delete(timer)
  }

  /** Timers that are set. */
  get pending(): number {
    return this.#timers.size
  }

  /** The time of day is set; whoever waits, waits as long as before. */
  setBy(ms: number): void {
    this.#now += ms
    this.#set += ms
    for (const timer of this.#timers) timer.at += ms
  }

  /** Resolves once somebody waits for a moment at most `ms` away. */
  async armed(ms: number): Promise<void> {
    const isArmed = () => [...this.#timers].some(({ at }) => at <= this.#now + ms)
    if (isArmed()) return
    await new Promise<void>((resolve) => {
      const check = () => {
        if (!isArmed()) return
        this.#armed.delete(check)
        resolve()
      }
      this.#armed.add(check)
    })
  }

  /** Moves on, stopping at every timer on the way so that what it starts can set its own. */
  async advance(ms: number): Promise<void> {
    const target = this.#now + ms
    for (let due = this.#next(target); due !== undefined; due = this.#next(target)) {
      this.#now = due.at
      this.#timers.delete(due)
      due.callback()
      await turn()
    }
    this.#now = target
  }

  #next(target: number): Timer | undefined {
    const due = [...this.#timers].filter(({ at }) => at <= target)
    return due.sort((a, b) => a.at - b.at)[0]
  }
}
