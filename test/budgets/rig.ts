import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { budgetsOf } from '../../src/budgets/applying.ts'
import { type BudgetGate, createBudgetGate } from '../../src/budgets/budget-gate.ts'
import type { BudgetHit, BudgetSettings, BudgetState, Charge } from '../../src/core/budget.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Model, ModelRequest, Usage } from '../../src/core/model.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { Store } from '../../src/store/store.ts'
import { fixedClock } from '../fakes/fixed-clock.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { tempFolder, withDatabase } from '../store/temp-database.ts'

export const NOON = Date.parse('2026-11-26T12:00:00Z')

export function settingsOf(changes: Partial<BudgetSettings> = {}): BudgetSettings {
  return { timezone: 'UTC', warnAt: 0.8, prices: {}, ...changes }
}

export interface Rig {
  readonly gate: BudgetGate
  readonly store: Store
  readonly clock: ReturnType<typeof fixedClock>
  readonly charge: Charge
  readonly past: readonly BudgetState[]
  readonly stopped: readonly BudgetHit[]
  readonly notTaken: readonly unknown[]
  /** Returns what everything has spent today, and what is held. */
  spent(): Promise<{ readonly spent: number; readonly held: number; readonly micros: number }>
  /** Runs statements on the database, past the store. */
  execute(statements: string): void
  /** Opens the store again, as after a kill: nothing that was held is settled. */
  reopen(): Promise<void>
}

/** A gate on a database of its own, and the charge of somebody who is in nobody's budget but that of everything. */
export async function startRig(settings: BudgetSettings): Promise<Rig> {
  const path = readyDatabase(join(tempFolder(), 'parley.db'))
  const clock = fixedClock(NOON)
  const [past, stopped, notTaken]: [BudgetState[], BudgetHit[], unknown[]] = [[], [], []]
  const open = () => openSqliteStore({ path, clock, logger: silentLogger })
  let store = await open()
  const made = () =>
    createBudgetGate({
      ...{ store, clock, settings },
      past: (budget) => past.push(budget),
      stopped: (hit) => stopped.push(hit),
      notTaken: (error) => notTaken.push(error),
    })
  let gate = made()
  onTestFinished(() => store.close())
  return {
    ...{ clock, past, stopped, notTaken },
    charge: { shared: budgetsOf(settings, { kind: 'total', id: '' }), askers: [] },
    get gate() {
      return gate
    },
    get store() {
      return store
    },
    async spent() {
      const [count] = await store.read.budgets.counts([{ payer: 'total:', period: '2026-11-26' }])
      return {
        spent: count?.spent.tokens ?? 0,
        held: count?.held.tokens ?? 0,
        micros: count?.spent.micros ?? 0,
      }
    },
    execute: (statements) => withDatabase(path, (database) => void database.exec(statements)),
    async reopen() {
      await store.close()
      store = await open()
      gate = made()
    },
  }
}

export const QUESTION: ModelRequest = {
  system: 'You are calm.',
  messages: [{ role: 'user', content: [{ type: 'text', text: 'hello' }] }],
  tools: [],
  maxTokens: 90,
}

/** A model that answers with one text and this usage; `before` is awaited first. */
export function modelOf(id: string, usage: Usage, before: () => Promise<unknown> = async () => {}): Model {
  return {
    id,
    async *stream() {
      await before()
      yield { type: 'text', delta: 'hi there' }
      yield { type: 'end', stop: 'end', usage, model: id }
    },
  }
}
