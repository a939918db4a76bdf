import { randomBytes } from 'node:crypto'
import type { Address } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { ChatCommand } from '../core/command.ts'
import type { Decision, Dispatch, Identity } from '../core/dispatch.ts'
import type { ChannelId, IdSource, PersonId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { OperatorService } from '../core/operator.ts'
import type { AccountAt, OwnerNotice } from '../core/owner-notice.ts'
import type { RoutingPolicy } from '../core/policy.ts'
import type { Role } from '../core/session.ts'
import type { Routing } from '../routing/compile-routing.ts'
import { personBehind } from '../routing/identify.ts'
import { linkConflicts } from '../routing/identity-links.ts'
import { movedSession } from '../routing/moved-session.ts'
import { ownerIds } from '../routing/owner-ids.ts'
import type { Say } from '../sessions/commands/courtesy.ts'
import { type ChatMoves, loadChatMoves } from '../sessions/facts/chat-moves.ts'
import { loadMutes, type Mutes } from '../sessions/facts/mutes.ts'
import { loadFacts, type StoredFacts } from '../sessions/facts/route-facts.ts'
import { type Access, createAccess } from '../sessions/people/access.ts'
import { type Admissions, createAdmissions } from '../sessions/people/admissions.ts'
import { foldCode } from '../sessions/people/link-code.ts'
import { createLinks, type Links } from '../sessions/people/links.ts'
import { operateAdmissions } from '../sessions/people/operate-admissions.ts'
import { operatePeople } from '../sessions/people/operate-people.ts'
import { createOwnerCards } from '../sessions/people/owner-cards.ts'
import { createOwnerChats, type OwnerChats } from '../sessions/people/owner-chats.ts'
import { createShownCodes, type LiveCode } from '../sessions/people/shown-codes.ts'
import { createTokens } from '../sessions/people/tokens.ts'
import { loadOverrideBook, type OverrideBook } from '../sessions/service/override-book.ts'
import type { Store } from '../store/store.ts'

export interface GateParts {
  /** Called after every change of the people. */
  peopleChanged(): void
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly logger: Logger
  /** The policy in force, which may change. */
  readonly policies: { readonly policy: RoutingPolicy }
  readonly routing: Routing
  readonly say: Say
  /** The one door. */
  accept(dispatch: Dispatch): Promise<void>
  /** Something can leave by this account. */
  reaches(address: Address): boolean
  command(name: string): ChatCommand | undefined
}

/**
 * Who is who, who may talk and what is where: what the configuration and the store say of it together, mutes, chats that
 * moved.
 */
export interface Gate {
  readonly access: Access
  readonly facts: StoredFacts
  readonly links: Links
  readonly admissions: Admissions
  readonly mutes: Mutes
  readonly moves: ChatMoves
  readonly overrides: OverrideBook
  /** Every decision comes by here. */
  decided(dispatch: Dispatch, decision: Decision): void
  /** Called with whatever a platform told in a place with others, as it came. */
  overheard(this: void, payload: unknown): void
  /** What an operator can ask of it. */
  readonly operator: Pick<OperatorService, 'people' | 'admissions' | 'tokens'>
  /** As things stand: the configuration decides about the people it names, the store about the others. */
  roleOf(person: PersonId): Promise<Role>
  /** Another policy is in force. Returns links of the store that it overrules, a sentence each. */
  policyChanged(): Promise<readonly string[]>
  /** Returns who is behind a platform id as things stand. */
  whoIs(platformId: string): Identity
  /** Tells each owner in private, at most once a day for each thing that it is about. */
  tellOwners(this: void, where: AccountAt, notice: OwnerNotice): void
  /** Platform ids of the owners on a channel, as things stand. */
  owners(channel: ChannelId): Promise<readonly string[]>
}

export async function createGate(parts: GateParts): Promise<Gate> {
  const { store, clock, logger, routing, policies, peopleChanged: changed } = parts
  const { channels } = routing
  const code = (): string => randomBytes(12).toString('base64url')
  const claim = { code: code(), configuredOwner: () => routing.ownerNamed }
  const access = await createAccess({ store, clock, channels, ...claim, changed })
  const whoIs = (platformId: string): Identity => personBehind(routing.people, access, platformId)
  const links = createLinks({ ...parts, randomBytes, whoIs, refresh: access.refresh })
  const shown = createShownCodes({ logger, live: () => [...claimCode(access, code), ...links.live()] })
  const owners = createOwnerChats({
    channels,
    stored: await store.read.people.directChats(),
    whoIs,
    reaches: parts.reaches,
  })
  const cards = await createOwnerCards({ ...parts, owners })
  const admissions = await createAdmissions({ ...parts, cards })
  const mutes = await loadMutes(store, clock, channels)
  const overrides = await loadOverrideBook(store.read.sessions)
  const moves = await openMoves(parts, () => Promise.all([mutes.reload(), overrides.reload(), admissions.reload()]))
  const facts = await loadFacts({
    ...parts,
    read: store.read,
    access,
    admissions,
    mutes,
    moves,
    overrides,
  })
  const doubts = async (): Promise<readonly string[]> => linkConflicts(routing.people, await store.read.people.all())
  for (const warning of await doubts()) logger.warn('A link is doubtful', { warning })
  return {
    access,
    facts,
    links,
    admissions,
    mutes,
    moves,
    overrides,
    whoIs,
    async policyChanged() {
      changed()
      await facts.watch.policyChanged()
      return doubts()
    },
    async roleOf(person) {
      const configured = routing.people.roles.get(person)
      return configured ?? (await store.read.people.all()).find(({ id }) => id === person)?.role ?? 'guest'
    },
    decided(dispatch, decision) {
      shown.decided(dispatch)
      facts.watch.decided(dispatch, decision)
      admissions.decided(dispatch, decision)
    },
    overheard: shown.overheard,
    tellOwners: ownerTeller(parts, owners),
    owners: async (channel) => ownerIds([...policies.policy.people, ...(await store.read.people.all())], channel),
    operator: {
      people: operatePeople({ store, channels, people: () => policies.policy.people, live: { links, whoIs } }),
      admissions: operateAdmissions({ store, admissions }),
      tokens: createTokens({ store, clock, randomBytes }).operator,
    },
  }
}

function claimCode(access: Access, fresh: () => string): readonly LiveCode[] {
  const code = access.claimCode
  if (code === undefined) return []
  return [{ folded: foldCode(code), command: 'start', burn: () => access.replaceClaim(fresh()) }]
}

const DAY_MS = 86_400_000

function ownerTeller({ ids, clock, logger, say }: GateParts, owners: OwnerChats): Gate['tellOwners'] {
  return (where, { about, text }) => {
    for (const { person, address } of owners.beside(where)) {
      const notice = { source: ids.notice(), traceId: ids.trace(), address, class: 'control', text } as const
      const key = `channel:${where.channel}@${where.account}:${about}:${person}`
      say(notice, (tx) => tx.notices.once(key, clock.now(), DAY_MS)).catch((err: unknown) =>
        logger.warn('An owner could not be told of a channel', { err, about }),
      )
    }
  }
}

/** The chats that got a new id; `reload` reads again what is kept in memory by address or scope key. */
export function openMoves(
  { store, clock, ids, logger, routing }: Pick<GateParts, 'store' | 'clock' | 'ids' | 'logger' | 'routing'>,
  reload: () => Promise<unknown>,
): Promise<ChatMoves> {
  return loadChatMoves({
    store,
    clock,
    ids,
    logger: logger.child({ subsystem: 'chats' }),
    rekey: (session, move) => movedSession(routing.sessions, session, move),
    moved: async () => void (await reload()),
  })
}
