import { CHANNEL_IDS, type PersonId } from '../../core/ids.ts'
import type { PersonPolicy } from '../../core/policy.ts'
import type { Store } from '../../store/store.ts'

/**
 * The platform ids of a person as things are now, as participants are written: those of the configuration and those the
 * store linked. A bare id counts on every channel, as it does when a sender is looked up (K15).
 */
export async function personIds(
  people: readonly PersonPolicy[],
  { read }: Pick<Store, 'read'>,
  person: PersonId,
): Promise<readonly string[]> {
  const configured = people.find(({ id }) => id === person)?.ids ?? []
  const stored = (await read.people.all()).find(({ id }) => id === person)?.ids ?? []
  return [...configured, ...stored].flatMap((text) => {
    const id = text.trim().toLowerCase()
    return CHANNEL_IDS.some((channel) => id.startsWith(`${channel}:`))
      ? [id]
      : CHANNEL_IDS.map((channel) => `${channel}:${id}`)
  })
}
