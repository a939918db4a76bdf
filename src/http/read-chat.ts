import { z } from '@hono/zod-openapi'
import type { HonoRequest } from 'hono'
import { cutText } from '../core/cut-text.ts'
import { DOORS } from '../core/doors.ts'
import {
  ChatRefused,
  type CompletionFile,
  type CompletionMessage,
  type CompletionRequest,
} from '../core/operate-chat.ts'
import type { RequestBody } from './read-body.ts'
import type { ApiEnv } from './route.ts'
import { type ChatBody, chatBody, chatContent, chatPart } from './schemas/chat.ts'

/** A chat completion as it is asked for. */
export interface AskedChat {
  readonly request: CompletionRequest
  readonly stream: boolean
  /** The stream ends with what the answer has cost. */
  readonly usage: boolean
}

interface Sent extends Pick<ApiEnv['Variables'], 'once'> {
  readonly body: Pick<RequestBody, 'object'>
}

/** Far more than a conversation has that fits a model. */
const MOST_MESSAGES = 2_000
const MOST_PARTS = 2_000
/** OpenAI takes as many pictures in one request. */
const MOST_FILES = 500
const MOST_CHARACTERS = DOORS.api.bytes

/** Reads the body of a chat completion. Throws `ChatRefused` with the field, `invalid` and `too_long`. */
export async function readChat(request: Pick<HonoRequest, 'header'>, { body: sent, once }: Sent): Promise<AskedChat> {
  const given = await sent.object()
  checkCount(given.messages, { most: MOST_MESSAGES, of: 'messages', param: 'messages' })
  const body = checked(chatBody, given)
  const { model, messages, stream, stream_options } = body
  const said = continued(saidIn(messages))
  const length = said.reduce((sum, { text }) => sum + text.length, 0)
  if (length > MOST_CHARACTERS)
    throw new ChatRefused('invalid', `The texts may have ${MOST_CHARACTERS} characters together.`, {
      ...{ param: 'messages', name: 'context_length_exceeded' },
    })
  checkCount(
    said.flatMap(({ files }) => files),
    { most: MOST_FILES, of: 'files', param: 'messages' },
  )
  return {
    request: {
      ...{ model, messages: said, once },
      user: speakerIn(headerIn(request, 'X-Parley-User'), body.user),
      session:
        headerIn(request, 'X-Parley-Task') === '' ? sessionIn(headerIn(request, IN_HEADER), body.metadata) : undefined,
    },
    stream: stream ?? false,
    usage: stream_options?.include_usage ?? false,
  }
}

/** Characters of the longest name that a client gives to a user or a conversation; what is longer is none. */
const LONGEST_ID = 256

/** Returns who asks. The header counts first: the operator wrote it, and the body is the client's habit. */
function speakerIn(header: string, user: unknown): string | undefined {
  const given = header || user
  return typeof given === 'string' && given.length <= LONGEST_ID ? given : undefined
}

/** Clients write a value that they do not have so. */
const MISSING: ReadonlySet<string> = new Set(['null', 'undefined'])

/** Returns the value of a header; empty for none. */
function headerIn(request: Pick<HonoRequest, 'header'>, name: string): string {
  const value = filled(request.header(name)?.trim() ?? '', name)
  return MISSING.has(value) ? '' : value
}

/** Unfilled, a placeholder would be every chat or nobody, and nobody would know why nothing is remembered. */
function filled(value: string, param: string): string {
  if (!value.includes('{{')) return value
  throw new ChatRefused('invalid', `${param} has a placeholder that the client does not fill: update the client.`, {
    param,
  })
}

const IN_HEADER = 'X-Parley-Session'
const IN_METADATA = 'metadata.session'
/** Ids that Open WebUI gives to chats which it does not keep itself, and to its channels. */
const UNKEPT = /^(?:temporary|local|channel):.*/s
/** A client that fills a template with the id of a chat that has none yet sends nothing, which is no name. */
const name = z.string('must be a text').nullish()

/** One part of a name, so that no session of a client reaches the names of another namespace. */
const SESSION = /^[a-z0-9][a-z0-9._-]{0,63}$/

/** Returns the conversation that a request names, by a header or in its body. */
function sessionIn(header: string, metadata: unknown): string | undefined {
  const given = checked(name, fieldOf(metadata, 'session'), IN_METADATA) ?? ''
  const [first, second] = [nameIn(header, IN_HEADER), nameIn(given, IN_METADATA)].filter((one) => one !== '')
  if (second === undefined || first === second) return first
  throw new ChatRefused('invalid', `"${IN_METADATA}" names another session than the header X-Parley-Session.`, {
    param: IN_METADATA,
  })
}

