import type { Nodes } from '../../core/operate-nodes.ts'
import { checkRequest } from '../service/post-text.ts'
import { isOwner, noSuchSession } from '../service/session-access.ts'
import type { SessionService } from '../service/session-service.ts'
import { type ExternalRunDeps, ownSession } from './start-external-run.ts'

/** Returns the nodes: each has one session, and a post into it is one like any other (T34). */
export function createNodes(deps: ExternalRunDeps, sessions: Pick<SessionService, 'post'>): Nodes {
  return {
    async post(caller, id, request, left) {
      const name = `node-${id}`
      const own = caller.kind === 'token' && caller.namespace === name
      if (!own && !isOwner(caller)) throw noSuchSession(name)
      checkRequest(request)
      await ownSession(deps, { kind: 'node', id })
      return sessions.post(caller, name, own ? { ...request, sender: name } : request, { left })
    },
  }
}
