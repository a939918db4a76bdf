import { createHash, timingSafeEqual } from 'node:crypto'
import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import type { Identity } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import { type ChannelId, CLAIMED_OWNER, type PersonId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { Sender } from '../../core/message.ts'
import { identifiesNobody, platformIdOf } from '../../core/platform-id.ts'
import type { StoredPerson } from '../../store/people-port.ts'
import type { Store } from '../../store/store.ts'

/**
 * The people the store knows: who claimed ownership, and linked ids. People of the configuration are in the routing.
 */
export interface Access {
  /** True if somebody has the owner role, by configuration or by a claim. */
  readonly ownerKnown: boolean
  /** True if somebody has the owner role by a claim. */
  readonly claimed: boolean
  personOf(channel: ChannelId, senderId: string, team?: string): Identity | undefined
  /** Everybody whom the store knows, by each of their ids. */
  readonly linked: ReadonlyMap<string, Identity>
  /** Returns whom the store knows by this name. */
  named(person: PersonId): StoredPerson | undefined
  /** The code that `/start <code>` must carry; undefined once there is an owner. */
  readonly claimCode: string | undefined
  /** Replaces a claim code that was shown. */
  replaceClaim(code: string): void
  /**
   * Makes the sender the owner if there is none and the code is right. Throws `forbidden` for a wrong code, `conflict`
   * if there is an owner. Authority goes to the platform id, never to a name.
   */
  claim(channel: ChannelId, sender: Sender, code: string): Promise<void>
  /** Reads the people again; called after every change of people, so that authority follows at once (F-H13). */
  refresh(): Promise<void>
}

export interface AccessDeps {
  readonly channels: Channels
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  /**
   * The claim code: new for each start and each time it was shown, never stored, so that a link printed earlier stops
   * working.
   */
  readonly code: string
  /** Returns true if the configuration names an owner. */
  configuredOwner(): boolean
  /** Called after every change of the people, not at the start. */
  changed(): void
}

export async function createAccess(deps: AccessDeps): Promise<Access> {
  const { store, clock, logger, channels, configuredOwner, changed } = deps
  let { code } = deps
  let identities: ReadonlyMap<string, Identity> = new Map()
  let named: ReadonlyMap<PersonId, StoredPerson> = new Map()
  let claimed = false
  const load = async (): Promise<void> => {
    const people = await store.read.people.all()
    claimed = people.some(({ role }) => role === 'owner')
    named = new Map(people.map((one) => [one.id, one]))
    identities = new Map(people.flatMap(({ id, role, ids }) => ids.map((one) => [one, { person: id, role }])))
  }
  const refresh = async (): Promise<void> => {
    await load()
    changed()
  }
  await load()
  return {
    refresh,
    get claimed() {
      return claimed
    },
    get ownerKnown() {
      return claimed || configuredOwner()
    },
    get claimCode() {
      return claimed || configuredOwner() ? undefined : code
    },
    replaceClaim(fresh) {
      code = fresh
    },
    get linked() {
      return identities
    },
    named: (person) => named.get(person),
    personOf: (channel, id, team) =>
      identities.get(platformIdOf(channels, channel, { id, ...(team === undefined ? {} : { team }) })),
    async claim(channel, sender, given) {
      const platformId = platformIdOf(channels, channel, sender)
      // The command runs again after a crash.
      if (identities.get(platformId)?.role === 'owner') return
      if (claimed || configuredOwner()) throw owned()
      if (identifiesNobody(channels, channel, sender) || !equal(given, code)) {
        throw new ParleyError('forbidden', 'That code is not right. Use the link that `parley status` shows.')
      }
      const at = clock.now()
      await store.write(async (tx) => {
        // Somebody else may have shown the code in the same moment.
        const people = await tx.people.all()
        if (people.some(({ role }) => role === 'owner') || configuredOwner()) throw owned()
        await tx.people.link(CLAIMED_OWNER, 'owner', [platformId], at)
        await tx.people.recordChange({ at, kind: 'claimed', person: CLAIMED_OWNER, platformId, by: platformId })
      })
      await refresh()
      logger.info('Somebody became the owner', { key: platformId })
    },
  }
}

function owned(): ParleyError {
  return new ParleyError('conflict', 'This bot already has an owner.')
}

function equal(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text.trim()).digest()
  return timingSafeEqual(digest(a), digest(b))
}
