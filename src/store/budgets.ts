import { type Amount, NO_AMOUNT } from '../core/budget.ts'
import type { BudgetCount, BudgetKey, BudgetReader, BudgetWriter } from './budget-port.ts'
import { integer, json, text } from './rows.ts'
import type { RepositoryDeps, Sql, SqlRow } from './sql.ts'

export class BudgetReading implements BudgetReader {
  protected readonly sql: Sql

  constructor({ sql }: Pick<RepositoryDeps, 'sql'>) {
    this.sql = sql
  }

  async counts(keys: readonly BudgetKey[]): Promise<readonly BudgetCount[]> {
    const counts: BudgetCount[] = []
    for (const { payer, period } of keys) {
      const row = await this.sql.get(
        'SELECT tokens, micros, held_tokens, held_micros FROM budget_counts WHERE payer = $1 AND period = $2',
        [payer, period],
      )
      counts.push({ payer, period, ...(row ? amountsIn(row) : { spent: NO_AMOUNT, held: NO_AMOUNT }) })
    }
    return counts
  }

  async payersIn(period: string, limit: number): Promise<readonly string[]> {
    const rows = await this.sql.all(
      'SELECT payer FROM budget_counts WHERE period = $1 ORDER BY tokens + held_tokens DESC, payer LIMIT $2',
      [period, limit],
    )
    return rows.map((row) => text(row, 'payer'))
  }
}

function amountsIn(row: SqlRow): Pick<BudgetCount, 'spent' | 'held'> {
  return {
    spent: { tokens: integer(row, 'tokens'), micros: integer(row, 'micros') },
    held: { tokens: integer(row, 'held_tokens'), micros: integer(row, 'held_micros') },
  }
}

interface Held {
  readonly keys: readonly BudgetKey[]
}

export class BudgetWriting extends BudgetReading implements BudgetWriter {
  readonly #epoch: number

  constructor(deps: Pick<RepositoryDeps, 'sql' | 'epoch'>) {
    super(deps)
    this.#epoch = deps.epoch
  }

  async hold(
    id: string,
    { tokens, micros }: Amount,
    keys: readonly (BudgetKey & { readonly endsAt: number })[],
  ): Promise<void> {
    const held: Held = { keys: keys.map(({ payer, period }) => ({ payer, period })) }
    await this.sql.run('INSERT INTO budget_holds (id, epoch, tokens, micros, held) VALUES ($1, $2, $3, $4, $5)', [
      ...[id, this.#epoch, tokens, micros],
      JSON.stringify(held),
    ])
    for (const { payer, period, endsAt } of keys) {
      await this.sql.run(
        `INSERT INTO budget_counts (payer, period, held_tokens, held_micros, ends_at) VALUES ($1, $2, $3, $4, $5)
          ON CONFLICT (payer, period) DO UPDATE SET
            held_tokens = budget_counts.held_tokens + excluded.held_tokens,
            held_micros = budget_counts.held_micros + excluded.held_micros`,
        [payer, period, tokens, micros, endsAt],
      )
    }
  }

  async settle(id: string, cost: Amount): Promise<readonly BudgetKey[]> {
    const row = await this.sql.get('DELETE FROM budget_holds WHERE id = $1 RETURNING tokens, micros, held', [id])
    if (row === undefined) return []
    const { keys } = json<Held>(row, 'held')
    for (const { payer, period } of keys) {
      await this.sql.run(
        `UPDATE budget_counts SET tokens = tokens + $3, micros = micros + $4,
            held_tokens = held_tokens - $5, held_micros = held_micros - $6
          WHERE payer = $1 AND period = $2`,
        [payer, period, cost.tokens, cost.micros, integer(row, 'tokens'), integer(row, 'micros')],
      )
    }
    return keys
  }

  async settleDead(): Promise<number> {
    const rows = await this.sql.all('SELECT id, tokens, micros FROM budget_holds WHERE epoch <> $1 ORDER BY id', [
      this.#epoch,
    ])
    for (const row of rows)
      await this.settle(text(row, 'id'), { tokens: integer(row, 'tokens'), micros: integer(row, 'micros') })
    return rows.length
  }

  async warn({ payer, period }: BudgetKey): Promise<boolean> {
    const query = 'UPDATE budget_counts SET warned = 1 WHERE payer = $1 AND period = $2 AND warned = 0'
    return (await this.sql.run(query, [payer, period])) > 0
  }

  async rename(payer: string, to: string): Promise<void> {
    const rows = await this.sql.all(
      'SELECT payer, period, tokens, micros, held_tokens, held_micros, warned, ends_at FROM budget_counts WHERE payer = $1',
      [payer],
    )
    for (const row of rows) {
      await this.sql.run(
        `INSERT INTO budget_counts (payer, period, tokens, micros, held_tokens, held_micros, warned, ends_at)
          VALUES ($1, $2, $3, $4, 0, 0, $5, $6)
          ON CONFLICT (payer, period) DO UPDATE SET
            tokens = budget_counts.tokens + excluded.tokens, micros = budget_counts.micros + excluded.micros`,
        [to, text(row, 'period'), ...numbersOf(row)],
      )
    }
    await this.removeOf(payer)
  }

  async removeOf(payer: string): Promise<number> {
    return this.sql.run('DELETE FROM budget_counts WHERE payer = $1', [payer])
  }

  async sweep(before: number, limit: number): Promise<number> {
    const rows = await this.sql.all('SELECT payer, period FROM budget_counts WHERE ends_at < $1 LIMIT $2', [
      before,
      limit,
    ])
    for (const row of rows)
      await this.sql.run('DELETE FROM budget_counts WHERE payer = $1 AND period = $2', [
        text(row, 'payer'),
        text(row, 'period'),
      ])
    return rows.length
  }
}

/** Counts what is held as spent: the calls under way still know the former name alone. */
function numbersOf(row: SqlRow): readonly number[] {
  const { spent, held } = amountsIn(row)
  return [spent.tokens + held.tokens, spent.micros + held.micros, integer(row, 'warned'), integer(row, 'ends_at')]
}
