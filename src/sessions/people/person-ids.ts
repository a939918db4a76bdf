import type { Identity } from '../../core/dispatch.ts'
import type { PersonId } from '../../core/ids.ts'
import type { Store } from '../../store/store.ts'

/** The people as things stand, which a reload and a link change. */
export interface PeopleNow {
  /** The platform ids that the configuration gives a person. */
  configuredIds(person: PersonId): readonly string[]
  /** Returns who is behind a platform id. */
  whoIs(platformId: string): Identity
}

/**
 * Returns the platform ids of a person as participants are written: those of the configuration, and those the store linked
 * which the configuration gives to nobody else.
 */
export async function personIds(
  { configuredIds, whoIs }: PeopleNow,
  { read }: Pick<Store, 'read'>,
  person: PersonId,
): Promise<readonly string[]> {
  const stored = (await read.people.all()).find(({ id }) => id === person)?.ids ?? []
  return [...configuredIds(person), ...stored.filter((id) => whoIs(id).person === person)]
}
