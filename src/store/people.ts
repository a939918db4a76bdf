import { ParleyError } from '../core/errors.ts'
import type { PersonId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { Role } from '../core/session.ts'
import { id, oneOf, type RowCodec, readRows, text } from './rows.ts'
import type { Ground, Sql } from './sql.ts'
import type { PeopleReader, PeopleWriter, StoredPerson } from './store.ts'

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

export class PeopleReading implements PeopleReader {
  protected readonly sql: Sql
  readonly #logger: Logger

  constructor({ sql, logger }: Ground) {
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
