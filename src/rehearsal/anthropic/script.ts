import type { GateKeeper } from '../deferred.ts'
import { withoutTime } from '../texts.ts'
import type { Content, ContentBlock, MessagesRequest } from './request.ts'

/** The model's reply, block by block. A missing id is made up; thinking gets a signature, and may have no words. */
export type ReplyBlock =
  | { type: 'text'; text: string }
  | { type: 'tool_use'; name: string; input: Readonly<Record<string, unknown>>; id?: string }
  | { type: 'thinking'; thinking: string; signature?: string }
  | { type: 'redacted_thinking'; data: string }

/** The ways in which servers differ from Anthropic's; those of an imitator are in its table. */
export interface Quirks {
  /** The input of a call comes with its beginning, and in no further event. */
  inputAtStart?: boolean
  /** The beginning of a call has no input. */
  noInput?: boolean
  /** The events of all blocks come by turns. */
  interleaved?: boolean
  /** Blocks have no end. */
  unended?: boolean
  /** The beginning of the message comes twice. */
  startsTwice?: boolean
  /** Thoughts have no signature, or an empty one. */
  signatures?: 'none' | 'empty'
  /** Thoughts come as text between marks, or as a signature alone. */
  thoughts?: 'text' | 'signed'
}

export type StopReason =
  | 'end_turn'
  | 'tool_use'
  | 'max_tokens'
  | 'stop_sequence'
  | 'refusal'
  | 'pause_turn'
  | 'model_context_window_exceeded'

/**
 * The failure of a stream after `afterDelta` deltas of the whole reply (0: before the first). `error`: an SSE error
 * event after HTTP 200. `stall`: silence on an open connection until the client or server closes. `cut`: the connection
 * is destroyed. Without streaming `cut` and `stall` mean the same for the whole answer.
 */
export type Interrupt =
  | { kind: 'error'; afterDelta: number; type: string; message: string }
  | { kind: 'stall' | 'cut'; afterDelta: number }

export interface AnswerReply {
  blocks: readonly ReplyBlock[]
  /** Default: `tool_use` when a block asks for a tool, else `end_turn`. */
  stopReason?: StopReason
  /** Default: counted from the text, four characters a token, and from what earlier requests had cached. */
  usage?: {
    input_tokens: number
    output_tokens: number
    cache_creation_input_tokens?: number
    cache_read_input_tokens?: number
  }
  /** Cuts text, thinking and tool input into deltas. Default: pieces of 12 UTF-16 units. */
  split?: (text: string) => readonly string[]
  /** The wait before each delta (without streaming: before the answer). */
  delayMs?: number
  /** Stops before the delta with this index; see `createGate`. Without streaming any hold stands before the answer. */
  holds?: readonly { beforeDelta: number; gate: GateKeeper }[]
  interrupt?: Interrupt
  quirks?: Quirks
}

export interface ErrorReply {
  error: {
    status: number
    /** `overloaded_error`, `rate_limit_error`, `api_error`, … */
    type: string
    message?: string
    /** The value of the `retry-after` header. */
    retryAfterSeconds?: number
    headers?: Readonly<Record<string, string>>
    /** The whole body, where it is not in the shape of the API: a text goes as HTML. */
    body?: string | object
  }
}

export type Reply = AnswerReply | ErrorReply

/** Decides the answer to a valid request; `turn` counts the valid requests of the server from 0. */
export type Script = (request: MessagesRequest, turn: number) => Reply | Promise<Reply>

/** Plays replies in order and repeats the last one. */
export function playReplies(...replies: readonly [Reply, ...Reply[]]): Script {
  const [first] = replies
  return (_request, turn) => replies[Math.min(turn, replies.length - 1)] ?? first
}

export function textReply(text: string, more: Omit<AnswerReply, 'blocks'> = {}): AnswerReply {
  return { blocks: [{ type: 'text', text }], ...more }
}

/** The default script, which repeats the user's last text. */
export const echoScript: Script = (request) => textReply(`echo ${lastUserText(request)}`)

/** Returns the newest message of a user without the line with the time that it begins with. */
export function lastUserText(request: MessagesRequest): string {
  const users = request.messages.filter((message) => message.role === 'user')
  return withoutTime(textOf(users.at(-1)?.content ?? ''))
}

function textOf(content: Content): string {
  if (typeof content === 'string') return content
  return content.map(blockText).join('\n')
}

function blockText(block: ContentBlock): string {
  if (block.type === 'text') return block.text ?? ''
  return block.type === 'tool_result' ? textOf(block.content ?? '') : ''
}
