import { z } from '@hono/zod-openapi'

const text = z.string('must be a text')
const OBJECT = 'must be an object'

/** A part of a message. Those of types that OpenAI's clients do not send are taken: a history may have any. */
const part = z.looseObject({ type: text.optional() }, OBJECT)
/** The parts that have words or a file. */
const known = {
  text: z.object({ text }),
  image_url: z.object({ image_url: z.union([text, z.object({ url: text })], 'must have a url') }),
  file: z.object({ file: z.object({ file_data: text, filename: text.nullish() }, OBJECT) }),
}
const content = z.union(
  [text, z.array(z.union([text, part], 'must be a part or a text'))],
  'must be a text or a list of parts',
)

/**
 * The words of a message are checked one by one, so that an error names its place. A history may have tools of other
 * models: whatever else a message has, such as `name` or `reasoning_content`, is let be.
 */
const message = z.object(
  {
    role: z.enum(['system', 'developer', 'user', 'assistant', 'tool', 'function'], {
      error: 'must be system, developer, user, assistant, tool or function',
    }),
    ...{ content: z.unknown().optional(), refusal: z.unknown().optional(), audio: z.unknown().optional() },
    ...{ name: z.unknown().optional(), tool_call_id: z.unknown().optional() },
    ...{ tool_calls: z.unknown().optional(), function_call: z.unknown().optional() },
  },
  OBJECT,
)

/** Empty is as good as absent: some clients always send the field. */
const nothing = (why: string) =>
  z.union([z.null(), z.tuple([]), z.literal(''), z.literal(false), z.literal(0)], why).optional()

/** Many clients always send their tools, and an answer that calls none of them is one that the API allows. */
const notOffered = z.unknown().describe('Taken, and not offered to the agent, which has tools of its own.').optional()

const FORCED =
  'must not make an agent call a tool of the client, which it is not offered: leave it out, or set it to auto'
const FREE: ReadonlySet<unknown> = new Set([undefined, null, '', 'none', 'auto'])

/** True for what leaves it to the agent whether it calls a tool of the client. */
function isFree(choice: unknown): boolean {
  if (typeof choice !== 'object' || choice === null) return FREE.has(choice)
  const { type, allowed_tools: allowed } = choice as { readonly [field: string]: unknown }
  return type === 'allowed_tools' ? FREE.has(Object(allowed).mode) : Object.keys(choice).length === 0
}

const unforced = z
  .unknown()
  .refine(isFree, FORCED)
  .describe('"auto", "none", or allowed tools of such a mode: an answer calls no tool of the client.')
  .optional()

/**
 * The body of a chat completion. Fields whose effect a client relies on are refused by name where an agent cannot
 * honour them. Whatever else clients send, such as `temperature`, `stop` and `max_tokens: -1`, is not looked at: other
 * servers have other bounds for it, and an agent does not use it. It is not copied either: a body may have 20 MB of
 * names.
 */
export const chatBody = z.object({
  model: text.min(1, 'must name an agent'),
  messages: z.array(message, 'must be a list').min(1, 'must have a message'),
  stream: z.boolean('must be true or false').nullish(),
  stream_options: z.object({ include_usage: z.boolean('must be true or false').nullish() }, OBJECT).nullish(),
  /** Whatever a client puts there: it names a person where the token has one of that id, and is no mistake else. */
  user: z.unknown().optional(),
  metadata: z.unknown().optional(),
  n: z.literal(1, 'must be 1: there is one answer').nullish(),
  tools: notOffered,
  functions: notOffered,
  tool_choice: unforced,
  function_call: unforced,
  response_format: z
    .looseObject({ type: z.literal('text', 'must be text: an agent writes as its prompt says') }, OBJECT)
    .nullish(),
  logprobs: nothing('is not known here'),
  top_logprobs: nothing('is not known here'),
  audio: nothing('is not given here'),
  modalities: z.array(z.literal('text', 'must be text alone'), 'must be a list').nullish(),
})

export type ChatBody = z.infer<typeof chatBody>
export const chatContent = content
export const chatPart = known
