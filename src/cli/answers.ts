import type { SessionEvent } from '../core/event.ts'
import type { ForgetReceipt } from '../core/forgetting.ts'
import type { Usage } from '../core/model.ts'
import type { AdmissionReport } from '../core/operate-admissions.ts'
import type { ApprovalReport } from '../core/operate-approvals.ts'
import type { ArchivedFile, ArchivedSession, ArchivePage } from '../core/operate-archives.ts'
import type { BudgetReport } from '../core/operate-budgets.ts'
import type { ReloadReport } from '../core/operate-config.ts'
import type { RetentionLimit, RetentionReport } from '../core/operate-forgetting.ts'
import type { MemoryReport } from '../core/operate-memory.ts'
import type { RestorationReport, UnansweredMessage } from '../core/operate-outbox.ts'
import type { LinkedId, PeopleReport, PersonReport } from '../core/operate-people.ts'
import type { ScheduleSummary, StartedRun } from '../core/operate-schedules.ts'
import type {
  ListedSession,
  PostAnswer,
  SessionDetail,
  SessionEventReport,
  SessionHistory,
  SessionList,
  SessionSummary,
} from '../core/operate-sessions.ts'
import type { TokenReport } from '../core/operate-tokens.ts'
import type { ChannelStatus, ListedDelivery, StatusReport, WhyReport, WhyStep } from '../core/operator.ts'
import type { Relocation } from '../core/relocation.ts'
import { SETTING_NAMES, type SettingValue } from '../core/session-settings.ts'
import type { Spending } from '../core/spending.ts'

/** Returns true if a value is an answer that this program can show. It checks only the fields that are shown. */
export type AnswerCheck<Value> = (value: unknown) => value is Value

const text = (value: unknown): value is string => typeof value === 'string'
const flag = (value: unknown): value is boolean => typeof value === 'boolean'
const count = (value: unknown): value is number => Number.isFinite(value)
/** The latest moment that a `Date` can hold. */
const time = (value: unknown): value is number => count(value) && Math.abs(value) <= 8.64e15
const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined

function list<Value>(one: AnswerCheck<Value>): AnswerCheck<readonly Value[]> {
  return (value): value is readonly Value[] => Array.isArray(value) && value.every(one)
}

function optional<Value>(one: AnswerCheck<Value>): AnswerCheck<Value | undefined> {
  return (value): value is Value | undefined => value === undefined || one(value)
}

function record<Value>(one: AnswerCheck<Value>): AnswerCheck<Readonly<Record<string, Value>>> {
  return (value): value is Readonly<Record<string, Value>> => {
    const fields = fieldsOf(value)
    return fields !== undefined && Object.values(fields).every(one)
  }
}

function object<Value>(shown: { readonly [Name in keyof Value]?: AnswerCheck<unknown> }): AnswerCheck<Value> {
  const checks = Object.entries<AnswerCheck<unknown> | undefined>(shown)
  return (value): value is Value => {
    const fields = fieldsOf(value)
    return fields !== undefined && checks.every(([name, check]) => check?.(fields[name]) ?? true)
  }
}

export const health = object<{ readonly status: string }>({ status: text })
export const deleted = object<{ readonly deleted: boolean }>({ deleted: flag })
export const revoked = object<{ readonly revoked: boolean }>({ revoked: flag })
export const recorded = object<{ readonly recorded: boolean }>({ recorded: flag })
export const archivedFile = object<ArchivedFile>({ media: text, base64: text })
const RELOCATED = object<Relocation & Record<'audience' | 'key' | 'to', unknown>>({ session: text, state: text })

export function relocation(value: unknown): value is Relocation {
  if (!RELOCATED(value)) return false
  const { state, audience, key, to } = value
  return state === 'asks' ? text(audience) && text(to) : state === 'done' && text(key)
}

export const texts = list(text)
export const slots = list(time)

const listed = object<ListedDelivery>({
  id: text,
  address: text,
  title: optional(text),
  state: text,
  reason: optional(text),
  traceId: text,
})

const limit = { rule: text, days: count, reportedAt: optional(time), startsAt: optional(time) }

export const status = object<StatusReport>({
  version: text,
  startedAt: optional(time),
  channels: list(
    object<ChannelStatus>({
      channel: text,
      account: text,
      status: text,
      detail: optional(text),
      username: optional(text),
      receives: optional(text),
      lastProofAt: optional(time),
      hints: texts,
      unknown: record(count),
    }),
  ),
  ownerKnown: flag,
  claimLinks: texts,
  models: texts,
  botsHeld: texts,
  sessions: count,
  runningTurns: count,
  waiting: count,
  spentToday: optional(
    object<Spending>({
      turns: count,
      usage: object<Usage>({ input: count, output: count, cacheRead: optional(count), cacheWrite: optional(count) }),
    }),
  ),
  budgets: optional(list(object<BudgetReport>({ words: text, payer: text, period: text, resetsAt: time }))),
  retention: optional(list(object<RetentionLimit>(limit))),
  restored: optional(
    object<NonNullable<StatusReport['restored']>>({ at: time, lastAt: time, state: text, held: count }),
  ),
  outbox: record(count),
  uncertain: list(listed),
  undelivered: list(listed),
})

