import { randomUUID } from 'node:crypto'
import type { Caller } from '../../core/caller.ts'
import type { Channels } from '../../core/channel-traits.ts'
import { ParleyError } from '../../core/errors.ts'
import { joinsPeople } from '../../core/joins-people.ts'
import type { CheckpointOutcome, MemoryDesk } from '../../core/memory.ts'
import type { CancelAnswer, CreatedSession, CreateRequest } from '../../core/operate-sessions.ts'
import type { Session } from '../../core/session.ts'
import { type StopDeps, stopSession } from '../turns/stop-session.ts'
import type { ModelRules } from './choose-model.ts'
import { type FindDeps, findInUse, mayCreate, ownPrefix } from './find-session.ts'
import { isOwner } from './session-access.ts'
import type { SessionService } from './session-service.ts'

/** The operations of a client on the sessions of a daemon that runs. */
export interface SessionOperations {
  /**
   * Begins a session of a worker in a workspace (R1). Throws `invalid` for a worker that there is not, `forbidden` for
   * a token of a platform, whose sessions begin with what is said there.
   */
  create(caller: Caller, request: CreateRequest): Promise<CreatedSession>
  /** Ends what runs and waits, as `/stop` does. Throws `forbidden` where it would end for other people. */
  cancel(caller: Caller, name: string): Promise<CancelAnswer>
  /** Looks through a session, as `/checkpoint` does. Throws `forbidden` for an agent without a memory. */
  checkpoint(caller: Caller, name: string): Promise<CheckpointOutcome>
}

export interface SessionOperationDeps extends FindDeps, StopDeps {
  readonly channels: Channels
  readonly models: Pick<ModelRules, 'agents'>
  readonly memory: Pick<MemoryDesk, 'checkpoint' | 'has'>
  readonly sessions: Pick<SessionService, 'start'>
}

export function createSessionOperations(deps: SessionOperationDeps): SessionOperations {
  return {
    async create(caller, { worker, workspace, ...request }) {
      if (!mayCreate(caller))
        throw new ParleyError('forbidden', 'Sessions of a platform begin with what is said there: use a token for api.')
      const known = deps.models.agents.map(({ id }) => id)
      if (!known.some((id) => id === worker))
        throw new ParleyError('invalid', `worker: there is no "${worker}"; there is ${known.join(', ')}.`)
      const prefix = `${ownPrefix(caller)}:`
      const name = `${prefix}${randomUUID()}`
      const started = await deps.sessions.start(caller, { ...request, name, agent: worker, workspace })
      // A request that is made again is given the session of the first time.
      return { uuid: started.id.slice(prefix.length), ...started }
    },

    async cancel(caller, name) {
      const session = await findInUse(caller, name, deps)
      refuseOthers(caller, session, deps)
      return { session: session.id, ...(await stopSession(deps, session.id)) }
    },

    async checkpoint(caller, name) {
      const session = await findInUse(caller, name, deps)
      refuseOthers(caller, session, deps)
      if (!deps.memory.has(session.agentId))
        throw new ParleyError('forbidden', `${session.agentId} has no memory: add "memory" to its tools.`)
      return deps.memory.checkpoint(session.id)
    },
  }
}

/** Whoever is not an owner acts on the whole of a conversation only where nobody else takes part. */
function refuseOthers(caller: Caller, session: Session, { channels }: Pick<SessionOperationDeps, 'channels'>): void {
  if (isOwner(caller)) return
  const alone = caller.kind === 'token' || session.chatType === 'direct'
  if (!alone || joinsPeople(channels, session))
    throw new ParleyError('forbidden', 'Only an owner may do that: people of other chats share this conversation.')
}

async function needsDaemon(): Promise<never> {
  throw new ParleyError('unavailable', 'No daemon is running; "parley start" runs the sessions.')
}

/** The operations where the store was opened without a daemon: it begins nothing, and nothing runs. */
export const operationsWithoutDaemon: SessionOperations = {
  create: needsDaemon,
  cancel: needsDaemon,
  checkpoint: needsDaemon,
}
