import type { Accounts } from '../channels/accounts.ts'
import type { Config } from '../config/config.ts'
import type { IdSource } from '../core/ids.ts'
import type { MemoryDesk } from '../core/memory.ts'
import { placeSession } from '../routing/place-session.ts'
import { type ArchiveDeps, createArchives, type SessionArchives } from '../sessions/service/archives.ts'
import { createSessionOperations, type SessionOperations } from '../sessions/service/session-operations.ts'
import { modelRules, sessionRules } from '../sessions/service/session-rules.ts'
import { createSessionService, type DaemonSessions, type SessionService } from '../sessions/service/session-service.ts'
import type { RunningTurns } from '../sessions/turns/running-turns.ts'
import type { Entrance } from './entrance.ts'
import type { Lookups } from './lookups.ts'
import type { CurrentRouting } from './reload.ts'

/** The one way to a session from outside, and the way out of its place. */
export interface OwnSessions {
  readonly sessions: SessionService
  readonly operations: SessionOperations
  readonly archives: SessionArchives
  readonly place: DaemonSessions['place']
}

export interface SessionParts extends ArchiveDeps {
  readonly config: Config
  readonly ids: IdSource
  readonly policies: CurrentRouting
  readonly lookups: Pick<Lookups, 'whoIs' | 'overrides' | 'facts' | 'moves' | 'idsOf'>
  readonly accounts: Accounts
  readonly entrance: Pick<Entrance, 'accept'>
}

/** The parts of the stages that know what runs. */
interface KeptParts extends Pick<DaemonSessions, 'transcript' | 'approvals'> {
  readonly running: RunningTurns
  readonly memory: MemoryDesk
}

export function makeSessions(
  { config, store, clock, ids, policies, lookups, accounts, entrance, media, redact }: SessionParts,
  { memory, ...kept }: KeptParts,
): OwnSessions {
  const { whoIs, overrides, facts, moves } = lookups
  const { channels } = policies.routing()
  const daemon: DaemonSessions = {
    ...{ ...kept, ids, overrides, whoIs, accept: entrance.accept },
    models: { ...modelRules(config), redact },
    place: (address, agent) =>
      placeSession(policies.routing(), facts, {
        ...{ address: moves.follow(address), traceId: ids.trace(), receivedAt: clock.now() },
        ...(agent === undefined ? {} : { agent }),
      }),
    posts: (channel) => accounts.all.some((account) => account.channel === channel),
  }
  const rules = sessionRules(config, store, {
    ...{ channels, whoIs, mainIsShared: () => policies.routing().sessions.scope === 'global' },
    ...lookups.idsOf,
  })
  const base = { ...rules, store, clock, channels, daemon }
  const sessions = createSessionService(base)
  return {
    place: daemon.place,
    sessions,
    operations: createSessionOperations({ ...base, memory, sessions, models: daemon.models, running: kept.running }),
    archives: createArchives({ store, clock, media, redact, places: { daemon, channels } }),
  }
}
