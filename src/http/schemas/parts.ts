import type { McpServerReport } from '../../core/mcp.ts'
import type { AgentReport, DeliveryPage, DeliveryReport } from '../../core/operate-parts.ts'
import { count, list, maybe, object, oneOf, text, texts, time } from './shape.ts'
import { budget, channel, listed, trouble } from './status.ts'

export const channels = list(channel)
export const agents = list(
  object<AgentReport>({ id: text, model: text, fallback: texts, tools: texts, troubles: list(trouble) }, 'Agent'),
)
export const toolServers = list(
  object<McpServerReport>(
    {
      server: text,
      agents: texts,
      status: oneOf({ unused: true, starting: true, up: true, down: true }),
      tools: maybe(count),
      lastTrouble: maybe(object<NonNullable<McpServerReport['lastTrouble']>>({ detail: text, at: time })),
    },
    'ToolServer',
  ),
)
export const budgets = list(budget)

export const delivery = object<DeliveryReport>(
  { ...listed, class: text, session: maybe(text), attempt: count, messageId: maybe(text) },
  'Delivery',
)
export const deliveries = object<DeliveryPage>({ deliveries: list(delivery), next: maybe(text) }, 'DeliveryPage')
