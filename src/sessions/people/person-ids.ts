import type { Channels } from '../../core/channel-traits.ts'
import type { Identity } from '../../core/dispatch.ts'
import type { PersonId } from '../../core/ids.ts'
import type { Store, StoreReader } from '../../store/store.ts'

/** The people as they are now; a reload and a link change them. */
export interface PeopleNow {
  readonly channels: Pick<Channels, 'traits'>
  /** Returns the platform ids that the configuration gives a person. */
  configuredIds(person: PersonId): readonly string[]
  /** Returns the platform ids that were linked to a person. */
  linkedIds(person: PersonId): readonly string[]
  /** Returns the present identity of a platform id. */
  whoIs(platformId: string): Identity
}

/**
 * Returns the platform ids of a person in the form of participants: those of the configuration, and those that
 * were linked which the configuration gives to nobody else. A configured id without its team means that id in each team
 * where it took part.
 */
export async function personIds(
  { configuredIds, linkedIds, whoIs, channels }: PeopleNow,
  { read }: Pick<Store, 'read'>,
  person: PersonId,
): Promise<readonly string[]> {
  const configured = configuredIds(person)
  const seen = await Promise.all(configured.map((id) => withTeams(channels, id, read)))
  return [...configured, ...[...linkedIds(person), ...seen.flat()].filter((id) => whoIs(id).person === person)]
}

async function withTeams(
  { traits }: PeopleNow['channels'],
  platformId: string,
  { participants }: Pick<StoreReader, 'participants'>,
) {
  const [, channel = '', id] = /^([^:]+):([^/]+)$/.exec(platformId) ?? []
  return id === undefined || !traits(channel).ids.ofTeams ? NONE : participants.inAnyTeam(channel, id)
}

const NONE: readonly string[] = []
