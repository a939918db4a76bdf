import { randomBytes } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import type { ChatCommand } from '../core/command.ts'
import type { Identity } from '../core/dispatch.ts'
import type { IdSource, PersonId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { Role } from '../core/session.ts'
import { personBehind } from '../routing/identify.ts'
import { movedSession } from '../routing/moved-session.ts'
import { type ChatMoves, loadChatMoves } from '../sessions/lookups/chat-moves.ts'
import { loadMutes, type Mutes } from '../sessions/lookups/mutes.ts'
import { loadOverridesCache, type OverridesCache } from '../sessions/lookups/overrides-cache.ts'
import { loadFacts, type StoredFacts } from '../sessions/lookups/stored-facts.ts'
import { type Access, createAccess } from '../sessions/people/access.ts'
import { type AdmissionFacts, loadAdmissionFacts } from '../sessions/people/admission-facts.ts'
import { CODE_BYTES, formatCode } from '../sessions/people/link-code.ts'
import type { PeopleNow } from '../sessions/people/person-ids.ts'
import type { Store } from '../store/store.ts'
import type { DaemonEvents } from './daemon-events.ts'
import type { CurrentRouting } from './reload.ts'

export interface LookupsDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly logger: Logger
  readonly policies: CurrentRouting
  readonly events: Pick<DaemonEvents, 'peopleChanged'>
  /** The commands that can be given in a chat, by name. */
  readonly commands: ReadonlyMap<string, ChatCommand>
}

/** The facts about people, chats and sessions besides the configuration: in memory, rebuilt from the store. */
export interface Lookups {
  readonly access: Access
  readonly facts: StoredFacts
  readonly admissionFacts: AdmissionFacts
  readonly mutes: Mutes
  readonly moves: ChatMoves
  readonly overrides: OverridesCache
  /** Returns the present identity of a platform id. */
  whoIs(this: void, platformId: string): Identity
  /** Returns the present role: the configuration decides about the people it names, the store about the others. */
  roleOf(this: void, person: PersonId): Promise<Role>
  /** Returns the platform ids of a person, by the configuration and by links. */
  readonly idsOf: Pick<PeopleNow, 'configuredIds' | 'linkedIds'>
}

export async function loadLookups(parts: LookupsDeps): Promise<Lookups> {
  const { store, clock, logger, policies, events, commands } = parts
  const { channels } = policies.routing()
  const claim = { code: freshCode(), configuredOwner: () => policies.routing().ownerNamed }
  const access = await createAccess({
    ...{ store, clock, logger, channels, ...claim },
    changed: () => events.peopleChanged.emit(),
  })
  const mutes = await loadMutes(store, clock, channels)
  const overrides = await loadOverridesCache(store.read.sessions)
  const admissionFacts = await loadAdmissionFacts(store.read)
  const moves = await openMoves(parts, () => Promise.all([mutes.reload(), overrides.reload(), admissionFacts.reload()]))
  const facts = await loadFacts({
    ...{ ...parts, read: store.read, access, admissions: admissionFacts, mutes, moves, overrides },
    commands,
  })
  return {
    ...{ access, facts, admissionFacts, mutes, moves, overrides },
    whoIs: (platformId) => personBehind(policies.routing().people, access, platformId),
    roleOf: async (person) => policies.routing().people.roles.get(person) ?? access.named(person)?.role ?? 'guest',
    idsOf: {
      configuredIds: (person) => policies.routing().people.ids.get(person) ?? [],
      linkedIds: (person) => access.named(person)?.ids ?? [],
    },
  }
}

/** Returns a claim code: short enough to be typed on a phone, too long to be guessed in the tries that there are. */
export function freshCode(): string {
  return formatCode(randomBytes(CODE_BYTES))
}

/** Returns the chats that got a new id; `reload` reads caches by address or scope key again. */
export function openMoves(
  {
    store,
    clock,
    ids,
    logger,
    policies,
  }: Pick<LookupsDeps, 'store' | 'clock' | 'ids' | 'logger'> & {
    readonly policies: Pick<CurrentRouting, 'routing'>
  },
  reload: () => Promise<unknown>,
): Promise<ChatMoves> {
  return loadChatMoves({
    ...{ store, clock, ids },
    logger: logger.child({ subsystem: 'chats' }),
    rekey: (session, move) => movedSession(policies.routing().sessions, session, move),
    moved: async () => void (await reload()),
  })
}