export const restoration = object<RestorationReport>({
  at: time,
  lastAt: time,
  state: text,
  held: count,
  unanswered: list(object<UnansweredMessage>({ inboxId: text, address: text, title: optional(text), sentAt: time })),
})
export const restorations = list(restoration)

export const why = list(
  object<WhyReport>({
    summary: optional(text),
    inboxId: text,
    traceId: text,
    receivedAt: time,
    event: text,
    messageId: optional(text),
    address: text,
    title: optional(text),
    sender: object<WhyReport['sender']>({ id: text, name: optional(text) }),
    decision: text,
    reason: text,
    steps: list(object<WhyStep>({ stage: text, verdict: text, because: text, config: optional(text) })),
    session: optional(text),
    turn: optional(text),
    outcome: text,
    deliveries: list(
      object<WhyReport['deliveries'][number]>({ state: text, messageId: optional(text), reason: optional(text) }),
    ),
  }),
)

const SUMMARY = {
  id: text,
  key: text,
  title: optional(text),
  status: text,
  createdAt: time,
  updatedAt: time,
  messages: count,
  turns: count,
  description: text,
  preview: text,
}
const events = list(object<SessionEventReport>({ seq: count, at: time, type: text, text }))

const summary = object<ListedSession>({ ...SUMMARY, children: optional(list(object<SessionSummary>(SUMMARY))) })
export const sessions = object<SessionList>({ sessions: list(summary), total: count })
const settingValue = (value: unknown): value is SettingValue => text(value) || count(value)
const SETTINGS = Object.fromEntries(SETTING_NAMES.map((name) => [name, optional(settingValue)]))

export const session = object<SessionDetail>({
  ...SUMMARY,
  kind: text,
  agent: text,
  scopeKey: text,
  metadata: record(text),
  aliases: texts,
  participants: texts,
  ...SETTINGS,
  lastTo: optional(text),
  events,
})
export const history = object<SessionHistory>({ session: text, events, total: count, before: optional(count) })

export const archivePage = object<ArchivePage>({
  session: object<ArchivedSession>({
    id: text,
    displayKey: text,
    agentId: text,
    chatType: text,
    description: text,
    createdAt: time,
    lastSeq: count,
  }),
  events: list(object<SessionEvent>({ seq: count, at: time, type: text })),
})

const POSTED = object<PostAnswer & Record<'reply' | 'error', unknown>>({ runId: text, traceId: text, session: text })

export function posted(value: unknown): value is PostAnswer {
  if (!POSTED(value)) return false
  const { status, reply, error } = value
  if (status === 'ok') return text(reply)
  return status === 'error' ? text(error) : ['stored', 'accepted', 'timeout'].includes(status)
}

const TOKEN = {
  ...{ id: text, namespace: optional(text), scopes: texts, label: text, createdAt: time },
  ...{ expiresAt: optional(time), usedAt: optional(time), revokedAt: optional(time) },
}
export const tokens = list(object<TokenReport>(TOKEN))
export const newToken = object<TokenReport & { readonly token: string }>({ ...TOKEN, token: text })

export const schedules = list(
  object<ScheduleSummary>({
    id: text,
    cron: text,
    timezone: text,
    deliverTo: text,
    deliverTitle: optional(text),
    paused: flag,
    nextAt: optional(time),
    last: optional(
      object<NonNullable<ScheduleSummary['last']>>({ slotAt: time, state: text, outcome: optional(text) }),
    ),
  }),
)
export const startedRun = object<StartedRun>({ slotAt: time, traceId: text })

export const reload = object<ReloadReport>({
  wider: texts,
  narrower: texts,
  other: texts,
  warnings: texts,
  later: texts,
})

export const admission = object<AdmissionReport>({
  code: text,
  key: text,
  name: text,
  state: text,
  askedAt: time,
  toldAt: optional(time),
  decidedAt: optional(time),
  decidedBy: optional(text),
  ruledBy: optional(text),
})
export const admissions = list(admission)

export const approval = object<ApprovalReport>({
  code: text,
  tool: text,
  args: text,
  session: text,
  askedAt: time,
  state: text,
  late: flag,
  decidedBy: optional(text),
})
export const approvals = list(approval)

export const memory = object<MemoryReport>({
  no: count,
  text,
  agent: text,
  session: text,
  title: text,
  authors: texts,
  by: text,
  at: time,
})
export const memories = list(memory)

export const linked = object<LinkedId>({ person: text, id: text })
const ID = object<PersonReport['ids'][number]>({ id: text, from: text, overruledBy: optional(text) })
export const people = object<PeopleReport>({
  people: list(object<PersonReport>({ name: text, role: text, ids: list(ID) })),
  changes: list(object<PeopleReport['changes'][number]>({ at: time, kind: text, person: text, id: text, by: text })),
})

export const receipt = object<ForgetReceipt>({
  ...{ id: text, state: text, counts: record(count), platforms: record(text) },
  ...{ backups: list(text), exports: list(text) },
})
export const retention = list(object<RetentionReport>({ ...limit, sessions: count, events: count }))
