import type { McpServerReport } from '../core/mcp.ts'
import type { BudgetReport } from '../core/operate-budgets.ts'
import type { NodePost } from '../core/operate-nodes.ts'
import type { NewNotification, NotificationReport } from '../core/operate-outbox.ts'
import type { AgentReport, ChannelStatus, DeliveryPage, DeliveryQuery, DeliveryReport } from '../core/operate-parts.ts'
import type { NewReminder, ScheduleSummary, StartedRun } from '../core/operate-schedules.ts'
import type { PostAnswer } from '../core/operate-sessions.ts'
import { at, type CallOperation } from './call.ts'
import { WAIT_SECONDS } from './session-operations.ts'

/** Returns the operations on the parts of a daemon, and those of a node. */
export function partOperations(call: CallOperation) {
  const get = <Answer>(operation: string, path: string, query = {}) =>
    call<Answer>(operation, { method: 'GET', path, query })
  const post = <Answer>(operation: string, path: string) => call<Answer>(operation, { method: 'POST', path })
  const remove = <Answer>(operation: string, path: string) => call<Answer>(operation, { method: 'DELETE', path })
  return {
    channel: { list: () => get<readonly ChannelStatus[]>('channel.list', '/v1/channels') },
    agent: { list: () => get<readonly AgentReport[]>('agent.list', '/v1/agents') },
    mcp: { list: () => get<readonly McpServerReport[]>('mcp.list', '/v1/mcp') },
    budget: {
      /** The fullest first; `limit` 1 to 200. */
      list: ({ limit }: { readonly limit?: number } = {}) =>
        get<readonly BudgetReport[]>('budget.list', '/v1/budgets', { limit }),
    },
    delivery: {
      /** Newest first; `limit` 1 to 200, behind the delivery `after`. */
      list: (query: Partial<DeliveryQuery> = {}) => get<DeliveryPage>('delivery.list', '/v1/deliveries', { ...query }),
      /** Sends one that did not arrive once more, with the rest of its message. */
      retry: async (id: string) => post<DeliveryReport>('delivery.retry', at`/v1/deliveries/${id}/retry`),
      /** Ends one that is owed still, or whose outcome is not known. */
      drop: async (id: string) => post<DeliveryReport>('delivery.drop', at`/v1/deliveries/${id}/drop`),
    },
    schedule: {
      list: () => get<readonly ScheduleSummary[]>('schedule.list', '/v1/schedules'),
      /** Says a text at its times, or has the agent carry it out: `every monday at 8 put the bins out`. */
      add: async (wanted: NewReminder) =>
        call<ScheduleSummary>('schedule.add', { method: 'POST', path: '/v1/schedules', body: wanted }),
      next: async (id: string, count?: number) =>
        get<readonly number[]>('schedule.next', at`/v1/schedules/${id}/next`, { count }),
      run: async (id: string) => post<StartedRun>('schedule.run', at`/v1/schedules/${id}/run`),
      pause: async (id: string) => post<ScheduleSummary>('schedule.pause', at`/v1/schedules/${id}/pause`),
      resume: async (id: string) => post<ScheduleSummary>('schedule.resume', at`/v1/schedules/${id}/resume`),
      remove: async (id: string) => remove<ScheduleSummary>('schedule.remove', at`/v1/schedules/${id}`),
    },
    notification: {
      /** Says a text in a chat, without a model, and waits for the outcome. */
      send: async (wanted: NewNotification) =>
        call<NotificationReport>('notification.send', {
          method: 'POST',
          path: '/v1/notifications',
          body: wanted,
          waitMs: (wanted.waitSeconds ?? WAIT_SECONDS) * 1000,
        }),
    },
    node: {
      /** Posts a text into the one session of a node and waits for the answer. */
      post: async (id: string, post: NodePost) =>
        call<PostAnswer>('node.post', {
          method: 'POST',
          path: at`/v1/nodes/${id}/messages`,
          body: post,
          waitMs: (post.waitSeconds ?? WAIT_SECONDS) * 1000,
        }),
    },
  }
}
