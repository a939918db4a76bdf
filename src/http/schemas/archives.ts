import * as z from 'zod'
import type { AgentProfile, Skill } from '../../core/agent-profile.ts'
import type { SessionEvent } from '../../core/event.ts'
import type { AgentId, MediaId, ScopeKey, SessionId } from '../../core/ids.ts'
import type { ArchivedFile, ArchivedSession, ArchivePage } from '../../core/operate-archives.ts'
import type { Relocation } from '../../core/relocation.ts'
import { SETTING_NAMES, type SessionOverrides } from '../../core/session-settings.ts'
import { scope, settingValue, source } from './sessions.ts'
import {
  count,
  either,
  flag,
  id,
  list,
  maybe,
  object,
  objectWith,
  oneOf,
  only,
  record,
  text,
  texts,
  time,
} from './shape.ts'

const level = oneOf<NonNullable<AgentProfile['thinking']>>({ off: true, low: true, medium: true, high: true })
const voice = oneOf<NonNullable<AgentProfile['voice']>>({ never: true, 'when-spoken-to': true, always: true })

const profile = object<AgentProfile>(
  {
    id: id<AgentId>(),
    model: text,
    fallback: maybe(texts),
    maxSteps: maybe(count),
    answerTokens: maybe(count),
    summaryModel: maybe(text),
    contextTokens: maybe(count),
    models: maybe(texts),
    thinking: maybe(level),
    voice: maybe(voice),
    prompt: text,
    tools: texts,
    skills: maybe(list(object<Skill>({ name: text, description: text, text }))),
  },
  'AgentProfile',
)

const session = object<ArchivedSession>(
  {
    id: id<SessionId>(),
    scopeKey: id<ScopeKey>(),
    scope,
    agentId: id<AgentId>(),
    kind: oneOf({ main: true, group: true, cron: true, hook: true, node: true, other: true }),
    displayKey: text,
    chatType: oneOf({ direct: true, group: true, channel: true }),
    source,
    metadata: record(text),
    agentProfile: maybe(profile),
    createdAt: time,
    description: text,
    descriptionSource: oneOf({ fallback: true, ai: true, user: true }),
    overrides: objectWith<SessionOverrides>(
      Object.fromEntries(SETTING_NAMES.map((name) => [name, settingValue.optional()])),
      'SessionOverrides',
    ),
    participants: texts,
    authors: texts,
    lastSeq: count,
  },
  'ArchivedSession',
)

/** An event as the log has it; `data` depends on its type, and holds whatever a model gave a tool. */
const event = objectWith<SessionEvent>(
  {
    seq: count,
    at: time,
    type: text,
    turnId: text.optional(),
    forgotten: flag.optional(),
    data: z.looseObject({}),
  },
  'SessionEvent',
)

export const archivePage = object<ArchivePage>({ session, events: list(event) }, 'ArchivePage')
export const archivedFile = object<ArchivedFile>({ media: id<MediaId>(), base64: text }, 'ArchivedFile')
export const exportRecorded = object<{ readonly recorded: boolean }>({ recorded: flag })

export const relocation: z.ZodType<Relocation, Relocation> = either(
  object<Extract<Relocation, { state: 'asks' }>>({
    state: only('asks'),
    session: id<SessionId>(),
    to: text,
    audience: text,
  }),
  object<Extract<Relocation, { state: 'done' }>>({
    state: only('done'),
    from: id<SessionId>(),
    session: id<SessionId>(),
    key: text,
    replaced: maybe(id<SessionId>()),
    agent: maybe(text),
  }),
).meta({ id: 'Relocation' })
