import * as z from 'zod'
import { DIMENSIONS, SESSION_KINDS } from '../../core/session.ts'
import { LATEST_MS } from './event-forms.ts'

/** A name stands in lists, in answers and on terminals: nothing in it moves a cursor or turns what follows around. */
const name = z
  .string()
  .min(1)
  .max(500)
  .regex(/^[^\p{Cc}\p{Cs}\p{Bidi_Control}]*$/u)
const text = z.string()

const scope = z.looseObject({
  version: z.literal(1),
  agent: name,
  channel: name,
  account: z.string().max(500),
  dimensions: z.array(z.enum(DIMENSIONS)),
  values: z.partialRecord(z.enum(DIMENSIONS), name),
})

const source = z.looseObject({
  kind: z.enum(['channel', 'schedule', 'cli', 'web', 'api', 'hook', 'node', 'task']),
  interactive: z.boolean(),
  platform: name.optional(),
  triggerId: text.optional(),
  triggerType: text.optional(),
})

const agentProfile = z.looseObject({ model: text, prompt: text, tools: z.array(text) })

/** The form of a session that came from another store. */
export const SESSION_FORM = z.looseObject({
  id: name.regex(/^[a-z][a-z0-9_-]*:./i),
  scopeKey: name,
  scope,
  agentId: name,
  kind: z.enum(SESSION_KINDS),
  displayKey: name,
  chatType: z.enum(['direct', 'group', 'channel']),
  source,
  metadata: z.record(text, text),
  agentProfile: agentProfile.optional(),
  createdAt: z.number().int().nonnegative().max(LATEST_MS),
  description: z.string().max(1_000),
  descriptionSource: z.enum(['fallback', 'ai', 'user']),
  overrides: z.record(text, z.union([text, z.number()])),
  participants: z.array(name),
  authors: z.array(name),
})
