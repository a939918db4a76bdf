import { basename } from 'node:path'
import type { Accounts } from '../channels/accounts.ts'
import { type Config, DEFAULT_SESSION_TOOLS } from '../config/config.ts'
import type { Clock } from '../core/clock.ts'
import type { IdSource } from '../core/ids.ts'
import type { Session } from '../core/session.ts'
import type { SessionTools } from '../core/session-tools.ts'
import type { AgentProfile } from '../core/turn.ts'
import type { Visits } from '../core/visit.ts'
import type { Routing } from '../routing/compile-routing.ts'
import { configuredIds } from '../routing/identity-links.ts'
import { sourceRoute } from '../routing/source-route.ts'
import { sessionRules } from '../sessions/service/session-rules.ts'
import { createReach, type ReachDeps } from '../sessions/session-tools/reach.ts'
import type { SendDeps } from '../sessions/session-tools/send-message.ts'
import { createSessionTools, type SessionToolsDeps } from '../sessions/session-tools/session-tools.ts'
import { createVisits, type VisitDeps } from '../sessions/session-tools/visit.ts'
import { createWaitGraph } from '../sessions/session-tools/wait-graph.ts'
import type { Store } from '../store/store.ts'

/** How sessions are reached from other sessions and from outside of any chat. */
export interface SessionDoors {
  readonly sessionTools: SessionTools
  readonly visits: Visits
}

export interface SessionDoorParts {
  readonly config: Config
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly accounts: Accounts
  readonly routing: Routing
  readonly gate: Pick<ReachDeps, 'roleOf'>
}

export interface SessionDoorEnds extends Pick<SendDeps, 'running' | 'accept'>, Pick<ReachDeps, 'whoIs'> {
  agent(session: Session): AgentProfile
}

export function createSessionDoors(
  parts: SessionDoorParts,
  { running, accept, agent, whoIs }: SessionDoorEnds,
): SessionDoors {
  const { config, store, clock, ids, accounts, routing } = parts
  const { roleOf } = parts.gate
  const access = sessionRules(config, store, {
    whoIs,
    channels: routing.channels,
    configuredIds: (person) => configuredIds(routing.people, person),
  })
  const file = basename(config.store.path)
  const deps: SessionToolsDeps & VisitDeps = {
    read: store.read,
    write: store.write,
    clock,
    ids,
    running,
    accept,
    waits: createWaitGraph(),
    posts: (channel) => accounts.all.some((account) => account.channel === channel),
    reach: createReach({
      ...(config.sessionTools ?? DEFAULT_SESSION_TOOLS),
      ...{
        read: store.read,
        channels: routing.channels,
        access,
        whoIs,
        roleOf,
        mainIsShared: () => routing.sessions.scope === 'global',
      },
    }),
    staleMs: access.staleMs,
    modelOf: (session) => agent(session).model,
    transcriptPath: (session) => `${file}#${session}`,
    routeOf: (source) => sourceRoute(routing, source),
  }
  return { sessionTools: createSessionTools(deps), visits: createVisits(deps) }
}
