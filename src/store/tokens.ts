import type { Namespace } from '../core/caller.ts'
import type { Logger } from '../core/logger.ts'
import { isScope, type StoredToken } from '../core/token.ts'
import { defined, id, integer, optional, type RowCodec, readFound, readRows, text } from './rows.ts'
import type { TokenReader, TokenWriter } from './small-port.ts'
import { placeholders, type RepositoryDeps, type Sql, type SqlRow } from './sql.ts'

const COLUMNS = 'id, hash, namespace, owner, scopes, label, created_at, expires_at, used_at, revoked_at, made_by'

const codec: RowCodec<StoredToken> = {
  table: 'tokens',
  key: ['id'],
  decode: (row) => ({
    id: text(row, 'id'),
    hash: text(row, 'hash'),
    ...reachOf(row),
    scopes: text(row, 'scopes').split(' ').filter(isScope),
    label: text(row, 'label'),
    createdAt: integer(row, 'created_at'),
    ...defined({
      expiresAt: optional(row, 'expires_at', integer),
      usedAt: optional(row, 'used_at', integer),
      revokedAt: optional(row, 'revoked_at', integer),
      madeBy: optional(row, 'made_by', text),
    }),
  }),
}

/** A row that has lost its namespace is not that of an owner. */
function reachOf(row: SqlRow): Pick<StoredToken, 'namespace'> {
  const owner = integer(row, 'owner') === 1
  if (owner !== (row.namespace === null)) throw new Error('its owner and its namespace contradict each other')
  return owner ? {} : { namespace: id(row, 'namespace') }
}

export class TokenReading implements TokenReader {
  protected readonly sql: Sql
  readonly #logger: Logger

  constructor({ sql, logger }: RepositoryDeps) {
    this.sql = sql
    this.#logger = logger
  }

  async get(tokenId: string): Promise<StoredToken | undefined> {
    return readFound(codec, await this.sql.get(`SELECT ${COLUMNS} FROM tokens WHERE id = $1`, [tokenId]))
  }

  async all(): Promise<readonly StoredToken[]> {
    const rows = await this.sql.all(`SELECT ${COLUMNS} FROM tokens ORDER BY created_at DESC, id DESC`, [])
    return readRows(codec, rows, this.#logger)
  }

  async readers(namespaces: readonly string[], at: number): Promise<readonly Namespace[]> {
    if (namespaces.length === 0) return []
    const rows = await this.sql.all(
      `SELECT DISTINCT namespace FROM tokens WHERE namespace IN (${placeholders(namespaces.length, 2)})
        AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1) AND scopes <> 'hooks'`,
      [at, ...namespaces],
    )
    return rows.map((row) => id(row, 'namespace'))
  }
}

export class TokenWriting extends TokenReading implements TokenWriter {
  async add(token: StoredToken): Promise<void> {
    const { id: tokenId, hash, namespace, scopes, label, createdAt, expiresAt, usedAt, revokedAt, madeBy } = token
    const owner = namespace === undefined ? 1 : 0
    await this.sql.run(`INSERT INTO tokens (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, [
      ...[tokenId, hash, namespace ?? null, owner, scopes.join(' '), label, createdAt],
      ...[expiresAt ?? null, usedAt ?? null, revokedAt ?? null, madeBy ?? null],
    ])
  }

  async used(tokenId: string, at: number): Promise<void> {
    await this.sql.run('UPDATE tokens SET used_at = $2 WHERE id = $1', [tokenId, at])
  }

  async remove(tokenId: string): Promise<void> {
    await this.sql.run('DELETE FROM tokens WHERE id = $1', [tokenId])
  }

  async revoke(tokenId: string, at: number): Promise<boolean> {
    const query = 'UPDATE tokens SET revoked_at = COALESCE(revoked_at, $2) WHERE id = $1'
    return (await this.sql.run(query, [tokenId, at])) > 0
  }
}
