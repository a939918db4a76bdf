import type { RunsTasks } from '../../core/child-task.ts'
import type { Route } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import { refuseForgotten } from '../../core/forgetting.ts'
import { runId, toSessionId } from '../../core/ids.ts'
import type { Session, SessionSource } from '../../core/session.ts'
import { overridesOf } from '../../core/session-settings.ts'
import type { TurnRef } from '../../core/session-tools.ts'
import type { Store } from '../../store/store.ts'
import type { OverridesCache } from '../lookups/overrides-cache.ts'
import { startSession } from '../turns/open-session.ts'
import { type RunningTurns, SUSPENDED } from '../turns/running-turns.ts'
import { clamp } from './clamp.ts'
import { checkVerdict } from './reach.ts'
import { checkMessage, type SendDeps, sendTo } from './send-message.ts'

export interface RunTaskDeps extends SendDeps {
  readonly write: Store['write']
  readonly running: Pick<RunningTurns, 'nextEnd' | 'abort'>
  readonly overrides: Pick<OverridesCache, 'set'>
  /** Returns the route of a session of this source. */
  routeOf(source: SessionSource): Route
}

const WAIT_SECONDS = { fallback: 600, least: 1, most: 3_600 }

export function createTasks(deps: RunTaskDeps): RunsTasks {
  return {
    async run({ task, timeoutSeconds }, turn, callId, signal) {
      checkMessage({ message: task })
      checkVerdict(await (await deps.reach.of({ turn })).begins())
      const child = await childSession(deps, turn, callId)
      const request = { message: task, requestId: callId, timeoutSeconds: clamp(timeoutSeconds, WAIT_SECONDS) }
      const stop = (): void => {
        // After a stop of the daemon both sessions resume.
        if (signal.reason !== SUSPENDED) void deps.running.abort(child.id)
      }
      signal.addEventListener('abort', stop, { once: true })
      try {
        return await sendTo(deps, child, { request, caller: { turn }, signal })
      } finally {
        signal.removeEventListener('abort', stop)
      }
    },
  }
}

/** Returns the session of a repeated call, or else makes one with the agent and the settings of its parent. */
async function childSession(deps: RunTaskDeps, turn: TurnRef, callId: string): Promise<Session> {
  const { read, write, clock, routeOf, overrides } = deps
  const parent = await read.sessions.get(turn.sessionId)
  if (parent === undefined) throw new ParleyError('not_found', 'This conversation has ended.')
  if (parent.source.kind === 'task')
    throw new ParleyError('invalid', 'This is a task already, and a task begins no other: do the work here.')
  const source = { kind: 'task', interactive: false, triggerId: taskId(turn, callId), triggerType: 'tool' } as const
  const { scope, scopeKey, kind, displayKey, chatType } = routeOf(source)
  const { id, agentId, agentProfile } = parent
  const draft = {
    ...{ scopeKey, kind, displayKey, chatType, source, agentId, metadata: {}, parent: id, settingsOf: id },
    ...{ id: toSessionId(displayKey), scope: { ...scope, agent: agentId } },
    ...(agentProfile === undefined ? {} : { agentProfile }),
  }
  return write(async (tx) => {
    const known = await tx.sessions.current(scopeKey)
    if (known !== undefined) return known
    await refuseForgotten(tx, turn.id)
    const session = await startSession(tx, draft, { at: clock.now() })
    tx.afterCommit(() => overrides.set(session, overridesOf(session), true))
    return session
  })
}

/** Returns a name that is the same for a repeated call, and that nobody can choose. */
function taskId({ id }: TurnRef, callId: string): string {
  return runId(id, callId).slice('run_'.length, 'run_'.length + 12)
}
