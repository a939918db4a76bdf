import type { Config } from '../config/config.ts'
import type { AgentProfile } from '../core/agent-profile.ts'
import type { Clock } from '../core/clock.ts'
import type { AgentId, SessionId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { DEFAULT_CHECKPOINTS, type Introspect, MEMORY_GROUP, type MemoryDesk } from '../core/memory.ts'
import { NOBODY } from '../core/platform-id.ts'
import type { SessionIdentity } from '../core/session.ts'
import { type Checkpoints, createCheckpoints } from '../memory/checkpoints.ts'
import { createLongTerm, type LongTerm } from '../memory/long-term.ts'
import { identityOfAuthor } from '../sessions/people/author-identity.ts'
import type { Reach } from '../sessions/session-tools/reach.ts'
import type { RunningTurns } from '../sessions/turns/running-turns.ts'
import { turnAuthors } from '../sessions/turns/turn-authority.ts'
import { nameOfRow } from '../sessions/turns/user-message.ts'
import type { Transcript } from '../sessions/view/transcript.ts'
import type { InboxRow } from '../store/inbox-port.ts'
import type { MessageRef } from '../store/memory-port.ts'
import type { Store } from '../store/store.ts'
import type { Lookups } from './lookups.ts'
import type { CurrentRouting } from './reload.ts'

interface MemoryDeps {
  readonly config: Config
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
  readonly policies: CurrentRouting
  readonly lookups: Pick<Lookups, 'roleOf' | 'whoIs'>
}

/** Returns the long-term memory of the agents. */
export function makeLongTerm({ config, store, clock, policies, lookups }: MemoryDeps, reach: Reach): LongTerm {
  const { channels } = policies.routing()
  return createLongTerm({
    ...{ store, clock, has: hasMemory(config) },
    async turnReach(turn) {
      const rows = await store.read.inbox.ofTurn(turn.id)
      const reached = await reach.of({ turn })
      return {
        // The readers of the answer are judged by the reach, session by session.
        authors: await turnAuthors({ read: store.read, channels }, turn),
        here: rows.length > 0 && rows.every(({ dispatch }) => dispatch.reply.elsewhere === undefined),
        messages: rows.flatMap(messageOf),
        reads: async (session) => (await reached.reads(session)).kind === 'allowed',
      }
    },
    identityOf: (author) => identityOfAuthor(lookups, author),
    async mayRead(author, session) {
      const reached = await reach.of({ principal: await identityOfAuthor(lookups, author) })
      return (await reached.reads(session)).kind === 'allowed'
    },
  })
}

/** The message of a row as its session names it. */
function messageOf(row: InboxRow): readonly MessageRef[] {
  return [nameOfRow(row) ?? []].flat()
}

export interface CheckpointPorts {
  readonly introspect: Introspect
  readonly running: Pick<RunningTurns, 'nextEnd' | 'has' | 'stopping'>
  readonly transcript: Pick<Transcript, 'saw'>
  readonly longTerm: LongTerm
  agent(session: SessionIdentity): AgentProfile
}

/** Memory as the commands and the stages see it. */
export interface Memory {
  readonly desk: MemoryDesk
  readonly checkpoints: Checkpoints
}

/** Returns the checkpoints, which are notified of messages and of the ends of turns. */
export function makeMemory(
  { config, store, clock, lookups, ...parts }: MemoryDeps,
  { introspect, running, transcript, longTerm, agent }: CheckpointPorts,
): Memory {
  const has = hasMemory(config)
  const checkpoints = createCheckpoints({
    ...{ store, clock, introspect, agent, has, stopping: running.stopping, busy: running.has },
    logger: parts.logger.child({ subsystem: 'memory' }),
    settings: { ...DEFAULT_CHECKPOINTS, ...config.session.checkpoint },
    saw: transcript.saw,
    isOwner: async (author) => (await identityOfAuthor(lookups, author)).role === 'owner',
    isKnown: ({ id, source }) => (source.kind === 'channel' ? isKnown(store, lookups, id) : Promise.resolve(true)),
  })
  return {
    desk: { ...longTerm, checkpoint: checkpoints.now },
    checkpoints: {
      ...checkpoints,
      ended(session) {
        // The end of the turn is stored a little later.
        if (has(session.agentId)) void running.nextEnd(session.id).then(() => checkpoints.ended(session))
      },
    },
  }
}

async function isKnown({ read }: Store, lookups: MemoryDeps['lookups'], session: SessionId): Promise<boolean> {
  for (const author of await read.participants.of(session)) {
    if (author !== NOBODY && (await identityOfAuthor(lookups, author)).role !== 'guest') return true
  }
  return false
}

function hasMemory({ agents }: Config): (agent: AgentId) => boolean {
  const remembering = new Set(agents.filter(({ tools }) => tools.includes(MEMORY_GROUP)).map(({ id }) => id))
  return (agent) => remembering.has(agent)
}
