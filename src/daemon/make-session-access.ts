import { basename } from 'node:path'
import type { Accounts } from '../channels/accounts.ts'
import { type Config, DEFAULT_SESSION_TOOLS } from '../config/config.ts'
import type { AgentProfile } from '../core/agent-profile.ts'
import { inNamespace, type Namespace } from '../core/caller.ts'
import type { RunsTasks } from '../core/child-task.ts'
import type { Clock } from '../core/clock.ts'
import type { Identity } from '../core/dispatch.ts'
import type { ExternalRuns } from '../core/external-run.ts'
import type { AgentId, IdSource, PersonId } from '../core/ids.ts'
import type { MediaStore } from '../core/media.ts'
import type { Nodes } from '../core/operate-nodes.ts'
import type { PostsMessages } from '../core/post-message.ts'
import type { FileSender } from '../core/send-file.ts'
import type { Role, SessionIdentity } from '../core/session.ts'
import type { SessionTools } from '../core/session-tools.ts'
import type { Principal } from '../core/turn.ts'
import { sourceRoute } from '../routing/source-route.ts'
import type { PostNotice } from '../sessions/people/post-notice.ts'
import { sessionRules } from '../sessions/service/session-rules.ts'
import type { SessionService } from '../sessions/service/session-service.ts'
import { createNodes } from '../sessions/session-tools/nodes.ts'
import { createPosts, type PostMessageDeps } from '../sessions/session-tools/post-message.ts'
import { createReach, type Reach } from '../sessions/session-tools/reach.ts'
import { createTasks, type RunTaskDeps } from '../sessions/session-tools/run-task.ts'
import { createFileSender } from '../sessions/session-tools/send-file.ts'
import { createSessionTools, type SessionToolsDeps } from '../sessions/session-tools/session-tools.ts'
import { createExternalRuns, type ExternalRunDeps } from '../sessions/session-tools/start-external-run.ts'
import { createWaitGraph } from '../sessions/session-tools/wait-graph.ts'
import type { Store } from '../store/store.ts'
import type { Entrance } from './entrance.ts'
import type { Lookups } from './lookups.ts'
import type { CurrentRouting } from './reload.ts'
import { sharedChats } from './shared-chats.ts'

/** The access to sessions from other sessions and from outside of any chat. */
export interface SessionAccess {
  readonly sessionTools: SessionTools
  readonly externalRuns: ExternalRuns
  /** Returns the nodes, which post as every client does. */
  nodesOf(sessions: Pick<SessionService, 'post'>): Nodes
  readonly posts: PostsMessages
  readonly files: FileSender
  readonly tasks: RunsTasks
  readonly reach: Reach
}

export interface SessionAccessDeps {
  readonly config: Config
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly accounts: Accounts
  readonly media: MediaStore
  readonly policies: CurrentRouting
  readonly lookups: Pick<Lookups, 'roleOf' | 'whoIs' | 'overrides' | 'idsOf' | 'access' | 'facts'>
  readonly entrance: Pick<Entrance, 'accept'>
  readonly say: PostNotice
  readonly running: RunTaskDeps['running']
  agent(session: SessionIdentity): AgentProfile
}

export function createSessionAccess(parts: SessionAccessDeps): SessionAccess {
  const { config, store, clock, ids, accounts, policies, lookups, entrance, running, agent } = parts
  const { whoIs, roleOf } = lookups
  const { channels } = policies.routing()
  const shared = sharedChats({ policies, lookups, ids, clock })
  const rules = sessionRules(config, store, {
    ...{ whoIs, channels, mainIsShared: shared.mainIsShared },
    ...lookups.idsOf,
  })
  const file = basename(config.store.path)
  const deps: SessionToolsDeps & ExternalRunDeps & PostMessageDeps & RunTaskDeps = {
    ...{ clock, ids, running, say: parts.say, accept: entrance.accept },
    read: store.read,
    write: store.write,
    waits: createWaitGraph(),
    overrides: lookups.overrides,
    channels,
    owners: { whoIs, mainIsShared: rules.mainIsShared },
    posts: (channel) => accounts.all.some((account) => account.channel === channel),
    reach: createReach({
      ...(config.sessionTools ?? DEFAULT_SESSION_TOOLS),
      ...{ read: store.read, channels, access: rules, whoIs, roleOf },
      spokenFor: (namespace) => spokenFor(namespace, parts),
      ...shared,
    }),
    staleMs: rules.staleMs,
    agentOf: agent,
    transcriptPath: (session) => `${file}#${session}`,
    routeOf: (source, agent?: AgentId) => sourceRoute(policies.routing(), source, agent),
  }
  return {
    sessionTools: createSessionTools(deps),
    externalRuns: createExternalRuns(deps),
    nodesOf: (sessions) => createNodes(deps, sessions),
    posts: createPosts(deps),
    files: createFileSender({ ...deps, ids, media: parts.media }),
    tasks: createTasks(deps),
    reach: deps.reach,
  }
}

/** Returns the people with an id in a namespace, by the file or by a link. Reads no row: each call of a tool asks. */
function spokenFor(
  namespace: Namespace,
  { policies, lookups: { whoIs, access } }: SessionAccessDeps,
): readonly Principal[] {
  const lies = (id: string): boolean => id === namespace || inNamespace(namespace, id)
  const { ids, roles } = policies.routing().people
  const found = new Map<PersonId, Role>()
  for (const [person, own] of ids) if (own.some(lies)) found.set(person, roles.get(person) ?? 'guest')
  for (const id of access.linked.keys()) {
    const { person, role } = lies(id) ? whoIs(id) : NOBODY_KNOWN
    if (person !== undefined) found.set(person, role)
  }
  return [...found].map(([person, role]) => ({ person, role }))
}

const NOBODY_KNOWN: Identity = { role: 'guest' }
