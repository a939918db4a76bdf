import { cutText } from './cut-text.ts'
import { type ErrorCode, ParleyError } from './errors.ts'
import type { RequestId } from './keyed-request.ts'
import type { Usage } from './model.ts'

/** The door for clients of OpenAI's API: each agent is a model. */
export interface ChatOperator {
  models(): readonly ChatModel[]
  /**
   * Answers as an agent. With `session` the words behind the last answer are a message to that session, and the turn
   * continues when the client leaves; without, the whole conversation is the client's, and nothing of it is kept. A
   * request that comes again while it is answered, or before its answer was given, is the same one.
   * Throws `ChatRefused`, and what a post throws.
   */
  answer(request: CompletionRequest, watch: CompletionWatch): Promise<CompletionAnswer>
}

export interface ChatModel {
  /** The id of the agent. */
  readonly id: string
  /** Ms since the epoch. */
  readonly createdAt: number
}

export interface CompletionRequest {
  readonly model: string
  /** The client's name of the one it speaks for; it counts where `<namespace>:<user>` is a known person's id. */
  readonly user?: string | undefined
  /** The name of the conversation, one part of a name: the session is `<namespace>:<session>`. */
  readonly session?: string | undefined
  /** Oldest first. */
  readonly messages: readonly CompletionMessage[]
  /** Named by a key: with `session` the words are said once, and a repeat gets the answer to them. */
  readonly once?: RequestId | undefined
}

/** A message of the client's history. One of the client's system has its sender's words and nothing more. */
export interface CompletionMessage {
  readonly role: 'user' | 'assistant'
  readonly text: string
  readonly files: readonly CompletionFile[]
}

/** A file that came inside of a message. */
export interface CompletionFile {
  readonly bytes: Uint8Array
  readonly name?: string
}

/** The client that waits. */
export interface CompletionWatch {
  /** Called with what there is of the answer, free of markers; it only ever gets longer. */
  grew(text: string): void
  /** Aborted when the client has left, or its token has ended. */
  readonly left: AbortSignal
  /**
   * Resolves once the response is over: with true if the client has the whole answer, or a refusal that stands. If it
   * has neither, the same request means the same turn when it is sent again.
   */
  readonly given: Promise<boolean>
  /**
   * Returns true where a client that has left may send the same request again at once. A client that waits for a whole
   * answer leaves when its time is over; a reader of a stream leaves because somebody has stopped it. Default: false.
   */
  readonly mayReturn?: () => boolean
}

export interface CompletionAnswer {
  /** The trace, for `parley why` and the log. */
  readonly traceId: string
  /** Without markers; empty where the agent chose to say nothing. */
  readonly text: string
  /** The model was stopped at the longest answer it may give. */
  readonly cut?: boolean
  readonly usage: Usage
}

interface Refusal {
  /** The part of the request that it is about: `messages[0].content`. */
  readonly param?: string
  /** A code in the words of OpenAI, where they have one. */
  readonly name?: string
  /** False: the message was taken, so a client that repeats it says it twice. */
  readonly again?: boolean
  readonly cause?: unknown
}

/** A request that is not answered, in the words that OpenAI's clients understand. */
export class ChatRefused extends ParleyError {
  readonly refusal: Refusal

  constructor(code: ErrorCode, message: string, refusal: Refusal = {}) {
    super(code, message, refusal.cause === undefined ? {} : { cause: refusal.cause })
    this.refusal = refusal
  }
}

const MOST_NAMED = 20
const LONGEST_NAME = 64

/** Returns the refusal of a model that is no agent, which names those that there are. */
export function noSuchModel(model: string, agents: readonly { readonly id: string }[]): ChatRefused {
  const named = agents.slice(0, MOST_NAMED).map(({ id }) => id)
  const more = agents.length > named.length ? `, and ${agents.length - named.length} more` : ''
  const words = `There is no agent "${cutText(model, LONGEST_NAME)}". The agents are: ${named.join(', ')}${more}.`
  return new ChatRefused('not_found', words, { param: 'model', name: 'model_not_found' })
}
