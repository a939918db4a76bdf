import type { GateKeeper } from '../deferred.ts'
import { withoutTime } from '../texts.ts'
import type { ErrorFields } from './api-error.ts'
import type { ChatRequest } from './request.ts'
import { textOf } from './request.ts'

/**
 * The model's reply, part by part. A missing id is made up. Arguments that are a string are sent as they are, torn
 * JSON too. `reasoning` is what compatible servers send beside the text or in it, as their dialect has it; OpenAI
 * itself keeps it back.
 */
export type ReplyPart =
  | { type: 'text'; text: string }
  | { type: 'refusal'; refusal: string }
  | { type: 'reasoning'; reasoning: string }
  | { type: 'tool_call'; name: string; arguments: Readonly<Record<string, unknown>> | string; id?: string }

export type FinishReason = 'stop' | 'tool_calls' | 'length' | 'content_filter'

/**
 * The failure of a stream after `afterDelta` deltas of the whole reply (0: before the first). `error`: `data` as one
 * event after HTTP 200, under the name `event`, then the end of the stream. `stall`: silence on an open connection
 * until the client or server closes. `cut`: the connection is destroyed. `end`: the stream ends in order, but with
 * neither a finish reason nor [DONE]. Without streaming `cut` and `stall` mean the same for the whole answer, and
 * `error` is the body.
 */
export type Interrupt =
  | { kind: 'error'; afterDelta: number; data: object; event?: string }
  | { kind: 'stall' | 'cut' | 'end'; afterDelta: number }

/** The ways in which the answers of compatible servers differ from OpenAI's; those of a dialect are in its table. */
export interface Quirks {
  /** The arguments of a call come in one piece with its name, as Ollama sends them. */
  wholeArguments?: boolean
  /** The arguments are an object, no text. */
  objectArguments?: boolean
  /** Tool calls have no index. */
  noIndex?: boolean
  /** Every tool call has the index 0. */
  sameIndex?: boolean
  /** The index of the first call: some count the blocks of the answer. */
  firstIndex?: number
  /** The arguments come under the index behind that of their call. */
  argumentsApart?: boolean
  /** Tool calls have no id. */
  noIds?: boolean
  /** Each piece of a call has an id of its own. */
  freshIds?: boolean
  /** Each piece of a call has its name again, or an empty one. */
  laterNames?: 'same' | 'empty'
  /** Tool calls have no type. */
  noType?: boolean
  /** The first call of an answer has a signature, in `extra_content.google`. */
  signatures?: boolean
  /** A streamed answer with calls ends with `stop`. */
  callsEndWithStop?: boolean
  /** The stream ends without [DONE]. */
  noDone?: boolean
  /** The stream has [DONE] and no finish reason. */
  noFinish?: boolean
  /** Chunks have no field for the finish reason before the last. */
  lateFinish?: boolean
  /** No usage is reported, whatever the request says, as older versions of Ollama do. */
  noUsage?: boolean
  /**
   * The usage comes with the finish reason, asked for or not: in the chunk, in its choice, or in `x_groq` as well.
   */
  usageAt?: 'finish' | 'choice' | 'groq'
  /** Texts come as lists of parts. */
  partLists?: boolean
  /** Texts have an empty thought beside them, and thoughts no text. */
  nullFields?: boolean
  /** A stream begins with the verdict of a filter, in a chunk without choices. */
  filters?: boolean
  /** A stream begins with a comment. */
  processing?: boolean
  /** Another word where the finish reason stands. */
  finishReason?: string
}

export interface AnswerReply {
  /** An empty list is an empty answer. */
  parts: readonly ReplyPart[]
  /** Default: `tool_calls` when a part calls a tool, else `stop`. */
  finishReason?: FinishReason
  /** Default: counted from the text, four characters a token, and from the beginnings that earlier requests shared. */
  usage?: { prompt_tokens: number; completion_tokens: number; cached_tokens?: number; reasoning_tokens?: number }
  /** Cuts text, refusal and arguments into deltas. Default: pieces of 12 UTF-16 units. */
  split?: (text: string) => readonly string[]
  /** The wait before each delta (without streaming: before the answer). */
  delayMs?: number
  /** Stops before the delta with this index; see `createGate`. Without streaming any hold stands before the answer. */
  holds?: readonly { beforeDelta: number; gate: GateKeeper }[]
  interrupt?: Interrupt
  quirks?: Quirks
}

export interface ErrorReply {
  error: ErrorFields & {
    status: number
    /** The value of the `retry-after` header. */
    retryAfterSeconds?: number
    headers?: Readonly<Record<string, string>>
    /** The whole body, in the shape of another server; see `refusal`. */
    body?: unknown
    /** It comes as an event of a stream that began well. */
    inStream?: boolean
  }
}

export type Reply = AnswerReply | ErrorReply

/** Decides the answer to a valid request; `turn` counts the valid requests of the server from 0. */
export type Script = (request: ChatRequest, turn: number) => Reply | Promise<Reply>

/** Plays replies in order and repeats the last one. */
export function playReplies(...replies: readonly [Reply, ...Reply[]]): Script {
  const [first] = replies
  return (_request, turn) => replies[Math.min(turn, replies.length - 1)] ?? first
}

export function textReply(text: string, more: Omit<AnswerReply, 'parts'> = {}): AnswerReply {
  return { parts: [{ type: 'text', text }], ...more }
}

/** The default script, which repeats the user's last text. */
export const echoScript: Script = (request) => textReply(`echo ${lastUserText(request)}`)

/** Returns the newest message of a user without the line with the time that it begins with. */
export function lastUserText({ messages }: ChatRequest): string {
  return withoutTime(textOf(messages.findLast(({ role }) => role === 'user')?.content))
}

/** The refusals that the API gives by itself, whatever was asked. */
export const REFUSALS = {
  rateLimit: (retryAfterSeconds: number): ErrorReply => ({
    error: {
      status: 429,
      message: `Rate limit reached for the model on requests per min (RPM): Limit 3, Used 3, Requested 1. Please try again in ${retryAfterSeconds}s.`,
      type: 'requests',
      code: 'rate_limit_exceeded',
      retryAfterSeconds,
    },
  }),
  quota: {
    error: {
      status: 429,
      message: 'You exceeded your current quota, please check your plan and billing details.',
      type: 'insufficient_quota',
      code: 'insufficient_quota',
    },
  },
  server: {
    error: {
      status: 500,
      message: 'The server had an error while processing your request. Sorry about that!',
      type: 'server_error',
    },
  },
  overloaded: {
    error: {
      status: 503,
      message: 'That model is currently overloaded with other requests.',
      type: 'server_error',
    },
  },
} as const
