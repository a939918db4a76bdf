import { type Amount, type Limit, NO_AMOUNT } from '../core/budget.ts'
import type { Logger } from '../core/logger.ts'
import type { BudgetCount, BudgetKey, BudgetReader, BudgetWriter } from './budget-port.ts'
import { integer, isReadable, json, type RowCodec, readRows, text, unreadable } from './rows.ts'
import type { RepositoryDeps, Sql, SqlRow } from './sql.ts'

const codec: RowCodec<BudgetCount> = {
  table: 'budget_counts',
  key: ['payer', 'period'],
  decode: (row) => ({
    payer: text(row, 'payer'),
    period: text(row, 'period'),
    spent: { tokens: whole(row, 'tokens'), micros: whole(row, 'micros') },
    held: { tokens: whole(row, 'held_tokens'), micros: whole(row, 'held_micros') },
    ...missedIn(row),
  }),
}

/** A call that is not settled. */
interface Hold {
  readonly id: string
  readonly amount: Amount
  readonly keys: readonly BudgetKey[]
}

const holdCodec: RowCodec<Hold> = {
  table: 'budget_holds',
  key: ['id'],
  decode: (row) => ({
    id: text(row, 'id'),
    amount: { tokens: whole(row, 'tokens'), micros: whole(row, 'micros') },
    keys: keysIn(row),
  }),
}

/** A sum of what was spent is never less than nothing. */
function whole(row: SqlRow, column: string): number {
  const value = integer(row, column)
  if (value < 0) throw unreadable(column)
  return value
}

function keysIn(row: SqlRow): readonly BudgetKey[] {
  const { keys } = json<{ readonly keys?: unknown }>(row, 'held')
  if (!Array.isArray(keys)) throw unreadable('held')
  return keys.map((key: Partial<BudgetKey> | null) => {
    const { payer, period } = key ?? {}
    if (typeof payer !== 'string' || typeof period !== 'string') throw unreadable('held')
    return { payer, period }
  })
}

const COLUMNS = 'payer, period, tokens, micros, held_tokens, held_micros, warned, ends_at, missed_tokens, missed_micros'

export class BudgetReading implements BudgetReader {
  protected readonly sql: Sql
  protected readonly logger: Logger

  constructor({ sql, logger }: Pick<RepositoryDeps, 'sql' | 'logger'>) {
    this.sql = sql
    this.logger = logger
  }

  async counts(keys: readonly BudgetKey[]): Promise<readonly BudgetCount[]> {
    const counts: BudgetCount[] = []
    for (const key of keys) counts.push(await this.count(key))
    return counts
  }

  /** Returns the sums of one key; nothing for a row that is not there or cannot be read. */
  protected async count(key: BudgetKey): Promise<BudgetCount> {
    const row = await this.row(key)
    const [count] = readRows(codec, row === undefined ? [] : [row], this.logger)
    return count ?? { ...key, spent: NO_AMOUNT, held: NO_AMOUNT }
  }

  protected row({ payer, period }: BudgetKey): Promise<SqlRow | undefined> {
    return this.sql.get(`SELECT ${COLUMNS} FROM budget_counts WHERE payer = $1 AND period = $2`, [payer, period])
  }

  async payersIn(period: string, limit: number): Promise<readonly string[]> {
    const query = `SELECT ${COLUMNS} FROM budget_counts WHERE period = $1
      ORDER BY missed_tokens IS NULL AND missed_micros IS NULL, tokens + held_tokens DESC, payer LIMIT $2`
    return readRows(codec, await this.sql.all(query, [period, limit]), this.logger).map(({ payer }) => payer)
  }

  async payersNamed(start: string): Promise<readonly string[]> {
    const query = 'SELECT DISTINCT payer FROM budget_counts WHERE payer >= $1 AND payer < $2'
    const rows = await this.sql.all(query, [start, `${start}\u{10ffff}`])
    return rows.map((row) => text(row, 'payer'))
  }
}

export class BudgetWriting extends BudgetReading implements BudgetWriter {
  readonly #epoch: number

  constructor(deps: Pick<RepositoryDeps, 'sql' | 'epoch' | 'logger'>) {
    super(deps)
    this.#epoch = deps.epoch
  }

  /** Mends a row that cannot be read: otherwise it would fail each call of its payer until its period ends. */
  protected override async count(key: BudgetKey): Promise<BudgetCount> {
    const row = await this.row(key)
    if (row !== undefined && !isReadable(codec, row)) await this.#mend(key, row)
    return super.count(key)
  }

