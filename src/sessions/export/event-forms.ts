import * as z from 'zod'
import { addressNamed } from '../../core/address.ts'
import type { EventType } from '../../core/event.ts'
import { isMediaId } from '../../core/ids.ts'
import { isStorable } from '../../core/opaque.ts'
import { FILE_SCOPES } from '../../core/workplace.ts'

/**
 * The forms of events that came from elsewhere, as far as anything here relies on them: an event of another form would
 * end every prompt of its session. Fields that nobody here knows stay, for they may be those of a later version.
 */
const text = z.string()
const flag = z.boolean().optional()
const count = z.number().int().nonnegative()
/** The latest time that a calendar has, in ms since the epoch. */
export const LATEST_MS = 8_640_000_000_000_000
const time = count.max(LATEST_MS)
const usage = z.looseObject({ input: count, output: count, cacheRead: count.optional(), cacheWrite: count.optional() })
const sender = z.looseObject({
  id: text,
  kind: z.enum(['user', 'bot', 'anonymous']),
  displayName: text.optional(),
  username: text.optional(),
  team: text.optional(),
})
/** Whatever looks for words in a log reads where each was said: one place that is none would end every search. */
const chat = text.refine((value) => addressNamed(value) !== undefined)
const name = { messageId: text.optional(), chat: chat.optional() }
const media = z.looseObject({
  type: z.enum(['image', 'file']),
  media: z.custom(isMediaId),
  mime: text,
  size: count,
  name: text.optional(),
})
const content = z.array(z.union([z.looseObject({ type: z.literal('text'), text }), media]))
const reading = {
  ref: text,
  media: media.optional(),
  text: text.optional(),
  spoken: text.optional(),
  cut: text.optional(),
  note: text.optional(),
  unread: text.optional(),
}
const said = z.looseObject({
  ...name,
  text,
  raw: text.optional(),
  sender,
  own: flag,
  owner: z.boolean(),
  addressed: z.boolean(),
  triggers: z.boolean(),
  row: text.optional(),
  refused: flag,
  quoted: z
    .looseObject({
      ...{ messageId: text, text: text.optional(), sender: sender.optional(), own: z.boolean() },
      ...{ saidIn: text.optional(), sentAt: time.optional(), mixed: flag },
    })
    .optional(),
  forwarded: z.looseObject({ from: sender.optional(), name: text.optional(), text: text.optional() }).optional(),
  via: sender.optional(),
  attachments: z
    .array(z.looseObject({ ...reading, kind: text.optional(), fileName: text.optional(), about: text.optional() }))
    .optional(),
  enclosed: z.array(text).optional(),
  mentions: z.array(z.looseObject({ kind: text, name: text.optional(), username: text.optional() })).optional(),
  place: text.optional(),
  source: z.object({ session: text, seq: count }).optional(),
  from: z.union([z.looseObject({ hook: text }), z.looseObject({ session: text })]).optional(),
  addresses: z.array(text).optional(),
  data: text.optional(),
})
const taken = { messages: count.optional(), rows: z.array(text).optional() }
const answered = { text, model: text, usage, unseen: flag }
/** A server gives each call an id, or this store does: without one no provider takes the call in a later request. */
const callId = text.min(1)
const call = { callId, tool: text, args: z.unknown() }
/** The turn of an imported step is over, so no model is sent them; they are as large as those of this store at most. */
const opaque = z.looseObject({ model: text, tokens: count, data: z.unknown() }).refine(isStorable)
const names = z.array(z.looseObject(name))
const workplace = z.looseObject({
  ...{ fileScope: z.enum(FILE_SCOPES), workingFolder: text.optional(), activeFile: text.optional() },
  ...{ selection: text.optional(), gitReference: text.optional() },
})

const FORMS: Readonly<Record<EventType, z.ZodType>> = {
  session_started: z.looseObject({
    ...{ agent: text, context: z.record(text, text).optional(), workspace: text.optional() },
    workplace: workplace.optional(),
  }),
  agent_updated: z.looseObject({ changed: z.array(text) }),
  user_message: said,
  message_edited: said,
  message_deleted: z.looseObject(name),
  turn_started: z.looseObject({ ...taken, traceId: text }),
  turn_resumed: z.looseObject({ attempt: count }),
  thread_read: z.looseObject({
    messages: z.array(said),
    leftOut: count,
    more: flag,
    channel: flag,
    failed: text.optional(),
  }),
  files_read: z.looseObject({ files: z.array(z.looseObject(reading)) }),
  turn_steered: z.looseObject(taken),
  messages_dropped: z.looseObject(taken),
  assistant_step: z.looseObject({ ...answered, calls: z.array(z.looseObject(call)), opaque: opaque.optional() }),
  tool_call: z.looseObject({ ...call, class: z.enum(['pure', 'keyed', 'once']) }),
  tool_result: z.looseObject({
    ...{ callId, tool: text, content, isError: z.boolean(), denied: flag, foreign: flag },
    authors: z.array(text).optional(),
  }),
  approval_requested: z.looseObject({ ...call, code: text }),
  approval_decided: z.looseObject({ code: text, state: z.enum(['allowed', 'denied']), by: text }),
  assistant_message: z.looseObject(answered),
  turn_completed: z.looseObject({
    ...{ outcome: z.enum(['answered', 'silent', 'failed']), usage, steps: count, error: text.optional() },
    ...{ partial: text.optional(), model: text.optional(), cut: flag, unasked: flag },
  }),
  turn_cancelled: z.looseObject({ reason: text }),
  assistant_posted: z.looseObject({
    ...{ text, from: text.optional(), script: text.optional(), traceId: text, messageId: text.optional() },
  }),
  delivery_failed: z.looseObject({ to: text, state: z.enum(['rejected', 'given_up', 'expired']), reason: text, text }),
  delivery_retried: z.looseObject({ to: text, text }),
  history_taken_over: z.looseObject({ from: text, events: count }),
  history_boundary: z.union([
    z.looseObject({ kind: z.literal('truncated'), turns: count }),
    z.looseObject({ kind: z.literal('compacted') }),
    z.looseObject({
      kind: z.literal('replaced'),
      exchanges: z.array(z.looseObject({ user: text, assistant: text })),
    }),
  ]),
  context_compacted: z.looseObject({ text, model: text, usage, turns: count, back: count }),
  exchange_taken_back: z.looseObject({ turn: text, messages: names, command: text, again: flag }),
  words_forgotten: z.looseObject({ by: text, events: count }),
  session_exported: z.looseObject({ format: text, path: text.optional() }),
  checkpoint_written: z.looseObject({
    ...{ reason: text, model: text, usage, back: count, entries: z.array(count) },
    ...{ working: text.optional(), sources: names.optional() },
  }),
}

const EVENT = z.looseObject({
  at: time,
  turnId: text.max(100).optional(),
  forgotten: z.literal(true).optional(),
  data: z.unknown(),
})

/**
 * Returns where an event of this type has another form than its type, as `: calls.0.callId`, empty for the whole;
 * undefined for one that has its form.
 */
export function mistakeIn(type: EventType, value: unknown): string | undefined {
  const event = EVENT.safeParse(value)
  const read = event.success ? FORMS[type].safeParse(event.data.data) : event
  if (read.success) return undefined
  const path = read.error.issues[0]?.path.map((key) => (isName(key) ? key : '…')).join('.') ?? ''
  return path === '' ? '' : `: ${path}`
}

/** A file may have anything as a name. */
function isName(key: PropertyKey): key is string | number {
  return typeof key === 'number' || /^\w{1,40}$/.test(String(key))
}
