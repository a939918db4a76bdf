import { ParleyError } from '../core/errors.ts'
import type { InboxId, PersonId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { Role } from '../core/session.ts'
import type { DirectChat, IdentityChange, LinkCode, PeopleReader, PeopleWriter, StoredPerson } from './people-port.ts'
import { addressIn, defined, id, integer, oneOf, optional, type RowCodec, readRow, readRows, text } from './rows.ts'
import type { RepositoryDeps, Sql } from './sql.ts'

const ROLES: readonly Role[] = ['owner', 'member', 'guest']

interface LinkRow {
  readonly id: PersonId
  readonly role: Role
  readonly platformId: string
}

const codec: RowCodec<LinkRow> = {
  table: 'people',
  key: ['id', 'platform_id'],
  decode: (row) => ({
    id: id(row, 'id'),
    role: oneOf(row, 'role', ROLES),
    platformId: text(row, 'platform_id'),
  }),
}

const codeCodec: RowCodec<LinkCode> = {
  table: 'link_codes',
  key: ['hash'],
  decode: (row) => ({
    hash: text(row, 'hash'),
    person: id(row, 'person_id'),
    maker: text(row, 'maker'),
    shownAt: addressIn(row, 'shown_at'),
    expiresAt: integer(row, 'expires_at'),
    ...defined({ usedBy: optional(row, 'used_by', id<InboxId>) }),
  }),
}

const CHANGES: readonly IdentityChange['kind'][] = ['claimed', 'linked', 'unlinked']

const changeCodec: RowCodec<IdentityChange> = {
  table: 'identity_changes',
  key: ['no'],
  decode: (row) => ({
    at: integer(row, 'at'),
    kind: oneOf(row, 'kind', CHANGES),
    person: id(row, 'person_id'),
    platformId: text(row, 'platform_id'),
    by: text(row, 'made_by'),
  }),
}

const chatCodec: RowCodec<DirectChat> = {
  table: 'direct_chats',
  key: ['platform_id', 'account'],
  decode: (row) => ({
    platformId: text(row, 'platform_id'),
    address: addressIn(row, 'address'),
    at: integer(row, 'at'),
  }),
}

export class PeopleReading implements PeopleReader {
  protected readonly sql: Sql
  readonly #logger: Logger

  constructor({ sql, logger }: RepositoryDeps) {
    this.sql = sql
    this.#logger = logger
  }

  async all(): Promise<readonly StoredPerson[]> {
    const rows = await this.sql.all(
      `SELECT people.id, role, platform_id FROM people JOIN person_ids ON person_ids.person_id = people.id
        ORDER BY people.created_at, people.id, linked_at, platform_id`,
      [],
    )
    const people = new Map<PersonId, { id: PersonId; role: Role; ids: string[] }>()
    for (const row of readRows(codec, rows, this.#logger)) {
      const person = people.get(row.id) ?? { id: row.id, role: row.role, ids: [] }
      person.ids.push(row.platformId)
      people.set(row.id, person)
    }
    return [...people.values()]
  }

  async linkCode(hash: string): Promise<LinkCode | undefined> {
    const query = 'SELECT hash, person_id, maker, shown_at, expires_at, used_by FROM link_codes WHERE hash = $1'
    const row = await this.sql.get(query, [hash])
    return row === undefined ? undefined : readRow(codeCodec, row)
  }

  async changes(limit: number): Promise<readonly IdentityChange[]> {
    const query = `SELECT no, at, kind, person_id, platform_id, made_by FROM identity_changes
      WHERE no > 0 ORDER BY no DESC LIMIT $1`
    return readRows(changeCodec, await this.sql.all(query, [limit]), this.#logger)
  }

  async claimed(): Promise<readonly string[]> {
    const rows = await this.sql.all("SELECT DISTINCT platform_id FROM identity_changes WHERE kind = 'claimed'", [])
    return rows.map((row) => text(row, 'platform_id'))
  }

  async directChats(): Promise<readonly DirectChat[]> {
    const query = 'SELECT platform_id, account, address, at FROM direct_chats ORDER BY at'
    return readRows(chatCodec, await this.sql.all(query, []), this.#logger)
  }
}

export class PeopleWriting extends PeopleReading implements PeopleWriter {
  async link(personId: PersonId, role: Role, platformIds: readonly string[], at: number): Promise<void> {
    if (platformIds.length === 0) throw new ParleyError('invalid', 'a person needs at least one platform id')
    await this.sql.run(
      `INSERT INTO people (id, role, created_at) VALUES ($1, $2, $3)
        ON CONFLICT (id) DO UPDATE SET role = excluded.role`,
      [personId, role, at],
    )
    for (const platformId of platformIds) await this.#linkId(personId, platformId, at)
  }

  async join(personId: PersonId, platformId: string, at: number): Promise<void> {
    const person: Role = 'guest'
    await this.sql.run('INSERT INTO people (id, role, created_at) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING', [
      personId,
      person,
      at,
    ])
    await this.#linkId(personId, platformId, at)
  }

  async unlink(platformId: string): Promise<PersonId | undefined> {
    await this.sql.run('DELETE FROM link_codes WHERE maker = $1', [platformId])
    const row = await this.sql.get('DELETE FROM person_ids WHERE platform_id = $1 RETURNING person_id', [platformId])
    return row === undefined ? undefined : id(row, 'person_id')
  }

  async addLinkCode({ hash, person, maker, shownAt, expiresAt }: LinkCode, at: number): Promise<void> {
    await this.sql.run('DELETE FROM link_codes WHERE maker = $1', [maker])
    await this.sql.run('DELETE FROM link_codes WHERE expires_at < $1', [at])
    await this.sql.run(
      'INSERT INTO link_codes (hash, person_id, maker, shown_at, expires_at) VALUES ($1, $2, $3, $4, $5)',
      [hash, person, maker, JSON.stringify(shownAt), expiresAt],
    )
  }

  async useLinkCode(hash: string, by: InboxId): Promise<boolean> {
    const query = 'UPDATE link_codes SET used_by = $2 WHERE hash = $1 AND used_by IS NULL'
    return (await this.sql.run(query, [hash, by])) > 0
  }

  async withdrawLinkCode(hash: string): Promise<void> {
    await this.sql.run('DELETE FROM link_codes WHERE hash = $1', [hash])
  }

  async metAt({ platformId, address, at }: DirectChat): Promise<void> {
    await this.sql.run(
      `INSERT INTO direct_chats (platform_id, account, address, at) VALUES ($1, $2, $3, $4)
        ON CONFLICT (platform_id, account) DO UPDATE SET address = excluded.address, at = excluded.at`,
      [platformId, address.account, JSON.stringify(address), at],
    )
  }

  async recordChange({ at, kind, person, platformId, by }: IdentityChange): Promise<void> {
    await this.sql.run(
      'INSERT INTO identity_changes (at, kind, person_id, platform_id, made_by) VALUES ($1, $2, $3, $4, $5)',
      [at, kind, person, platformId, by],
    )
  }

  /** An id that is there already is returned with the person who holds it. */
  async #linkId(personId: PersonId, platformId: string, at: number): Promise<void> {
    const row = await this.sql.get(
      `INSERT INTO person_ids (platform_id, person_id, linked_at) VALUES ($1, $2, $3)
        ON CONFLICT (platform_id) DO UPDATE SET platform_id = excluded.platform_id RETURNING person_id`,
      [platformId, personId, at],
    )
    if (row?.person_id !== personId) throw new ParleyError('conflict', `${platformId} belongs to somebody else`)
  }
}
