import type { AccountId, AgentId } from '../../core/ids.ts'
import type { CheckpointOutcome } from '../../core/memory.ts'
import type {
  CancelAnswer,
  CreatedSession,
  EventFile,
  ListedSession,
  PostAnswer,
  SessionDetail,
  SessionEventReport,
  SessionHistory,
  SessionList,
  SessionSummary,
} from '../../core/operate-sessions.ts'
import type { Dimension, SessionScope, SessionSource } from '../../core/session.ts'
import { SETTING_NAMES, type SettingName, type SettingValue } from '../../core/session-settings.ts'
import type { TurnStop } from '../../core/turn-end.ts'
import type { FileScope, Workplace } from '../../core/workplace.ts'
import {
  always,
  count,
  either,
  flag,
  id,
  list,
  maybe,
  object,
  oneOf,
  only,
  record,
  type Shape,
  text,
  texts,
  time,
} from './shape.ts'
import { usage } from './status.ts'

const fields = {
  id: text,
  key: text,
  title: maybe(text),
  kind: text,
  status: oneOf<SessionSummary['status']>({ idle: true, running: true, awaiting_approval: true, inactive: true }),
  agent: text,
  createdAt: time,
  updatedAt: time,
  messages: count,
  turns: count,
  description: text,
  preview: text,
}
const summary = object<SessionSummary>(fields, 'SessionSummary')

export const sessions = object<SessionList>(
  {
    sessions: list(object<ListedSession>({ ...fields, children: maybe(list(summary)) }, 'ListedSession')),
    total: count,
    next: maybe(text),
  },
  'SessionList',
)

const stopReason = oneOf<TurnStop>({ stop: true, length: true, content_filter: true, error: true, aborted: true })

const event = object<SessionEventReport>(
  {
    seq: count,
    at: time,
    type: text,
    turn: maybe(text),
    text,
    stopReason: maybe(stopReason),
    model: maybe(text),
    usage: maybe(usage),
    calls: maybe(
      list(object<NonNullable<SessionEventReport['calls']>[number]>({ tool: text, arguments: text }, 'SessionCall')),
    ),
    files: maybe(
      list(
        object<EventFile>(
          { media: maybe(text), mime: maybe(text), name: maybe(text), size: maybe(count) },
          'EventFile',
        ),
      ),
    ),
    synthetic: maybe(always),
    summary: maybe(always),
  },
  'SessionEventReport',
)

const dimension = oneOf<Dimension>({ space: true, chat: true, topic: true, sender: true })

export const scope = object<SessionScope>(
  {
    version: only(1),
    agent: id<AgentId>(),
    channel: text,
    account: id<AccountId>(),
    dimensions: list(dimension),
    values: object<SessionScope['values']>({
      space: maybe(text),
      chat: maybe(text),
      topic: maybe(text),
      sender: maybe(text),
    }),
  },
  'SessionScope',
)

export const source = object<SessionSource>(
  {
    kind: oneOf({
      ...{ channel: true, schedule: true, cli: true, web: true, api: true, hook: true, node: true, task: true },
    }),
    interactive: flag,
    platform: maybe(text),
    triggerId: maybe(text),
    triggerType: maybe(text),
  },
  'SessionSource',
)

export const settingValue: Shape<SettingValue> = either(text, count)
const workplace = object<Workplace>(
  {
    workingFolder: maybe(text),
    fileScope: oneOf<FileScope>({ sandboxed: true, workspace: true, full: true }),
    activeFile: maybe(text),
    selection: maybe(text),
    gitReference: maybe(text),
  },
  'Workplace',
)

/** A setting that is new in `core/session-settings.ts` is here too. */
const settings = Object.fromEntries(SETTING_NAMES.map((name) => [name, maybe(settingValue)])) as Readonly<
  Record<SettingName, ReturnType<typeof maybe<SettingValue>>>
>

const detail = {
  ...fields,
  ...settings,
  scopeKey: text,
  scope,
  source,
  metadata: record(text),
  parent: maybe(text),
  workspace: maybe(text),
  workplace: maybe(workplace),
  exportedAt: maybe(time),
  endedAt: maybe(time),
  aliases: texts,
  participants: texts,
  systemSent: maybe(flag),
  abortedLastRun: maybe(flag),
  lastChannel: maybe(text),
  lastTo: maybe(text),
  events: list(event),
}
export const session = object<SessionDetail>(detail, 'Session')
export const createdSession = object<CreatedSession>({ ...detail, uuid: text }, 'CreatedSession')

export const history = object<SessionHistory>(
  { session: text, events: list(event), total: count, before: maybe(count) },
  'SessionHistory',
)
export const cancelAnswer = object<CancelAnswer>({ session: text, stopped: flag, dropped: count }, 'CancelAnswer')
export const checkpointOutcome: Shape<CheckpointOutcome> = either(
  object<CheckpointOutcome & { readonly kind: 'done' }>({
    ...{ kind: only('done'), saved: count, changed: count, removed: count },
  }),
  object<CheckpointOutcome & { readonly kind: 'nothing' | 'running' }>({
    kind: either(only('nothing'), only('running')),
  }),
).meta({ id: 'CheckpointOutcome' })
export const sessionDeleted = object<{ readonly deleted: boolean }>({ deleted: flag })

const run = { runId: text, traceId: text, session: text }
export const posted: Shape<PostAnswer> = either(
  object<PostAnswer & { readonly status: 'ok' }>({ ...run, status: only('ok'), reply: text }),
  object<PostAnswer & { readonly status: 'error' }>({ ...run, status: only('error'), error: text }),
  object<PostAnswer & { readonly status: 'stored' | 'accepted' | 'timeout' }>({
    ...run,
    status: either(only('stored'), only('accepted'), only('timeout')),
  }),
).meta({ id: 'PostAnswer' })
