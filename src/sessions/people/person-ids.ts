import type { Channels } from '../../core/channel-traits.ts'
import type { Identity } from '../../core/dispatch.ts'
import type { PersonId } from '../../core/ids.ts'
import type { ParticipantReader } from '../../store/small-port.ts'

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

/** The participants of sessions, or their authors, who may have left. */
type NamesInTeams = Pick<ParticipantReader, 'inAnyTeam'>

/**
 * Returns the platform ids of a person in the form of participants: those of the configuration, and those that
 * were linked which the configuration gives to nobody else. A configured id without its team means that id in each team
 * where it is among the names that are given here.
 */
export async function personIds(
  { configuredIds, linkedIds, whoIs, channels }: PeopleNow,
  names: NamesInTeams,
  person: PersonId,
): Promise<readonly string[]> {
  const configured = configuredIds(person)
  const seen = await Promise.all(configured.map((id) => withTeams(channels, id, names)))
  return [...configured, ...[...linkedIds(person), ...seen.flat()].filter((id) => whoIs(id).person === person)]
}

async function withTeams(
  { traits }: PeopleNow['channels'],
  platformId: string,
  names: NamesInTeams,
): Promise<readonly string[]> {
  const [, channel = '', id] = /^([^:]+):([^/]+)$/.exec(platformId) ?? []
  return id === undefined || !traits(channel).ids.ofTeams ? NONE : names.inAnyTeam(channel, id)
}

const NONE: readonly string[] = []