  async hold(
    id: string,
    { tokens, micros }: Amount,
    keys: readonly (BudgetKey & { readonly endsAt: number })[],
  ): Promise<void> {
    await this.sql.run('INSERT INTO budget_holds (id, epoch, tokens, micros, held) VALUES ($1, $2, $3, $4, $5)', [
      ...[id, this.#epoch, tokens, micros],
      heldText(keys),
    ])
    for (const { payer, period, endsAt } of keys) {
      await this.sql.run(
        `INSERT INTO budget_counts (payer, period, held_tokens, held_micros, ends_at) VALUES ($1, $2, $3, $4, $5)
          ON CONFLICT (payer, period) DO UPDATE SET
            held_tokens = budget_counts.held_tokens + excluded.held_tokens,
            held_micros = budget_counts.held_micros + excluded.held_micros,
            ends_at = excluded.ends_at`,
        [payer, period, tokens, micros, endsAt],
      )
    }
  }

  async settle(id: string, cost: Amount): Promise<readonly BudgetKey[]> {
    const row = await this.sql.get('DELETE FROM budget_holds WHERE id = $1 RETURNING id, tokens, micros, held', [id])
    const [hold] = readRows(holdCodec, row === undefined ? [] : [row], this.logger)
    if (hold === undefined) return []
    for (const { payer, period } of hold.keys) {
      await this.sql.run(
        `UPDATE budget_counts SET tokens = tokens + $3, micros = micros + $4,
            held_tokens = held_tokens - $5, held_micros = held_micros - $6
          WHERE payer = $1 AND period = $2`,
        [payer, period, cost.tokens, cost.micros, hold.amount.tokens, hold.amount.micros],
      )
    }
    return hold.keys
  }

  async settleDead(): Promise<number> {
    const own = await this.#holds('WHERE epoch = $1', [this.#epoch])
    const rows = await this.sql.all(
      `SELECT ${COLUMNS} FROM budget_counts WHERE held_tokens <> 0 OR held_micros <> 0`,
      [],
    )
    for (const row of rows) await this.#countDead(row, own)
    return this.sql.run('DELETE FROM budget_holds WHERE epoch <> $1', [this.#epoch])
  }

  /** Counts as spent whatever is held and not by this process, so that it needs no row of a hold that can be read. */
  async #countDead(row: SqlRow, holds: readonly Hold[]): Promise<void> {
    const { payer, period } = row
    if (typeof payer !== 'string' || typeof period !== 'string') return
    const { spent, held } = salvaged(row)
    const own = heldFor({ payer, period }, holds)
    const dead = { tokens: Math.max(0, held.tokens - own.tokens), micros: Math.max(0, held.micros - own.micros) }
    await this.#rewrite(row, { payer, period, spent: added(spent, dead), held: own })
  }

  async isWarned({ payer, period }: BudgetKey): Promise<boolean> {
    const query = 'SELECT payer FROM budget_counts WHERE payer = $1 AND period = $2 AND warned = 1'
    return (await this.sql.get(query, [payer, period])) !== undefined
  }

  async warn({ payer, period }: BudgetKey): Promise<boolean> {
    const query = 'UPDATE budget_counts SET warned = 1 WHERE payer = $1 AND period = $2 AND warned = 0'
    return (await this.sql.run(query, [payer, period])) > 0
  }

  async miss({ payer, period, endsAt }: BudgetKey & { readonly endsAt: number }, limit: Limit): Promise<void> {
    await this.sql.run(
      `INSERT INTO budget_counts (payer, period, ends_at, missed_tokens, missed_micros) VALUES ($1, $2, $3, $4, $5)
        ON CONFLICT (payer, period) DO UPDATE SET
          missed_tokens = excluded.missed_tokens, missed_micros = excluded.missed_micros`,
      [payer, period, endsAt, ...columnsOf(limit)],
    )
  }

  async rename(payer: string, to: string): Promise<void> {
    for (const row of await this.sql.all(`SELECT ${COLUMNS} FROM budget_counts WHERE payer = $1`, [payer])) {
      const { period } = row
      if (typeof period !== 'string') continue
      const { spent, held, missed } = await this.count({ payer, period })
      const there = await this.count({ payer: to, period })
      // A mark is one limit: the present name's counts more, as it does in the file.
      const mark = columnsOf(there.missed ?? missed)
      await this.sql.run(
        `INSERT INTO budget_counts (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
          ON CONFLICT (payer, period) DO UPDATE SET
            tokens = budget_counts.tokens + excluded.tokens, micros = budget_counts.micros + excluded.micros,
            held_tokens = budget_counts.held_tokens + excluded.held_tokens,
            held_micros = budget_counts.held_micros + excluded.held_micros,
            warned = CASE WHEN excluded.warned = 1 THEN 1 ELSE budget_counts.warned END,
            missed_tokens = excluded.missed_tokens, missed_micros = excluded.missed_micros`,
        [to, period, spent.tokens, spent.micros, held.tokens, held.micros, ...marksOf(row), ...mark],
      )
    }
    await this.#renameHolds(payer, to)
    await this.sql.run('DELETE FROM budget_counts WHERE payer = $1', [payer])
  }

  async sweep(before: number, limit: number): Promise<number> {
    return this.sql.run(
      `DELETE FROM budget_counts WHERE (payer, period) IN
        (SELECT payer, period FROM budget_counts WHERE ends_at < $1 LIMIT $2)`,
      [before, limit],
    )
  }

  async #mend(key: BudgetKey, row: SqlRow): Promise<void> {
    this.logger.warn('a damaged sum of a budget continues with what can be read of it', { ...key })
    const held = heldFor(key, await this.#holds('', []))
    await this.#rewrite(row, { ...key, spent: salvaged(row).spent, held })
  }

  async #rewrite(row: SqlRow, { payer, period, spent, held }: BudgetCount): Promise<void> {
    await this.sql.run(
      `UPDATE budget_counts SET tokens = $3, micros = $4, held_tokens = $5, held_micros = $6, warned = $7, ends_at = $8
        WHERE payer = $1 AND period = $2`,
      [payer, period, spent.tokens, spent.micros, held.tokens, held.micros, ...marksOf(row)],
    )
  }

  async #holds(where: string, params: readonly number[]): Promise<readonly Hold[]> {
    const rows = await this.sql.all(`SELECT id, tokens, micros, held FROM budget_holds ${where}`, params)
    return readRows(holdCodec, rows, this.logger)
  }

