import type { ChatType } from './address.ts'
import type { AgentProfile } from './agent-profile.ts'
import type { Charge } from './budget.ts'
import type { CallGate, ToolReach } from './call-gate.ts'
import type { Content, MediaPart } from './content.ts'
import type { ErrorCode } from './errors.ts'
import type { EventDraft, SummaryData, ToolResultData } from './event.ts'
import type { AgentId, PersonId, SessionId, TraceId, TurnId } from './ids.ts'
import type { ModelMessage, ModelToolCall, ToolClass, ToolSpec, Usage } from './model.ts'
import type { OutboundMessage } from './outbound.ts'
import type { AuthorId } from './platform-id.ts'
import type { PrecheckVerdict } from './precheck.ts'
import type { Role } from './session.ts'
import type { SessionContext } from './session-context.ts'

/** The messages of earlier turns in a request. */
export interface EarlierMessages {
  readonly messages: number
  /** The first two are a summary of older ones. */
  readonly summary: boolean
  /** The messages that people and the assistant have said in them: one of a request may hold several. */
  readonly said: number
}

export interface TurnRequest {
  readonly turnId: TurnId
  readonly sessionId: SessionId
  readonly traceId: TraceId
  readonly agent: AgentProfile
  /** The budgets that its calls must fit; asked before each, since somebody who joins the turn pays as well. */
  readonly charge?: Charge | undefined
  readonly chatType: ChatType
  /** A direct chat in a conversation that joins those of several people. */
  readonly joined?: true | undefined
  /** The variables of the agent's prompt that the client of the session gave (C46). */
  readonly context?: SessionContext | undefined
  /**
   * The names of the place (`promptPlace`), or the working folder of a client's user (`promptFolder`), the same from
   * turn to turn so that a provider can keep the prompt.
   */
  readonly place?: string | undefined
  /** The run of a schedule: nobody is there to answer a question. */
  readonly scheduled?: true | undefined
  /** Nothing of it is stored: there are no tools but those that read inside of the conversation. */
  readonly unkept?: true | undefined
  /** Its message came from outside the conversation (`ReplyTarget.elsewhere`). */
  readonly elsewhere?: 'only' | 'too' | undefined
  /** Earlier turns, this turn's user text, and the steps of it that an interrupted run had committed. */
  readonly messages: readonly ModelMessage[]
  /** The messages of earlier turns, which come first. */
  readonly earlier?: EarlierMessages
  /** The step a crash interrupted; its calls are settled before the model is asked again. */
  readonly open?: OpenStep | undefined
  /** Model calls and tokens an interrupted run of this turn had already spent. */
  readonly spent: { readonly steps: number; readonly usage: Usage }
  /**
   * Called whenever an answer has grown, with its text so far, raw; each model call begins afresh. What it is given is
   * ephemeral. Must be cheap and never throw.
   */
  show(this: void, text: string): void
  /**
   * Called when tools begin to run, with words for people on what they do: `searching the web`. Like `show`, it must be
   * cheap and never throw. Absent where nobody shall see it.
   */
  working?: ((this: void, doing: string) => void) | undefined
  /** Judges each call; absent: nothing outside of the conversation is done. */
  readonly gate?: CallGate | undefined
  /** Calls that somebody has allowed after their turn had ended: they are made before the model is asked. */
  readonly given?: readonly ModelToolCall[] | undefined
  /**
   * Called at each step boundary: what users said that was bound to this turn meanwhile, the binding already committed
   * (busy mode `steer`). Empty in the other modes.
   */
  steer(this: void): Promise<readonly Content[]>
}

/** An assistant step whose tool calls have not all been answered. */
export interface OpenStep {
  readonly calls: readonly ModelToolCall[]
  readonly results: readonly ToolResultData[]
  /** Call ids whose intent is on record: a `once` tool among them is never run again. */
  readonly intended: readonly string[]
  /** The answer was cut at the limit of its tokens: none of its calls is made. */
  readonly cut?: true
}

/** The identity whose authority a call has. */
export interface Principal {
  readonly person?: PersonId
  readonly role: Role
}

/** The kinds of event a turn journals between its start and its end. */
export type JournalDraft =
  | Extract<EventDraft, { type: 'assistant_step' | 'approval_requested' | 'tool_call' }>
  | (Extract<EventDraft, { type: 'tool_result' }> & Pick<ToolOutput, 'readAfter'>)

/** The part of the conversation that the model read for its answer. */
export interface ReadContext {
  /** Tokens that the first call read: results of tools, which come later, are in no other turn. */
  readonly read: number
  /** Parts were left out because the request was too long. */
  readonly shortened: boolean
  /** The tokens that the model reads at once, where its server has named them. */
  readonly window?: number
  /** A summary stood for older turns. */
  readonly summary?: boolean
  /** Messages of earlier turns. */
  readonly messages?: number
}

