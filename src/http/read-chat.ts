import type { z } from '@hono/zod-openapi'
import type { RequestId } from '../core/keyed-request.ts'
import {
  ChatRefused,
  type CompletionFile,
  type CompletionMessage,
  type CompletionRequest,
  MOST_CHAT_BYTES,
} from '../core/operate-chat.ts'
import { MOST_BODY_BYTES } from '../core/operator.ts'
import { readBody } from './read-body.ts'
import { type ChatBody, chatBody, chatContent } from './schemas/chat.ts'

/** A chat completion as it is asked for. */
export interface AskedChat {
  readonly request: CompletionRequest
  readonly stream: boolean
  /** The stream ends with what the answer has cost. */
  readonly usage: boolean
}

/** Far more than a conversation has that fits a model. */
const MOST_MESSAGES = 2_000

/** Reads the body of a chat completion. Throws `ChatRefused` with the field, `invalid` and `too_long`. */
export async function readChat(request: Parameters<typeof readBody>[0], once?: RequestId): Promise<AskedChat> {
  const { model, messages, stream, stream_options, user } = checked(chatBody, await readBody(request, MOST_CHAT_BYTES))
  if (messages.length > MOST_MESSAGES)
    throw new ChatRefused('invalid', `There may be ${MOST_MESSAGES} messages at most.`, { param: 'messages' })
  const said = messages.map(messageOf)
  const length = said.reduce((sum, { text }) => sum + text.length, 0)
  if (length > MOST_BODY_BYTES)
    throw new ChatRefused('too_long', `The texts may have ${MOST_BODY_BYTES} characters together.`, {
      param: 'messages',
    })
  return {
    request: { model, messages: said, user: user ?? undefined, once },
    stream: stream ?? false,
    usage: stream_options?.include_usage ?? false,
  }
}

/** The client's system is not ours: its words are those of whoever sends them. */
function messageOf({ role, content }: ChatBody['messages'][number], index: number): CompletionMessage {
  const at = `messages[${index}].content`
  // An assistant that has only called tools, or chosen to say nothing.
  const given = role === 'assistant' ? (content ?? '') : content
  const parts = checked(chatContent, given, at)
  const speaker = role === 'assistant' ? role : 'user'
  if (typeof parts === 'string') return { role: speaker, text: parts, files: [] }
  const texts = parts.flatMap((part) => (part.type === 'text' ? part.text : []))
  const files = parts.flatMap((part, place): CompletionFile[] => {
    switch (part.type) {
      case 'image_url': {
        const { image_url } = part
        return [fileOf(typeof image_url === 'string' ? image_url : image_url.url, `${at}[${place}].image_url`)]
      }
      case 'file': {
        const { file_data, filename } = part.file
        const name = filename ?? undefined
        return [{ ...fileOf(file_data, `${at}[${place}].file`), ...(name === undefined ? {} : { name }) }]
      }
      default:
        return []
    }
  })
  return { role: speaker, text: texts.join('\n'), files: speaker === 'assistant' ? [] : files }
}

const DATA = /^data:[^,]{0,200};base64$/
/** Three bytes in four characters. */
const BYTES_A_CHARACTER = 3 / 4

/** Nothing is fetched from an address: whoever wants a page looked at says so to the agent. */
function fileOf(url: string, param: string): CompletionFile {
  const comma = url.indexOf(',')
  const base64 = url.slice(comma + 1)
  const bytes = Buffer.from(DATA.test(url.slice(0, Math.max(comma, 0))) ? base64 : '', 'base64')
  // Characters of no base64 are passed over, and then bytes are missing.
  const whole = Math.floor(base64.replace(/={1,2}$/, '').length * BYTES_A_CHARACTER)
  if (bytes.length > 0 && bytes.length === whole) return { bytes }
  throw new ChatRefused('invalid', 'A file has to come inside, as data:<type>;base64,…', { param })
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, at = ''): z.infer<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = deepest(result.error.issues[0])
  const param = pathOf(at, issue?.path ?? [])
  throw new ChatRefused('invalid', `"${param}" ${issue?.message}`, { param })
}

type Issue = z.core.$ZodIssue

/** Returns the mistake that says most: that of the alternative which was begun. */
function deepest(issue: Issue | undefined): Issue | undefined {
  if (issue?.code !== 'invalid_union') return issue
  const inner = issue.errors.map(([first]) => deepest(first)).find((one) => one !== undefined && one.path.length > 0)
  return inner === undefined ? issue : { ...inner, path: [...issue.path, ...inner.path] }
}

function pathOf(at: string, path: readonly PropertyKey[]): string {
  let name = at
  for (const key of path) name += typeof key === 'number' ? `[${key}]` : `${name === '' ? '' : '.'}${String(key)}`
  return name
}
