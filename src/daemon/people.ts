import { randomBytes } from 'node:crypto'
import type { Config } from '../config/config.ts'
import type { Address } from '../core/address.ts'
import { namedApprovers } from '../core/approval.ts'
import type { CloseCards } from '../core/card.ts'
import type { Clock } from '../core/clock.ts'
import type { Decision, Dispatch } from '../core/dispatch.ts'
import type { ChannelId, IdSource } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { OperatorService } from '../core/operator.ts'
import type { AccountAt, OwnerNotice } from '../core/owner-notice.ts'
import { zoneOfPerson } from '../core/policy.ts'
import { withLocalTimes } from '../core/wall-time.ts'
import { ruleOfChat } from '../routing/group-rules.ts'
import { linkConflicts } from '../routing/identity-links.ts'
import { ownerIds } from '../routing/owner-ids.ts'
import type { Access } from '../sessions/people/access.ts'
import { type Admissions, createAdmissions } from '../sessions/people/admissions.ts'
import { foldCode } from '../sessions/people/link-code.ts'
import { createLinks, type Links } from '../sessions/people/links.ts'
import { operateAdmissions } from '../sessions/people/operate-admissions.ts'
import { operatePeople } from '../sessions/people/operate-people.ts'
import { createOwnerCards } from '../sessions/people/owner-cards.ts'
import { createOwnerChats, type OwnerChats } from '../sessions/people/owner-chats.ts'
import type { PostNotice } from '../sessions/people/post-notice.ts'
import { createShownCodes, type ValidCode } from '../sessions/people/shown-codes.ts'
import { createTokens, type TokenService } from '../sessions/people/tokens.ts'
import type { Store } from '../store/store.ts'
import type { DaemonEvents } from './daemon-events.ts'
import type { Entrance } from './entrance.ts'
import { freshCode, type Lookups } from './lookups.ts'
import type { CurrentRouting } from './reload.ts'

export interface PeopleDeps {
  readonly config: Pick<Config, 'toolPolicy'>
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly logger: Logger
  readonly policies: CurrentRouting
  readonly lookups: Lookups
  readonly events: DaemonEvents
  readonly entrance: Pick<Entrance, 'accept'>
  readonly say: PostNotice
  readonly closeCards: CloseCards
  /** Returns true if messages can leave by this account. */
  reaches(address: Address): boolean
}

/** The way people become known, linked and let in, and owners are notified. */
export interface People {
  readonly links: Links
  readonly admissions: Admissions
  /** Returns a dispatch as it is decided (`ShownCodes.asMeant`). */
  asMeant(this: void, dispatch: Dispatch): Dispatch
  /** Called with every decision. */
  decided(dispatch: Dispatch, decision: Decision): void
  /** Called with the raw payload of a platform from a place with others. */
  overheard(this: void, payload: unknown): void
  /** The operator's questions about people. */
  readonly operator: Pick<OperatorService, 'people' | 'admissions' | 'tokens'>
  /** Called when another policy is in force. Returns the links of the store that it overrules, a sentence each. */
  policyChanged(): Promise<readonly string[]>
  /**
   * Notifies each owner in private, at most once a day for each subject. Resolves to true once that is on disk, and to
   * false where the store did not take it, which the log says.
   */
  notifyOwners(this: void, where: AccountAt, notice: OwnerNotice): Promise<boolean>
  readonly ownerChats: OwnerChats
  readonly tokens: TokenService
  /** Returns the present platform ids of the owners on a channel. */
  owners(channel: ChannelId): Promise<readonly string[]>
}

export async function createPeople(parts: PeopleDeps): Promise<People> {
  const { store, clock, logger, policies, lookups, events, entrance } = parts
  const { access, facts, admissionFacts, whoIs } = lookups
  const { channels } = policies.routing()
  const links = createLinks({ ...parts, randomBytes, whoIs, refresh: access.refresh })
  const shownCodes = createShownCodes({ logger, validCodes: () => [...claimCode(access), ...links.validCodes()] })
  const stored = await store.read.people.directChats()
  const owners = createOwnerChats({ channels, stored, whoIs, reaches: parts.reaches })
  const cards = await createOwnerCards({ ...parts, owners })
  const admissions = createAdmissions({
    ...{ ...parts, facts: admissionFacts, whoIs, cards, accept: entrance.accept },
    approvers: namedApprovers(parts.config.toolPolicy ?? []),
    ruledBy: (address) => ruleOfChat(policies.routing().groups, address, policies.routing().channels),
  })
  const notifyOwners = ownerTeller(parts, owners)
  events.peopleChanged.on(() => void admissions.peopleChanged())
  events.ownerNotice.on(({ where, notice }) => void notifyOwners(where, notice))
  const doubts = async (): Promise<readonly string[]> =>
    linkConflicts(policies.routing().people, await store.read.people.all())
  for (const warning of await doubts()) logger.warn('A link is doubtful', { warning })
  const tokens = createTokens({ store, clock, randomBytes })
  return {
    ...{ links, admissions, notifyOwners, ownerChats: owners, tokens },
    async policyChanged() {
      events.peopleChanged.emit()
      await facts.watch.policyChanged()
      return doubts()
    },
    asMeant: shownCodes.asMeant,
    decided(dispatch, decision) {
      shownCodes.decided(dispatch)
      facts.watch.decided(dispatch, decision)
      admissions.decided(dispatch, decision)
    },
    overheard: shownCodes.overheard,
    owners: async (channel) => ownerIds([...policies.policy.people, ...(await store.read.people.all())], channel),
    operator: {
      people: operatePeople({ store, channels, people: () => policies.policy.people, daemon: { links, whoIs } }),
      admissions: operateAdmissions({ store, admissions }),
      tokens: tokens.operator,
    },
  }
}

function claimCode(access: Access): readonly ValidCode[] {
  const code = access.claimCode
  if (code === undefined) return []
  return [{ folded: foldCode(code), commands: ['claim', 'start'], burn: () => access.replaceClaim(freshCode()) }]
}

const DAY_MS = 86_400_000

function ownerTeller({ ids, clock, logger, say, policies }: PeopleDeps, owners: OwnerChats): People['notifyOwners'] {
  return async (where, { about, text, saidIn }) => {
    let stored = true
    const knows = saidIn && owners.personOf(saidIn)
    for (const { person, address, reader } of owners.beside(where)) {
      if (person === knows) continue
      const local = withLocalTimes(text, zoneOfPerson(policies.policy, person))
      const to = { address, reader, class: 'control' } as const
      const notice = { source: ids.notice(), traceId: ids.trace(), ...to, text: local }
      const key = `channel:${where.channel}@${where.account}:${about}:${person}`
      await say(notice, (tx) => tx.notices.once(key, clock.now(), DAY_MS)).catch((err: unknown) => {
        stored = false
        logger.warn('An owner could not be notified of a channel', { err, about })
      })
    }
    return stored
  }
}
