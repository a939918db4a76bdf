import type { AgentProfile } from '../../core/agent-profile.ts'
import { type Channels, createChannels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import type { ServersByName } from '../../core/model-server.ts'
import type { Store } from '../../store/store.ts'
import { type PeopleNow, personIds } from '../people/person-ids.ts'
import { type ModelRules, refusedAgent, refusedModel } from './choose-model.ts'
import { createSessionService, type SessionService, type SessionServiceDeps } from './session-service.ts'

/** A group of a client's sessions that has a model of its own. */
interface Workspace {
  readonly name: string
  readonly model: string
}

/** The settings of the session service. */
export interface SessionServiceSettings {
  readonly agents: readonly AgentProfile[]
  readonly models: ServersByName
  readonly workspaces?: readonly Workspace[]
  readonly session: { readonly staleDays?: number }
}

const DAY_MS = 86_400_000
const STALE_DAYS = 3

/** Returns the rules for which models a session may have. */
export function modelRules({ agents, models, workspaces = [] }: Omit<SessionServiceSettings, 'session'>): ModelRules {
  return {
    ...{ agents, servers: models },
    workspaces: new Map(workspaces.map(({ name, model }) => [name, model])),
  }
}

export function sessionRules(
  { session, ...models }: SessionServiceSettings,
  store: Store,
  people: PeopleNow & Pick<SessionServiceDeps, 'mainIsShared'>,
): Pick<SessionServiceDeps, 'read' | 'staleMs' | 'platformIds' | 'refusesModel' | 'refusesAgent' | 'mainIsShared'> {
  const rules = modelRules(models)
  return {
    read: store.read,
    staleMs: (session.staleDays ?? STALE_DAYS) * DAY_MS,
    platformIds: (person) => personIds(people, store.read.participants, person),
    mainIsShared: people.mainIsShared,
    refusesModel: (agent, model) => refusedModel(rules, agent, model),
    refusesAgent: (session) => refusedAgent(rules.agents, session),
  }
}

/** Returns the service over a store that no daemon holds: it reads and changes rows, and opens nothing. */
export function offlineSessions(
  settings: SessionServiceSettings,
  deps: { readonly store: Store; readonly clock: Clock; readonly channels: Channels },
): SessionService {
  return createSessionService({ ...deps, ...sessionRules(settings, deps.store, NO_PEOPLE) })
}

/** Only the operator asks without a daemon. */
const NO_PEOPLE = {
  channels: createChannels({}),
  configuredIds: () => [],
  linkedIds: () => [],
  whoIs: () => ({ role: 'guest' as const }),
  mainIsShared: () => false,
}
