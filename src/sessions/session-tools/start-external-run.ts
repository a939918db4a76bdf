import { formatAddress } from '../../core/address.ts'
import type { Route } from '../../core/dispatch.ts'
import { ParleyError } from '../../core/errors.ts'
import type { ExternalOrigin, ExternalRuns } from '../../core/external-run.ts'
import { type AgentId, toSessionId } from '../../core/ids.ts'
import type { Session, SessionSource } from '../../core/session.ts'
import type { Store } from '../../store/store.ts'
import { sessionInUse } from '../service/find-session.ts'
import { startSession } from '../turns/open-session.ts'
import { checkMessage, runOf, type SendDeps, sendMessage, sendTo } from './send-message.ts'

export interface ExternalRunDeps extends SendDeps {
  readonly write: Store['write']
  /** Returns the route of a session of this source. */
  routeOf(source: SessionSource, agent?: AgentId): Route
}

export function createExternalRuns(deps: ExternalRunDeps): ExternalRuns {
  return {
    runOf,
    async start({ origin, sessionKey, ...request }, caller, signal) {
      const sending = { request, caller, signal, ...(origin.kind === 'hook' ? hookFields(origin) : {}) }
      checkMessage(request)
      if (sessionKey !== undefined) {
        const allowed = await allowedSession(deps, origin, sessionKey)
        return allowed ? sendTo(deps, allowed, sending) : sendMessage(deps, sessionKey, sending)
      }
      return sendTo(deps, await ownSession(deps, origin), sending)
    },
  }
}

function hookFields({ name, prompt, deliverTo }: Extract<ExternalOrigin, { kind: 'hook' }>) {
  return {
    writer: { hook: name, ...(prompt === undefined ? {} : { prompt }) },
    ...(deliverTo === undefined ? {} : { deliverTo }),
  }
}

/** Returns a session that the operator lets the hook go to, by the name that is on the list. */
async function allowedSession({ read }: ExternalRunDeps, origin: ExternalOrigin, key: string) {
  const named = origin.kind === 'hook' && origin.sessions?.includes(key) ? await read.sessions.resolve(key) : undefined
  return named && sessionInUse(named, read.sessions)
}

/** Returns the session of a repeated call or a returning node, or else makes one. */
export async function ownSession({ write, clock, routeOf }: ExternalRunDeps, origin: ExternalOrigin): Promise<Session> {
  const source = sourceOf(origin)
  const hook = origin.kind === 'hook' ? origin : undefined
  const { scope, scopeKey, agent, kind, displayKey, chatType } = routeOf(source, hook?.agent)
  const place = hook?.deliverTo ? { deliver_to: formatAddress(hook.deliverTo) } : {}
  const metadata = hook ? { hook: hook.name, ...place } : {}
  const draft = { id: toSessionId(displayKey), scope, scopeKey, agentId: agent, kind, displayKey, chatType }
  return write(
    async (tx) =>
      (await tx.sessions.current(scopeKey)) ?? startSession(tx, { ...draft, source, metadata }, { at: clock.now() }),
  )
}

/** Returns the source; nobody can answer a question behind a hook (S47). */
function sourceOf(origin: ExternalOrigin): SessionSource {
  const { kind, id } = origin
  const form = kind === 'hook' ? /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/ : /^[a-z0-9][a-z0-9._-]{0,63}$/
  if (!form.test(id)) {
    const wanted = kind === 'hook' ? 'a UUID' : 'up to 64 of a-z 0-9 . _ -'
    throw new ParleyError('invalid', `"${id}" is no id of a ${kind}; write ${wanted}.`)
  }
  return { kind, interactive: kind === 'node', triggerId: id, triggerType: 'request' }
}
