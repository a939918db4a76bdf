import type { StandingRule } from '../core/approval.ts'
import type { Logger } from '../core/logger.ts'
import type { StandingRuleReader, StandingRuleWriter } from './approval-port.ts'
import { defined, id, integer, oneOf, optional, type RowCodec, readRows, text } from './rows.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

const WHO: readonly StandingRule['who'][] = ['owner', 'member']

const codec: RowCodec<StandingRule> = {
  table: 'standing_rules',
  key: ['code'],
  decode: (row) => ({
    code: text(row, 'code'),
    tool: text(row, 'tool'),
    agent: id(row, 'agent_id'),
    who: oneOf(row, 'who', WHO),
    by: text(row, 'given_by'),
    at: integer(row, 'given_at'),
    ...defined({ in: optional(row, 'place', text) }),
  }),
}

export class StandingRuleReading implements StandingRuleReader {
  protected readonly sql: Sql
  readonly #logger: Logger

  constructor({ sql, logger }: RepositoryDeps) {
    this.sql = sql
    this.#logger = logger
  }

  async all(): Promise<readonly StandingRule[]> {
    const query =
      'SELECT code, tool, agent_id, place, who, given_by, given_at FROM standing_rules ORDER BY given_at, code'
    return readRows(codec, await this.sql.all(query, []), this.#logger)
  }
}

export class StandingRuleWriting extends StandingRuleReading implements StandingRuleWriter {
  async add({ code, tool, agent, in: place, who, by, at }: StandingRule): Promise<void> {
    await this.sql.run(
      `INSERT INTO standing_rules (code, tool, agent_id, place, who, given_by, given_at)
        VALUES ($1, $2, $3, $4, $5, $6, $7)
        ON CONFLICT DO NOTHING`,
      [code, tool, agent, place ?? null, who, by, at],
    )
  }

  async remove(code: string): Promise<boolean> {
    return (await this.sql.run('DELETE FROM standing_rules WHERE code = $1', [code])) > 0
  }
}