  async #renameHolds(payer: string, to: string): Promise<void> {
    for (const { id, keys } of await this.#holds('', [])) {
      if (!keys.some((key) => key.payer === payer)) continue
      const after = keys.map((key) => (key.payer === payer ? { ...key, payer: to } : key))
      await this.sql.run('UPDATE budget_holds SET held = $2 WHERE id = $1', [id, heldText(after)])
    }
  }
}

function heldText(keys: readonly BudgetKey[]): string {
  return JSON.stringify({ keys: keys.map(({ payer, period }) => ({ payer, period })) })
}

function heldFor({ payer, period }: BudgetKey, holds: readonly Hold[]): Amount {
  const own = holds.filter(({ keys }) => keys.some((key) => key.payer === payer && key.period === period))
  return own.reduce((sum, { amount }) => added(sum, amount), NO_AMOUNT)
}

function added(one: Amount, other: Amount): Amount {
  return { tokens: one.tokens + other.tokens, micros: one.micros + other.micros }
}

/** Returns the sums of a row, nothing for one that is none. */
function salvaged(row: SqlRow): Pick<BudgetCount, 'spent' | 'held'> {
  const read = (column: string): number => {
    const value = row[column]
    return Number.isSafeInteger(value) ? Math.max(0, value as number) : 0
  }
  return {
    spent: { tokens: read('tokens'), micros: read('micros') },
    held: { tokens: read('held_tokens'), micros: read('held_micros') },
  }
}

/** An end that cannot be read is set by the next call that is held; until then nothing deletes the row. */
function marksOf({ warned, ends_at: end }: SqlRow): readonly number[] {
  return [warned === 1 ? 1 : 0, Number.isSafeInteger(end) ? (end as number) : Number.MAX_SAFE_INTEGER]
}

/** A mark that cannot be read is none. */
function missedIn({ missed_tokens: tokens, missed_micros: micros }: SqlRow): { readonly missed?: Limit } {
  const missed = { ...(isWhole(tokens) && { tokens }), ...(isWhole(micros) && { micros }) }
  return Object.keys(missed).length === 0 ? {} : { missed }
}

function isWhole(value: SqlRow[string] | undefined): value is number {
  return Number.isSafeInteger(value)
}

function columnsOf({ tokens, micros }: Limit = {}): readonly (number | null)[] {
  return [tokens ?? null, micros ?? null]
}
