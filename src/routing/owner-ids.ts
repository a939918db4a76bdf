import type { ChannelId } from '../core/ids.ts'
import type { PersonPolicy } from '../core/policy.ts'

/** The platform ids of the owners on a channel; a bare id counts on each (K15). No id twice. */
export function ownerIds(people: readonly Pick<PersonPolicy, 'role' | 'ids'>[], channel: ChannelId): readonly string[] {
  const prefix = `${channel}:`
  const ids = people.filter(({ role }) => role === 'owner').flatMap((person) => person.ids)
  const here = ids.flatMap((id) => {
    if (id.toLowerCase().startsWith(prefix)) return id.slice(prefix.length)
    return id.includes(':') ? [] : id
  })
  return [...new Set(here)]
}