/** Returns the name of a session. Capital letters count as small ones: ids of chats have both. */
function nameIn(value: string, param: string): string {
  const named = value.length > LONGEST_ID ? value : filled(value.trim(), param).replace(UNKEPT, '').toLowerCase()
  if (named === '' || SESSION.test(named)) return named
  const words = 'The session is named by 1 to 64 letters, digits, ".", "_" or "-", a letter or digit first.'
  throw new ChatRefused('invalid', words, { param })
}

type Given = ChatBody['messages'][number]

/** Everything behind the last answer is new, and has to be whole. */
function saidIn(messages: readonly Given[]): readonly CompletionMessage[] {
  const last = messages.findLastIndex(isAgents)
  const calls = callsIn(messages)
  return messages.flatMap((message, index) =>
    isAgents(message) ? agentsOf(message, calls) : [ownOf(message, `messages[${index}].content`, index > last)],
  )
}

/** Asks for the rest of an answer. */
const GO_ON = 'Go on with your last answer from where it ends, without repeating any of it'
/** Characters of an unfinished answer that name its end: a session may have the whole of it. */
const TAIL = 200

/**
 * Returns the messages with words to answer at their end. A client that wants the rest of an answer sends what it has
 * of it; an empty one stands for the answer that it waits for.
 */
function continued(said: readonly CompletionMessage[]): readonly CompletionMessage[] {
  const end = said.findLastIndex(({ role, text }) => role === 'user' || text.trim() !== '')
  const whole = said.slice(0, end + 1)
  const last = whole.at(-1)
  if (last?.role !== 'assistant') return whole
  const text = `${GO_ON}: "…${last.text.trimEnd().slice(-TAIL)}"`
  return [...whole, { role: 'user', text, files: [] }]
}

/** The client's system is not ours: its words are those of whoever sends them. */
function ownOf({ content }: Given, at: string, isNew: boolean): CompletionMessage {
  checkCount(content, { most: MOST_PARTS, of: 'parts of a message', param: at })
  const parts = checked(chatContent, content, at)
  if (typeof parts === 'string') return { role: 'user', text: parts, files: [] }
  const read = parts.map((part, place) => partOf(part, `${at}[${place}]`, isNew))
  return {
    role: 'user',
    text: read.flatMap((one) => (typeof one === 'string' ? one : [])).join('\n'),
    files: read.flatMap((one) => (typeof one === 'object' ? one : [])),
  }
}

type Part = Exclude<z.infer<typeof chatContent>, string>[number]

/** Returns the words or the file of a part; undefined for thoughts, which no model is shown again. */
function partOf(part: Part, at: string, isNew: boolean): string | CompletionFile | undefined {
  if (typeof part === 'string') return part
  const { type, text, refusal } = part
  try {
    switch (type) {
      case 'text':
        return checked(chatPart.text, part, at).text
      case 'image_url': {
        const { image_url } = checked(chatPart.image_url, part, at)
        return fileOf(typeof image_url === 'string' ? image_url : image_url.url, `${at}.image_url`)
      }
      case 'file': {
        const { file_data, filename } = checked(chatPart.file, part, at).file
        const named = filename == null ? {} : { name: filename }
        return { ...fileOf(file_data, `${at}.file`), ...named }
      }
      default:
        if (THOUGHTS.has(type)) return undefined
        return [text, refusal].find((one) => typeof one === 'string') ?? notShown(type)
    }
  } catch (error) {
    // Nobody can mend the history of a client, which may have begun with another server.
    if (isNew) throw error
    return notShown(type)
  }
}

/** Types of parts that hold thoughts of another model. */
const THOUGHTS: ReadonlySet<unknown> = new Set(['reasoning', 'thinking', 'redacted_thinking'])
const LONGEST_NAME = 64

function notShown(type = 'without a type'): string {
  return `(a part of the message, ${cutText(type, LONGEST_NAME)}, is not shown here)`
}

function isAgents({ role }: Given): boolean {
  return role === 'assistant' || role === 'tool' || role === 'function'
}

/** Characters that are shown of the arguments of a call of another model, and of its result. */
const MOST_OF_CALL = 500
const MOST_OF_RESULT = 4_000

