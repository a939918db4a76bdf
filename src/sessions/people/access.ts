import { timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import type { Channels } from '../../core/channel-traits.ts'
import { type Clock, type Moment, momentOf, passedSince } from '../../core/clock.ts'
import type { Identity } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import { type ChannelId, CLAIMED_OWNER, type PersonId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { Sender } from '../../core/message.ts'
import { identifiesNobody, platformIdOf } from '../../core/platform-id.ts'
import type { StoredPerson } from '../../store/people-port.ts'
import type { Store } from '../../store/store.ts'
import { hashCode } from './link-code.ts'

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
  /** The code that makes whoever sends it with `/claim` the owner; undefined once there is an owner. */
  readonly claimCode: string | undefined
  /**
   * Returns the line for whoever writes to a bot that nobody owns, on this channel: the place where the code is read,
   * and the command that takes it.
   */
  unownedLine(channel: ChannelId): string
  /** Replaces a claim code that was shown. */
  replaceClaim(code: string): void
  /**
   * Makes the sender the owner if there is none and the code is right. Throws `forbidden` for a wrong code and for any
   * code after too many of them, `conflict` if there is an owner. Authority goes to the platform id, never to a name.
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
   * The claim code: new for each start and each time it was shown, never stored, so that one printed earlier stops
   * working.
   */
  readonly code: string
  /** Returns true if the configuration names an owner. */
  configuredOwner(): boolean
  /** Called after every change of the people, not at the start. */
  changed(): void
}

/** The wrong codes that one id may send within an hour. */
const MOST_WRONG = 5
const HOUR_MS = 3_600_000
const MOST_WATCHED = 1_000

/** Counts the wrong codes of each id, in memory. */
class WrongCodes {
  readonly #clock: Clock
  readonly #sent = new LRUCache<string, { readonly count: number; readonly since: Moment }>({ max: MOST_WATCHED })

  constructor(clock: Clock) {
    this.#clock = clock
  }

  isBarred(platformId: string): boolean {
    return (this.#of(platformId)?.count ?? 0) >= MOST_WRONG
  }

  add(platformId: string): void {
    const { count, since } = this.#of(platformId) ?? { count: 0, since: momentOf(this.#clock) }
    this.#sent.set(platformId, { count: count + 1, since })
  }

  #of(platformId: string) {
    const sent = this.#sent.get(platformId)
    return sent && passedSince(this.#clock, sent.since) < HOUR_MS ? sent : undefined
  }
}

export async function createAccess(deps: AccessDeps): Promise<Access> {
  const { store, clock, logger, channels, configuredOwner, changed } = deps
  let { code } = deps
  let identities: ReadonlyMap<string, Identity> = new Map()
  let named: ReadonlyMap<PersonId, StoredPerson> = new Map()
  let claimed = false
  const wrong = new WrongCodes(clock)
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
    unownedLine(channel) {
      const { claimMark = '/' } = channels.traits(channel)
      return `Nobody owns this bot yet. If it is yours, send me \`${claimMark}claim <code>\` here: I print the code where I was started, and \`parley status\` prints it again.`
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
      if (wrong.isBarred(platformId))
        throw new ParleyError('forbidden', 'You sent too many wrong codes; I take the next one in an hour.')
      if (identifiesNobody(channels, channel, sender) || !equal(given, code)) {
        wrong.add(platformId)
        throw new ParleyError('forbidden', 'That code is not right; `parley status` prints the one in force.')
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
  return timingSafeEqual(Buffer.from(hashCode(a)), Buffer.from(hashCode(b)))
}
