import type { Admission } from '../../core/admission.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Identity } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import { CLAIMED_OWNER, type PersonId, toPersonId } from '../../core/ids.ts'
import type { LetInReport, PeopleOperator, PersonReport } from '../../core/operate-people.ts'
import { isPlaceholder } from '../../core/placeholder-id.ts'
import { foldPlatformId, isShared, isWellFormedId, nobodysId } from '../../core/platform-id.ts'
import type { PersonPolicy } from '../../core/policy.ts'
import type { StoredPerson } from '../../store/people-port.ts'
import type { Store } from '../../store/store.ts'
import type { Links } from './links.ts'

export interface OperatePeopleDeps {
  readonly store: Store
  readonly channels: Channels
  /** Returns the people of the configuration. */
  people(): readonly PersonPolicy[]
  /** Absent without a daemon: then nothing can be changed. */
  readonly daemon?: { readonly links: Pick<Links, 'link' | 'unlink'>; whoIs(platformId: string): Identity }
}

const SHOWN_CHANGES = 50
const OPERATOR = 'operator'

export function operatePeople({ store: { read }, channels, people, daemon }: OperatePeopleDeps): PeopleOperator {
  const running = () => {
    if (!daemon) throw new ParleyError('unavailable', 'Start the daemon first: it keeps the links.')
    return daemon
  }
  return {
    async list() {
      const changes = await read.people.changes(SHOWN_CHANGES)
      const stored = { people: await read.people.all(), claimed: await read.people.claimed() }
      return {
        people: reportPeople(people(), stored, daemon?.whoIs),
        letIn: (await read.admissions.all()).flatMap(letInOf),
        changes: changes.map(({ at, kind, person, platformId, by }) => ({ at, kind, person, id: platformId, by })),
      }
    },
    async link(name, given) {
      const { links, whoIs } = running()
      const person = toPersonId(name)
      const id = readPlatformId(channels, given)
      // A person of the file who was joined to an id is in both.
      const known = new Set([...people(), ...(await read.people.all())].map((one) => one.id))
      if (!known.has(person)) {
        const names = [...known].join(', ') || 'none yet'
        throw new ParleyError('not_found', `There is no person ${name}; there are: ${names}.`)
      }
      const holder = whoIs(id).person
      // A link beside the configuration's own would outlive the line there.
      if (holder === person) throw new ParleyError('conflict', `${id} is ${person} already.`)
      if (holder !== undefined) {
        throw new ParleyError(
          'conflict',
          `${id} is ${holder} already; unlink it first, or change people.${holder}.ids.`,
        )
      }
      await links.link(id, person, OPERATOR)
      return { person, id }
    },
    async unlink(given) {
      const { links } = running()
      const id = foldPlatformId(channels, given)
      return { person: await links.unlink(id, OPERATOR), id }
    },
  }
}

/**
 * Reads `<channel>:<id>`, or `<channel>:<team>/<id>` where ids have a team. Throws `invalid` for any other text, for
 * ids that stand for many people, and for those of an example: whoever holds such an id on the platform would be that
 * person.
 */
function readPlatformId(channels: Channels, text: string): string {
  const whole = foldPlatformId(channels, text)
  const channel = channels.ids.find((id) => whole.startsWith(`${id}:`))
  const id = channel && whole.slice(channel.length + 1)
  const traits = channels.traits(channel ?? '')
  const { ids, name } = traits
  const right = ids.ofTeams ? /^[^/\s]+\/[^/\s]+$/ : /^[^/\s]+$/
  if (!channel || !id || !right.test(id)) {
    const form = ids.ofTeams ? `on ${name} ${channel}:<team>/<user>` : 'with <team>/ before the id where ids have one'
    throw new ParleyError('invalid', `"${text}" is no id; write <channel>:<id>, ${form}`)
  }
  if (!isWellFormedId(ids, id)) throw new ParleyError('invalid', `${nobodysId([traits], whole)}.`)
  if (isShared(ids, id)) throw new ParleyError('invalid', `${whole} is shared by many people and identifies nobody.`)
  if (id.split('/').some((part) => isPlaceholder(part, channels.examples)))
    throw new ParleyError('invalid', `${whole} is an id from an example, and not yours; link the id that /whoami says`)
  return whole
}

function reportPeople(
  configured: readonly PersonPolicy[],
  { people: stored, claimed }: { readonly people: readonly StoredPerson[]; readonly claimed: readonly string[] },
  whoIs: ((platformId: string) => Identity) | undefined,
): PersonReport[] {
  const names = new Set<PersonId>([...configured, ...stored].map(({ id }) => id))
  return [...names].map((name) => {
    const policy = configured.find(({ id }) => id === name)
    const row = stored.find(({ id }) => id === name)
    const linked = (row?.ids ?? []).map((id) => {
      const actual = whoIs?.(id).person
      const from = name === CLAIMED_OWNER && claimed.includes(id) ? ('claim' as const) : ('link' as const)
      return { id, from, ...(actual === undefined || actual === name ? {} : { overruledBy: actual }) }
    })
    const written = (policy?.ids ?? []).map((id) => ({ id, from: 'configuration' as const }))
    return { name, role: policy?.role ?? row?.role ?? 'guest', ids: [...written, ...linked] }
  })
}

function letInOf({ kind, key, name, state, decidedAt = 0, decidedBy = 'an owner' }: Admission): LetInReport[] {
  return state === 'admitted' ? [{ kind, key, name, at: decidedAt, by: decidedBy }] : []
}
