import type { Content } from './content.ts'
import { type ErrorCode, ParleyError } from './errors.ts'
import type { ThinkingLevel } from './session.ts'

/**
 * The model port. Our own messages all the way through; a vendor's types never cross it.
 */
export interface Model {
  /** `<server>/<model>` as configured; each answer names the one that really answered. */
  readonly id: string
  /**
   * One model call. Yields text as it comes and each tool call once complete; the last event is `end`. Throws
   * `ParleyError` with a `model_*` code, or `aborted` when `signal` aborted. Keeps its own idle timer: a stream that
   * stalls is `model_stalled`. Never retries after the first event.
   */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>
}

export interface ModelRequest {
  readonly system: string
  /** The names of the place, behind the system prompt, which a provider keeps for all conversations. */
  readonly place?: string
  readonly messages: readonly ModelMessage[]
  readonly tools: readonly ToolSpec[]
  /** Tokens of the answer. */
  readonly maxTokens: number
  /** From 0 to 1; a model that takes no other than its own ignores it. */
  readonly temperature?: number
  /** Absent: as the model does by itself. */
  readonly thinking?: ThinkingLevel
}

/** Roles alternate; every `tool_call` of an assistant message is answered in the `tool` message that follows it. */
export type ModelMessage =
  | { readonly role: 'user'; readonly content: Content }
  | {
      readonly role: 'assistant'
      readonly text: string
      readonly calls: readonly ModelToolCall[]
      readonly opaque?: Opaque
    }
  | { readonly role: 'tool'; readonly results: readonly ModelToolResult[] }

/**
 * The fields of a step that only the server of its model understands: thoughts, their signatures, whatever it put on
 * its calls. They go back with the step to the same model until the turn ends, unchanged, to no other model, and are
 * shown to nobody (C26, decision 0047).
 */
export interface Opaque {
  /** `<server>/<model>`: the model that wrote them. */
  readonly model: string
  /** The most tokens that they are in the next prompt. */
  readonly tokens: number
  /** A JSON value in the form of the adapter that made it. */
  readonly data: unknown
}

export interface ModelToolCall {
  readonly id: string
  readonly name: string
  readonly args: unknown
}

export interface ModelToolResult {
  readonly id: string
  readonly content: Content
  readonly isError: boolean
}

/**
 * `failed`: the call has failed before it gave anything. `again`: it is made once more right after this event.
 * `retract`: the text so far was a thought and is no part of the answer. `broken`: the call has ended without its
 * answer, stopped or failed, and counts as so much; its failure is thrown right after, unless it is made again.
 */
export type ModelEvent =
  | { readonly type: 'failed'; readonly failure: unknown }
  | { readonly type: 'again' }
  | { readonly type: 'broken'; readonly usage: Usage; readonly failure: unknown }
  | { readonly type: 'retract' }
  | { readonly type: 'text'; readonly delta: string }
  | { readonly type: 'tool_call'; readonly call: ModelToolCall }
  | {
      readonly type: 'end'
      readonly stop: StopReason
      readonly usage: Usage
      readonly model: string
      readonly opaque?: Opaque
      /** The tokens that the model reads at once, where its server has named them. */
      readonly window?: number
    }

/**
 * Returns true for the failure of a call whose answer had begun, also where nothing of it was shown yet: thoughts and
 * calls of tools come as a whole, and are charged as they are written.
 */
export function hadBegun(error: unknown): boolean {
  return error instanceof ParleyError && 'begun' in error && error.begun === true
}

/** `end`: done. `tools`: it waits for results. `length`: cut at `maxTokens`. `refused`: the model declined. */
export type StopReason = 'end' | 'tools' | 'length' | 'refused'

/** Tokens, apart by their price. */
export interface Usage {
  /** Read by the model at full price. */
  readonly input: number
  readonly output: number
  /** Read from the provider's cache, at a fraction of the price. Absent: none. */
  readonly cacheRead?: number
  /** Read and written to the provider's cache, at more than the full price. Absent: none. */
  readonly cacheWrite?: number
}

export const NO_USAGE: Usage = { input: 0, output: 0 }

export function addUsage(a: Usage, b: Usage): Usage {
  return toUsage({
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: (a.cacheRead ?? 0) + (b.cacheRead ?? 0),
    cacheWrite: (a.cacheWrite ?? 0) + (b.cacheWrite ?? 0),
  })
}

/**
 * Returns the usage without what is 0 of the cache, as it was stored before any provider had one. A server may leave a
 * count out, or send what is no number: that counts nothing.
 */
export function toUsage(counts: Required<Usage>): Usage {
  const [cacheRead, cacheWrite] = [tokenCount(counts.cacheRead), tokenCount(counts.cacheWrite)]
  return {
    input: tokenCount(counts.input),
    output: tokenCount(counts.output),
    ...(cacheRead === 0 ? {} : { cacheRead }),
    ...(cacheWrite === 0 ? {} : { cacheWrite }),
  }
}

/** More than any model reads; sums of so many stay whole numbers. */
const MOST_TOKENS = 1e12

/** Returns a number of tokens as a server gives it; 0 for what is none. */
export function tokenCount(given: unknown): number {
  return typeof given === 'number' && Number.isSafeInteger(given) && given >= 0 && given <= MOST_TOKENS ? given : 0
}

/** Returns the tokens the model has read, whatever their price. */
export function tokensRead({ input, cacheRead = 0, cacheWrite = 0 }: Usage): number {
  return input + cacheRead + cacheWrite
}

/** Returns all tokens, read and written. */
export function tokensOf(usage: Usage): number {
  return tokensRead(usage) + usage.output
}

/**
 * Says what happens to a tool call after a crash: `pure` may simply run again, `keyed` may run again with the same call
 * id, `once` never runs again and its outcome is reported as unknown.
 */
export type ToolClass = 'pure' | 'keyed' | 'once'

export interface ToolSpec {
  readonly name: string
  readonly description: string
  /** JSON Schema of the arguments, an object. */
  readonly parameters: Readonly<Record<string, unknown>>
}

/** Stands in the place of the model of an agent that has none; nobody can write it as the name of one. */
export const NO_MODEL = 'none'

/** One question to a model, to see whether it answers. */
export interface ModelTrial {
  readonly question: string
  /** The most tokens of the answer; thoughts have room of their own. */
  readonly maxTokens: number
  readonly withinMs: number
  readonly signal?: AbortSignal
}

export type ModelTrialOutcome = TrialAnswer | TrialFailure

export interface TrialAnswer {
  readonly ok: true
  /** `<server>/<model>`: the model that really answered. */
  readonly model: string
  /** Empty where the tokens were used up by thoughts. */
  readonly text: string
  /** Absent where the server counts nothing. */
  readonly usage?: Usage
  /** Absent where the model has no price that is known. */
  readonly usd?: number
  readonly ms: number
}

export interface TrialFailure {
  readonly ok: false
  readonly code: ErrorCode
  /** A sentence about the failure, without any key. */
  readonly says: string
  readonly remedy: string
  readonly ms: number
}
