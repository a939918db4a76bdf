import type { Logger } from '../core/logger.ts'
import type { StoredToken } from '../core/token.ts'
import { defined, id, integer, optional, type RowCodec, readRow, readRows, text } from './rows.ts'
import type { TokenReader, TokenWriter } from './small-port.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

const COLUMNS = 'id, hash, namespace, label, created_at, revoked_at'

const codec: RowCodec<StoredToken> = {
  table: 'tokens',
  key: ['id'],
  decode: (row) => ({
    id: text(row, 'id'),
    hash: text(row, 'hash'),
    namespace: id(row, 'namespace'),
    label: text(row, 'label'),
    createdAt: integer(row, 'created_at'),
    ...defined({ revokedAt: optional(row, 'revoked_at', integer) }),
  }),
}

export class TokenReading implements TokenReader {
  protected readonly sql: Sql
  readonly #logger: Logger

  constructor({ sql, logger }: RepositoryDeps) {
    this.sql = sql
    this.#logger = logger
  }

  async get(tokenId: string): Promise<StoredToken | undefined> {
    const row = await this.sql.get(`SELECT ${COLUMNS} FROM tokens WHERE id = $1`, [tokenId])
    return row === undefined ? undefined : readRow(codec, row)
  }

  async all(): Promise<readonly StoredToken[]> {
    const rows = await this.sql.all(`SELECT ${COLUMNS} FROM tokens ORDER BY created_at DESC, id DESC`, [])
    return readRows(codec, rows, this.#logger)
  }
}

export class TokenWriting extends TokenReading implements TokenWriter {
  async add({ id: tokenId, hash, namespace, label, createdAt, revokedAt }: StoredToken): Promise<void> {
    await this.sql.run(
      'INSERT INTO tokens (id, hash, namespace, label, created_at, revoked_at) VALUES ($1, $2, $3, $4, $5, $6)',
      [tokenId, hash, namespace, label, createdAt, revokedAt ?? null],
    )
  }

  async revoke(tokenId: string, at: number): Promise<boolean> {
    const query = 'UPDATE tokens SET revoked_at = COALESCE(revoked_at, $2) WHERE id = $1'
    return (await this.sql.run(query, [tokenId, at])) > 0
  }
}