/** The calls of a history, by their ids, with what each gave as far as the history has it. */
type Calls = ReadonlyMap<unknown, string | undefined>

function callsIn(messages: readonly Given[]): Calls {
  const called = messages.flatMap(({ tool_calls }) => listOf(tool_calls)).map((call) => fieldOf(call, 'id'))
  const calls = new Map<unknown, string | undefined>(called.map((id) => [id, undefined]))
  for (const { role, tool_call_id: id, content } of messages)
    if (role === 'tool' && calls.has(id)) calls.set(id, wordsIn(content))
  return calls
}

/** Returns what an agent has said and called, each call as one line with its result: of it no message is left. */
function agentsOf(message: Given, calls: Calls): readonly CompletionMessage[] {
  const { role, content, refusal, audio, tool_calls, function_call } = message
  if (role === 'tool' && calls.has(message.tool_call_id)) return []
  if (role !== 'assistant') return [ofAgent(lineOf({ name: message.name }, wordsIn(content)))]
  const said = [content, refusal, fieldOf(audio, 'transcript')].map(wordsIn).find((words) => words !== '')
  const lines = [
    ...listOf(tool_calls).map((call) => lineOf(fieldOf(call, 'function'), calls.get(fieldOf(call, 'id')))),
    ...(function_call == null ? [] : [lineOf(function_call)]),
  ]
  return [ofAgent([...(said === undefined ? [] : [said]), ...lines].join('\n'))]
}

function ofAgent(text: string): CompletionMessage {
  return { role: 'assistant', text, files: [] }
}

/** Returns a call and its result as words of the history: no tool of ours was called. */
function lineOf(call: unknown, result?: string): string {
  const name = fieldOf(call, 'name')
  const given = fieldOf(call, 'arguments')
  const args = typeof given === 'string' ? given : given === undefined ? '' : JSON.stringify(given)
  const tool = typeof name === 'string' ? cutText(name, LONGEST_NAME) : 'a tool'
  const asked = args === '' ? tool : `${tool} ${cutText(args, MOST_OF_CALL)}`
  return result === undefined ? `[called ${asked}]` : `[called ${asked}; it gave: ${cutText(result, MOST_OF_RESULT)}]`
}

/** Returns the words of a content, whatever its form. */
function wordsIn(content: unknown): string {
  if (typeof content === 'string') return content
  const texts = listOf(content).map((part) => {
    const type = fieldOf(part, 'type')
    if (THOUGHTS.has(type)) return undefined
    return fieldOf(part, 'text') ?? fieldOf(part, 'refusal') ?? (typeof type === 'string' ? notShown(type) : part)
  })
  return texts.filter((text) => typeof text === 'string').join('\n')
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[field] : undefined
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

/** Throws for a list that is too long before a schema walks it, for a schema looks for every mistake. */
function checkCount(list: unknown, { most, of, param }: { readonly most: number; of: string; param: string }): void {
  if (!Array.isArray(list) || list.length <= most) return
  throw new ChatRefused('invalid', `There may be ${most} ${of} at most.`, { param })
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, at = ''): z.infer<Schema> {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const issue = deepest(result.error.issues[0])
  const param = pathOf(at, issue?.path ?? [])
  throw new ChatRefused('invalid', `"${param}" ${issue?.message}`, { param, name: nameOf(issue, value) })
}

/** Fields that another server may honour; some clients leave out the one that is named so, and ask again. */
const UNSUPPORTED: Readonly<Partial<Record<PropertyKey, string>>> = {
  ...{ logprobs: 'unsupported_parameter', top_logprobs: 'unsupported_parameter', audio: 'unsupported_parameter' },
  ...{ tool_choice: 'unsupported_value', function_call: 'unsupported_value' },
  ...{ n: 'unsupported_value', modalities: 'unsupported_value', response_format: 'unsupported_value' },
}

/** Returns the code of OpenAI for a mistake in a value. */
function nameOf(issue: Issue | undefined, value: unknown): string {
  const [field = ''] = issue?.path ?? []
  const unsupported = UNSUPPORTED[field]
  if (unsupported !== undefined) return unsupported
  const given = issue?.path.reduce<unknown>((one, key) => Object(one)[key], value)
  if (given === undefined) return 'missing_required_parameter'
  if (issue?.code === 'too_small' && Array.isArray(given)) return 'empty_array'
  return issue?.code === 'invalid_type' ? 'invalid_type' : 'invalid_value'
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
