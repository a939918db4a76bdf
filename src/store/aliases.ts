import type { ScopeKey } from '../core/ids.ts'
import { id, text } from './rows.ts'
import type { AliasReader, AliasWriter } from './small-port.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

export class AliasReading implements AliasReader {
  protected readonly sql: Sql

  constructor({ sql }: RepositoryDeps) {
    this.sql = sql
  }

  async of(scopeKey: ScopeKey): Promise<readonly string[]> {
    const rows = await this.sql.all('SELECT alias FROM aliases WHERE scope_key = $1 ORDER BY alias', [scopeKey])
    return rows.map((row) => text(row, 'alias'))
  }

  async carriers(alias: string): Promise<readonly ScopeKey[]> {
    const rows = await this.sql.all('SELECT scope_key FROM aliases WHERE alias = $1 ORDER BY scope_key', [alias])
    return rows.map((row) => id(row, 'scope_key'))
  }
}

export class AliasWriting extends AliasReading implements AliasWriter {
  async add(scopeKey: ScopeKey, aliases: readonly string[]): Promise<void> {
    const query = 'INSERT INTO aliases (alias, scope_key) VALUES ($1, $2) ON CONFLICT DO NOTHING'
    for (const alias of aliases) await this.sql.run(query, [alias, scopeKey])
  }

  async drop(scopeKey: ScopeKey): Promise<void> {
    await this.sql.run('DELETE FROM aliases WHERE scope_key = $1', [scopeKey])
  }
}
