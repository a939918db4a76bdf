import { randomBytes } from 'node:crypto'
import type { Clock } from './core/clock.ts'
import type { ChatCommand } from './core/command.ts'
import type { Identity } from './core/dispatch.ts'
import type { ChannelId, IdSource } from './core/ids.ts'
import type { Logger } from './core/logger.ts'
import type { PeopleOperator } from './core/operate-people.ts'
import type { RoutingPolicy } from './core/policy.ts'
import type { Routing } from './routing/compile-routing.ts'
import { personBehind } from './routing/identify.ts'
import { linkConflicts } from './routing/identity-links.ts'
import { movedSession } from './routing/moved-session.ts'
import { ownerIds } from './routing/owner-ids.ts'
import { type Access, createAccess } from './sessions/access.ts'
import { type ChatMoves, loadChatMoves } from './sessions/chat-moves.ts'
import type { Say } from './sessions/courtesy.ts'
import { createLinks, type Links } from './sessions/links.ts'
import { loadMutes, type Mutes } from './sessions/mutes.ts'
import { operatePeople } from './sessions/operate-people.ts'
import { loadOverrideBook, type OverrideBook } from './sessions/override-book.ts'
import { loadFacts, type StoredFacts } from './sessions/route-facts.ts'
import type { Store } from './store/store.ts'

export interface GateParts {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly logger: Logger
  readonly policy: RoutingPolicy
  readonly routing: Routing
  readonly say: Say
  command(name: string): ChatCommand | undefined
}

/** Who is who and what is where: the people of the configuration and of the store together, mutes, chats that moved. */
export interface Gate {
  readonly access: Access
  readonly facts: StoredFacts
  readonly links: Links
  readonly mutes: Mutes
  readonly moves: ChatMoves
  readonly overrides: OverrideBook
  readonly people: PeopleOperator
  /** Who is behind a platform id as things stand. */
  whoIs(platformId: string): Identity
  /** Platform ids of the owners on a channel, as things stand. */
  owners(channel: ChannelId): Promise<readonly string[]>
}

export async function createGate({
  store,
  clock,
  ids,
  logger,
  policy,
  routing,
  say,
  command,
}: GateParts): Promise<Gate> {
  const code = randomBytes(12).toString('base64url')
  const access = await createAccess({ store, clock, code, configuredOwner: () => routing.ownerNamed })
  const mutes = await loadMutes(store, clock)
  const overrides = await loadOverrideBook(store.read.sessions)
  const moves = await openMoves({ store, clock, ids, logger, routing }, () =>
    Promise.all([mutes.reload(), overrides.reload()]),
  )
  const facts = await loadFacts({ read: store.read, clock, access, mutes, moves, overrides, policy, command })
  const whoIs = (platformId: string): Identity => personBehind(routing.people, facts, platformId)
  const links = createLinks({ store, clock, ids, say, randomBytes, whoIs, refresh: access.refresh })
  const conflicts = linkConflicts(routing.people, await store.read.people.all())
  for (const warning of conflicts) logger.warn('A link is doubtful', { warning })
  return {
    access,
    facts,
    links,
    mutes,
    moves,
    overrides,
    whoIs,
    owners: async (channel) => ownerIds([...policy.people, ...(await store.read.people.all())], channel),
    people: operatePeople({ store, people: () => policy.people, live: { links, whoIs } }),
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
