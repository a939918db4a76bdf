import type { ParleyClient } from '../client/client.ts'
import type { OperatorService } from '../core/operator.ts'

/** Returns the daemon that a client asks, as the commands know it. */
export function remoteOperator(client: ParleyClient): OperatorService {
  const {
    admission,
    agent,
    approval,
    archive,
    config,
    delivery,
    forgetting,
    mcp,
    memory,
    message,
    notification,
    outbox,
  } = client
  const { person, retention, schedule, session, status, token } = client
  return {
    status: status.show,
    ...message,
    sessions: {
      ...{ list: session.list, start: session.start, show: session.load, history: session.history },
      ...{ rename: session.rename, post: agent.prompt, create: session.create },
      ...{ cancel: session.cancel, checkpoint: session.checkpoint },
      patch: (name, changes) => session.patch(name, { ...(changes as object) }),
      setHistory: (name, boundary) => session.setHistory(name, { ...(boundary as object) }),
      delete: async (name) => void (await session.delete(name)),
    },
    archives: {
      ...archive,
      exported: async (name, record) => void (await archive.exported(name, record)),
    },
    tokens: {
      ...{ create: token.create, list: token.list },
      revoke: async (id) => (await token.revoke(id)).also ?? [],
    },
    schedules: schedule,
    notifications: notification,
    config,
    admissions: {
      list: admission.list,
      decide: (name, verdict) => admission[verdict](name),
    },
    approvals: {
      list: approval.list,
      decide: (code, verdict) => approval[verdict](code),
    },
    outbox: {
      restoration: async () => (await outbox.restoration())[0],
      decide: (verdict) => outbox[verdict](),
      ...{ retry: delivery.retry, drop: delivery.drop },
    },
    memory,
    parts: { toolServers: mcp.list },
    forgetting: { forget: forgetting.forget, retention: retention.list, runRetention: retention.run },
    people: person,
  }
}
