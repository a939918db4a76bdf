import type { AgentReport, DeliveryPage, DeliveryReport } from '../../core/operate-parts.ts'
import { count, list, maybe, object, text, texts } from './shape.ts'
import { budget, channel, listed, toolServer, trouble } from './status.ts'

export const channels = list(channel)
export const agents = list(
  object<AgentReport>({ id: text, model: text, fallback: texts, tools: texts, troubles: list(trouble) }, 'Agent'),
)
export const toolServers = list(toolServer)
export const budgets = list(budget)

export const delivery = object<DeliveryReport>(
  { ...listed, class: text, session: maybe(text), attempt: count, messageId: maybe(text) },
  'Delivery',
)
export const deliveries = object<DeliveryPage>({ deliveries: list(delivery), next: maybe(text) }, 'DeliveryPage')
