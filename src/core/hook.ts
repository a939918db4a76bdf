import type { EventDraft } from './event.ts'
import type { SessionId, TurnId } from './ids.ts'

/**
 * The moments at which an operator's hooks are called (R8). `before_save` and `before_tool` are asked and may answer;
 * the others are notified, after the commit.
 */
export const HOOK_MOMENTS = [
  'session_create',
  'before_save',
  'session_save',
  'session_delete',
  'before_tool',
  'after_turn',
] as const

export type HookMoment = (typeof HOOK_MOMENTS)[number]

/** The call of a hook, which it gets as JSON, beside `at`, the time in ms since the epoch. */
export type HookCall =
  | { readonly on: 'session_create'; readonly session: SessionId; readonly agent: string }
  | { readonly on: 'session_save'; readonly session: SessionId; readonly seq: number; readonly events: HookEvents }
  | { readonly on: 'session_delete'; readonly session: SessionId }
  | {
      readonly on: 'after_turn'
      readonly session: SessionId
      readonly turn?: TurnId
      readonly outcome: string
      readonly steps: number
      readonly tokens: { readonly input: number; readonly output: number }
      readonly error?: string
    }
  | BeforeSave
  | BeforeTool

/** The events as the log has them, without opaque fields (C26), in order; the first has the number `seq`. */
export type HookEvents = readonly (EventDraft & { readonly turnId?: TurnId })[]

/**
 * A message before it is stored. A hook may answer `{"text": "…"}`: that is stored as the text, and the raw one beside
 * it.
 */
export interface BeforeSave {
  readonly on: 'before_save'
  /** The conversation, such as `telegram:group:-100123/42`. */
  readonly conversation: string
  readonly sender: { readonly id: string; readonly name?: string }
  readonly text: string
  readonly edit: boolean
  /** Set where the text came with the message: a file's, what is said in a recording, or a line such as a contact. */
  readonly of?: 'file' | 'recording' | 'enclosed'
}

/** A call before it is made, and before a person is asked about it. A hook may answer `{"deny": "the reason"}`. */
export interface BeforeTool {
  readonly on: 'before_tool'
  readonly session: SessionId
  readonly turn: TurnId
  readonly tool: string
  readonly args: unknown
}

/** A hook as it is configured. */
export interface Hook {
  readonly name: string
  readonly on: readonly HookMoment[]
  readonly at: HookCommand | HookAddress
  /** The longest that a call of it may take; what was not answered by then counts as no answer. */
  readonly timeoutMs: number
}

/** A program that gets the call on its standard input, and whose standard output is its answer. */
export interface HookCommand {
  readonly kind: 'command'
  readonly command: string
  readonly args: readonly string[]
  /** Its whole environment: nothing of the daemon's own is added. */
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
}

/** An address that gets the call by POST, with a signature made with `secret`. */
export interface HookAddress {
  readonly kind: 'address'
  readonly url: string
  readonly secret: string
}
