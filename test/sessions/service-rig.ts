import { onTestFinished } from 'vitest'
import { type Caller, parseNamespace } from '../../src/core/caller.ts'
import { type PersonId, type SessionId, toAgentId, toPersonId } from '../../src/core/ids.ts'
import type { SessionDraft } from '../../src/core/session.ts'
import { placeSession } from '../../src/routing/place-session.ts'
import { loadOverridesCache, type OverridesCache } from '../../src/sessions/lookups/overrides-cache.ts'
import { createSessionService, type SessionService } from '../../src/sessions/service/session-service.ts'
import { openSqliteStore } from '../../src/store/engines/sqlite.ts'
import type { Store, StoreWatch } from '../../src/store/store.ts'
import { CHANNELS } from '../fakes/channels.ts'
import { routeFacts } from '../fakes/dispatch.ts'
import { fixedClock } from '../fakes/fixed-clock.ts'
import { readyDatabase } from '../fakes/ready-database.ts'
import { household, routingOf } from '../fakes/routing-policy.ts'
import { ids, sessionDraft } from '../store/sample-rows.ts'
import { tempFolder } from '../store/temp-database.ts'

export const OPERATOR: Caller = { kind: 'operator' }
export const ADA: Caller = { kind: 'person', person: toPersonId('ada'), role: 'owner' }
export const BOB: Caller = { kind: 'person', person: toPersonId('bob'), role: 'member' }
export const GUEST: Caller = { kind: 'person', role: 'guest' }

export function token(namespace: string): Caller {
  const parsed = parseNamespace(namespace)
  if (!parsed) throw new Error(`${namespace} is no namespace`)
  return { kind: 'token', namespace: parsed }
}

export interface ServiceRig {
  readonly store: Store
  readonly service: SessionService
  readonly overrides: OverridesCache
  /** Sessions with a turn. */
  readonly running: Set<SessionId>
  /** What people are linked to; changes count at once. */
  readonly links: Map<PersonId, string[]>
  readonly dropped: SessionId[]
  /** A direct session of this id, or of a fresh one. */
  make(changes?: Partial<SessionDraft>): Promise<SessionId>
  setNow(ms: number): void
  /** The daemon begins to stop. */
  drain(): void
}

export const DAY = 86_400_000
const NOW = 1_800_000_000_000

/** The service over a real store; nothing runs. */
export async function serviceRig({ watch }: { readonly watch?: StoreWatch } = {}): Promise<ServiceRig> {
  const clock = fixedClock(NOW)
  const store = await openSqliteStore({ path: readyDatabase(`${tempFolder()}/store.db`), clock, watch })
  onTestFinished(() => store.close())
  const running = new Set<SessionId>()
  let draining = false
  const links = new Map<PersonId, string[]>([[toPersonId('bob'), ['telegram:444']]])
  const dropped: SessionId[] = []
  const overrides = await loadOverridesCache(store.read.sessions)
  const routing = routingOf(household())
  const service = createSessionService({
    channels: CHANNELS,
    store,
    read: store.read,
    clock,
    staleMs: 3 * DAY,
    mainIsShared: () => false,
    platformIds: async (person) => links.get(person) ?? [],
    refusesAgent: () => undefined,
    refusesModel: (_agent, model) => (model === 'scripted/echo' ? undefined : `There is no key for ${model}.`),
    daemon: {
      ids,
      approvals: { waits: () => false },
      running: {
        has: (id) => running.has(id),
        nextEnd: () => new Promise(() => {}),
        get draining() {
          return draining
        },
      },
      accept: async () => {},
      posts: () => false,
      whoIs: () => ({ role: 'guest' }),
      overrides,
      transcript: { drop: (id) => void dropped.push(id) },
      models: { agents: [], servers: {}, redact: (text) => text },
      place: (address) =>
        placeSession(routing, routeFacts(), { address, traceId: ids.trace(), receivedAt: clock.now() }),
    },
  })
  let made = 0
  return {
    store,
    service,
    overrides,
    running,
    links,
    dropped,
    async make(changes = {}) {
      const draft = sessionDraft(++made, { kind: 'other', chatType: 'direct', agentId: toAgentId('main'), ...changes })
      return (await store.write((tx) => tx.sessions.create(draft, clock.now()))).id
    },
    setNow: clock.set,
    drain() {
      draining = true
    },
  }
}