/**
 * `precheck`: the verdict of the check before the turn; where it was no, the answer is silence that no model gave.
 * `final`: an answer to deliver, raw, markers included; `error` names a limit that ended it early (R14, C11). `failed`:
 * nothing to deliver. `cause` is for the log only (C16). `aborted`: the signal ended it.
 */
export type TurnResult = { readonly precheck?: PrecheckVerdict } & (
  | {
      readonly kind: 'final'
      readonly text: string
      readonly model: string
      readonly usage: Usage
      readonly steps: number
      readonly error?: ErrorCode
      /** The model was stopped at the longest answer it may give. */
      readonly cut?: true
      /** The part of the conversation that the model read. */
      readonly context?: ReadContext
      /** Lines on the tool steps, shown in the chat above the text and kept out of the record (T37). */
      readonly preface?: string
      /** The text and the file that are sent in place of the answer: spoken, or as a file. */
      readonly presented?: Pick<OutboundMessage, 'text' | 'file'>
    }
  | {
      readonly kind: 'failed'
      readonly code: ErrorCode
      readonly cause: unknown
      /** The model that failed, as it is configured; absent for any other failure. */
      readonly model?: string
      readonly usage: Usage
      readonly steps: number
      /** The answer so far, without markers, if a part of it stands in the chat already; empty as below. */
      readonly shown?: string
    }
  | {
      readonly kind: 'aborted'
      readonly usage: Usage
      readonly steps: number
      /** Empty: nothing of it stands in the chat but the line about a tool. */
      readonly shown?: string
    }
)

/**
 * A running turn. It yields what has to be on record and continues only after the caller has committed that, so a step
 * is on disk before its tools run; it returns what came of it, and never throws for anything a model or tool does. A
 * caller that takes no more steps calls `return`, which stops whatever still runs. One that has stored another result
 * of a call than was yielded hands it to `next`: the model is shown what is on record.
 */
export type RunAgent = (request: TurnRequest, signal: AbortSignal) => AgentSteps<TurnResult>

/** Steps of a turn; the caller hands in the result that was stored instead, if there is one. */
export type AgentSteps<Result> = AsyncGenerator<JournalDraft, Result, ToolResultData | undefined>

/** The part of a conversation that a summary shall stand for. */
export interface SummaryRequest {
  readonly agent: AgentProfile
  readonly sessionId: SessionId
  readonly charge?: Charge | undefined
  /** The pair of the last summary, if there is one, and whole turns, oldest first. */
  readonly messages: readonly ModelMessage[]
}

export type Summary = Pick<SummaryData, 'text' | 'model' | 'usage'>

/**
 * Writes a summary. Throws what the model throws, `model_cut`, `model_refused` or `model_empty` where its answer is no
 * whole text that may stand for anything (R25).
 */
export type Summarize = (request: SummaryRequest, signal: AbortSignal) => Promise<Summary>

/** A tool of the agent. Its powers come with the context; it holds no globals. */
export interface Tool {
  readonly spec: ToolSpec
  readonly class: ToolClass
  /**
   * The place where its calls act, by their arguments where it differs; absent: beyond. It is Parley's own word: what a
   * server says of its tool is not believed.
   */
  readonly reach?: ToolReach | ((args: unknown, context: ToolContext) => Promise<ToolReach>)
  /** Calls leave no word of the turn anywhere; absent: that is so if it is pure. */
  readonly keepsWords?: false
  /** Its results are nobody's words: a page, a file, an answer of a tool server. */
  readonly foreign?: true
  /** Words for people while it runs, such as `searching the web`; without arguments, which may be private. */
  readonly doing?: string
  /**
   * Returns what the model is shown. A throw becomes an error result, its message shown to the model; `forbidden` marks
   * it as denied, and so does `not_found` of a service that judges reach: it may not say which of the two it is.
   */
  run(args: unknown, context: ToolContext): Promise<string | ToolOutput>
}

/** The content a model is shown. */
export interface ToolOutput {
  readonly content: Content
  /** The sessions whose words are in it. */
  readonly shows?: readonly SessionId[]
  /** The number of removals when these words were read, for a call that has waited before; absent: at its begin. */
  readonly readAfter?: number
  /** The people whose words are in it. */
  readonly authors?: readonly AuthorId[]
  /** The answer is a refusal: nothing was done. */
  readonly denied?: true
}

/** The limits of tool results, in characters (`tools.results`). */
export interface ToolResultLimits {
  /** The longest result of one call. */
  readonly maxCharacters: number
  /** From this length on a result may be shortened in later steps of its turn (R26, R27). */
  readonly pruneFrom: number
}

export const DEFAULT_TOOL_RESULTS: ToolResultLimits = { maxCharacters: 200_000, pruneFrom: 50_000 }

export interface ToolContext {
  readonly turnId: TurnId
  readonly sessionId: SessionId
  readonly agentId: AgentId
  readonly callId: string
  readonly signal: AbortSignal
  /** Ms since the epoch. */
  now(): number
  /** Keeps a file for the result. Throws `too_long`. */
  keep(bytes: Uint8Array, name?: string): Promise<MediaPart>
}
