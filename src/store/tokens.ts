import type { Namespace } from '../core/caller.ts'
import type { Logger } from '../core/logger.ts'
import { isScope, type Scope, type StoredToken } from '../core/token.ts'
import { defined, id, integer, optional, type RowCodec, readFound, readRows, text } from './rows.ts'
import type { TokenReader, TokenReaders, TokenWriter } from './small-port.ts'
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

/** A token, what it has made, and what that has made. */
const MADE_BY = `WITH RECURSIVE made (id) AS (SELECT id FROM tokens WHERE id = $1
  UNION SELECT tokens.id FROM tokens JOIN made ON tokens.made_by = made.id) SELECT id FROM made`
/** The scopes by which somebody is spoken for. */
const SPEAKS: ReadonlySet<string> = new Set<Scope>(['sessions:write', 'chat', 'nodes'])

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

  async readers(namespaces: readonly string[], at: number): Promise<readonly TokenReaders[]> {
    if (namespaces.length === 0) return []
    const rows = await this.sql.all(
      `SELECT DISTINCT namespace, scopes FROM tokens WHERE namespace IN (${placeholders(namespaces.length, 2)})
        AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $1) AND scopes NOT IN ('hooks', 'notify', 'hooks notify')`,
      [at, ...namespaces],
    )
    const found = new Map<string, TokenReaders>()
    for (const row of rows) {
      const namespace = id<Namespace>(row, 'namespace')
      const speaks = text(row, 'scopes')
        .split(' ')
        .some((scope) => SPEAKS.has(scope))
      found.set(`${namespace} ${speaks}`, { namespace, speaks })
    }
    return [...found.values()]
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

  async revoke(tokenId: string, at: number): Promise<readonly string[]> {
    const ids = (await this.sql.all(MADE_BY, [tokenId])).map((row) => text(row, 'id'))
    for (const one of ids)
      await this.sql.run('UPDATE tokens SET revoked_at = COALESCE(revoked_at, $2) WHERE id = $1', [one, at])
    return ids
  }
}
