import type { LastBackup } from '../../core/backup.ts'
import type { Amount, Limit } from '../../core/budget.ts'
import type { McpServerReport, McpTrouble } from '../../core/mcp.ts'
import type { Usage } from '../../core/model.ts'
import type { BudgetReport } from '../../core/operate-budgets.ts'
import type { RetentionLimit } from '../../core/operate-forgetting.ts'
import type {
  ChannelStatus,
  ListedDelivery,
  ModelServerReport,
  ModelTrouble,
  ServerTrouble,
} from '../../core/operate-parts.ts'
import type { ClaimWay, LastMessage, StatusReport } from '../../core/operator.ts'
import type { Spending } from '../../core/spending.ts'
import { restored } from './outbox.ts'
import { always, count, flag, list, maybe, object, oneOf, record, text, texts, time } from './shape.ts'

export const health = object<{ readonly status: string }>({ status: text })

export const usage = object<Usage>(
  { input: count, output: count, cacheRead: maybe(count), cacheWrite: maybe(count) },
  'Usage',
)
/** The fields of an age limit. */
export const retentionLimit = { rule: text, days: count, reportedAt: maybe(time), startsAt: maybe(time) }

export const channel = object<ChannelStatus>(
  {
    channel: text,
    account: text,
    status: oneOf({ starting: true, up: true, down: true }),
    detail: maybe(text),
    username: maybe(text),
    receives: maybe(text),
    lastProofAt: maybe(time),
    lastTrouble: maybe(object<NonNullable<ChannelStatus['lastTrouble']>>({ detail: text, at: time })),
    hints: texts,
    unknown: record(count),
  },
  'Channel',
)
export const trouble = object<ModelTrouble>(
  { model: text, at: time, code: text, cause: text, remedy: text },
  'ModelTrouble',
)
const modelServer = object<ModelServerReport>(
  {
    name: text,
    kind: maybe(text),
    host: maybe(text),
    agents: texts,
    learnt: list(object<ModelServerReport['learnt'][number]>({ model: text, traits: texts })),
    troubles: list(object<ServerTrouble>({ models: texts, at: time, code: text, cause: text, remedy: text })),
  },
  'ModelServer',
)
export const toolServer = object<McpServerReport>(
  {
    server: text,
    agents: texts,
    status: oneOf({ unused: true, starting: true, up: true, down: true }),
    tools: maybe(count),
    lastTrouble: maybe(object<McpTrouble>({ detail: text, at: time, printed: maybe(texts) })),
    changed: maybe(always),
    wantsLogin: maybe(always),
  },
  'ToolServer',
)
export const budget = object<BudgetReport>(
  {
    words: text,
    payer: text,
    period: oneOf({ day: true, month: true, session: true }),
    used: object<Amount>({ tokens: count, micros: count }),
    limit: object<Limit>({ tokens: maybe(count), micros: maybe(count) }),
    resetsAt: time,
  },
  'Budget',
)
/** The fields of a delivery in every list. */
export const listed = { id: text, address: text, title: maybe(text), state: text, reason: maybe(text), traceId: text }
const delivery = object<ListedDelivery>(listed, 'ListedDelivery')

const lastMessage = object<LastMessage>({ at: time, address: text, title: maybe(text) }, 'LastMessage')

export const status = object<StatusReport>(
  {
    version: text,
    startedAt: maybe(time),
    channels: list(channel),
    ownerKnown: flag,
    claims: list(object<ClaimWay>({ channel: text, account: text, username: text, command: text, link: maybe(text) })),
    models: texts,
    modelServers: maybe(list(modelServer)),
    toolServers: maybe(list(toolServer)),
    botsHeld: texts,
    sessions: count,
    runningTurns: count,
    waiting: count,
    restored: maybe(object<NonNullable<StatusReport['restored']>>(restored)),
    spentToday: maybe(object<Spending>({ turns: count, usage })),
    budgets: maybe(list(budget)),
    retention: maybe(list(object<RetentionLimit>(retentionLimit, 'RetentionLimit'))),
    lastIn: maybe(lastMessage),
    lastOut: maybe(lastMessage),
    backup: maybe(
      object<LastBackup>({
        ...{ at: maybe(time), path: maybe(text), bytes: maybe(count), there: maybe(flag) },
        ...{ failedAt: maybe(time), reason: maybe(text) },
      }),
    ),
    outbox: record(count),
    uncertain: list(delivery),
    undelivered: list(delivery),
  },
  'Status',
)
