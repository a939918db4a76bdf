import type { ApprovalDecisionData, ApprovalRequestData } from './approval.ts'
import type { CheckpointData } from './checkpoint.ts'
import type { Content } from './content.ts'
import type { Writer } from './dispatch.ts'
import type { ExportRecord } from './export-format.ts'
import type { InboxId, PersonId, SessionId, TraceId, TurnId } from './ids.ts'
import type { AttachmentRef, FilesReadData, Forwarded, Mention, MessageName, QuotedMessage, Sender } from './message.ts'
import type { Opaque, ToolClass, Usage } from './model.ts'
import type { AuthorId } from './platform-id.ts'
import type { SessionContext } from './session-context.ts'
import type { TakenBackData } from './taken-back.ts'
import type { TurnEndData } from './turn-end.ts'
import type { Workplace } from './workplace.ts'

/**
 * The one table of event kinds. A session's log is append-only with a gapless sequence number (S15, C6, C23); streamed
 * deltas are ephemeral and have no number.
 *
 * | type | written when | from |
 * | --- | --- | --- |
 * | `session_started` | the session row is made, once | C2 |
 * | `agent_updated` | a turn begins with an agent that is configured differently since the last one | C1 |
 * | `user_message` | a text is accepted, answered or not | S23, S25, S32 |
 * | `message_edited` | a message of the session was edited after it was accepted | `routing.edits` |
 * | `message_deleted` | a message of the session was deleted: no later prompt has it, the log does |
 * `routing.deletions` |
 * | `turn_started` | a turn is claimed, once a turn | C5 |
 * | `turn_resumed` | the same turn continues, after a crash or a failure | C19, C5 |
 * | `thread_read` | what the platform shows of a thread was read before the first turn in it | |
 * | `files_read` | the files of a turn's messages were fetched, or cannot be: before the model is asked | R9 |
 * | `turn_steered` | the user messages before it joined the running turn | `session.queue.busy` |
 * | `messages_dropped` | messages that waited for a turn will get none, all or those named (`/stop`) | C17 |
 * | `assistant_step` | the model asked for tools: before they run | S15 |
 * | `tool_call` | the intent, before the tool starts | S15 |
 * | `tool_result` | the tool ended, or was found interrupted | S15, R31 |
 * | `approval_requested` | a person is asked whether a call may be made: before the turn waits | S7 |
 * | `approval_decided` | somebody who may has answered, before or after the turn has continued without it | S7, S8 |
 * | `assistant_message` | the final answer of a turn, raw, markers included | S15 |
 * | `turn_completed` | exactly one a turn, with outcome and usage | C5 |
 * | `turn_cancelled` | instead of completed, after `/stop` | C17 |
 * | `assistant_posted` | a text of another session, such as a digest, was delivered to this conversation |
 * `schedules.deliverTo` |
 * | `delivery_failed` | something the session said did not reach its chat, or nobody can know that it did | F-C03 |
 * | `delivery_retried` | what did not reach its chat is sent once more, by an operator's word | F-C03 |
 * | `history_taken_over` | an older session's events were copied here, once (the ones before it) | K27 |
 * | `exchange_taken_back` | no later prompt, summary or digest has an exchange; the log does (`/undo`, `/retry`) | |
 * | `context_compacted` | a summary stands for older turns in every later prompt | R18-R25 |
 * | `checkpoint_written` | the conversation was looked through for what is worth remembering; it brings the working
 * memory | S34-S39 |
 * | `history_boundary` | the model is shown less, or something else, from here on; the log stays | K33-K36 |
 * | `session_exported` | the session was written to a file, and continues | C42 |
 * | `words_forgotten` | events before it were emptied of what was said: number, kind and time stay (decision 0038) | |
 */
export type SessionEvent = {
  readonly seq: number
  readonly at: number
  readonly turnId?: TurnId
  /** It was emptied (`core/emptied.ts`): no model, list or search has anything of it. */
  readonly forgotten?: true
} & EventDraft

/** An event before the store gave it a number. */
export type EventDraft =
  | { readonly type: 'session_started'; readonly data: SessionStartData }
  | { readonly type: 'agent_updated'; readonly data: AgentUpdateData }
  | { readonly type: 'user_message'; readonly data: UserMessageData }
  | { readonly type: 'message_edited'; readonly data: UserMessageData }
  | { readonly type: 'message_deleted'; readonly data: MessageName }
  | { readonly type: 'turn_started'; readonly data: TurnStartData }
  | { readonly type: 'turn_resumed'; readonly data: { readonly attempt: number } }
  | { readonly type: 'thread_read'; readonly data: ThreadReadData }
  | { readonly type: 'files_read'; readonly data: FilesReadData }
  | { readonly type: 'turn_steered'; readonly data: TakenMessages & { readonly messages: number } }
  | { readonly type: 'messages_dropped'; readonly data: TakenMessages & { readonly messages: number } }
  | { readonly type: 'assistant_step'; readonly data: StepData }
  | { readonly type: 'tool_call'; readonly data: ToolCallData & { readonly class: ToolClass } }
  | { readonly type: 'tool_result'; readonly data: ToolResultData }
  | { readonly type: 'approval_requested'; readonly data: ApprovalRequestData }
  | { readonly type: 'approval_decided'; readonly data: ApprovalDecisionData }
  | { readonly type: 'assistant_message'; readonly data: AssistantData }
  | { readonly type: 'turn_completed'; readonly data: TurnEndData }
  | { readonly type: 'turn_cancelled'; readonly data: { readonly reason: string } }
  | { readonly type: 'assistant_posted'; readonly data: PostedData }
  | { readonly type: 'delivery_failed'; readonly data: UndeliveredData }
  | { readonly type: 'delivery_retried'; readonly data: Pick<UndeliveredData, 'to' | 'text'> }
  | { readonly type: 'history_taken_over'; readonly data: TakenOverData }
  | { readonly type: 'history_boundary'; readonly data: HistoryBoundary }
  | { readonly type: 'context_compacted'; readonly data: SummaryData }
  | { readonly type: 'exchange_taken_back'; readonly data: TakenBackData }
  | { readonly type: 'session_exported'; readonly data: ExportRecord }
  | { readonly type: 'checkpoint_written'; readonly data: CheckpointData }
  | { readonly type: 'words_forgotten'; readonly data: ForgottenData }

export type EventType = EventDraft['type']

/** Every type there is; the compiler refuses one that is missing. */
const ALL_TYPES = {
  session_started: true,
  agent_updated: true,
  user_message: true,
  message_edited: true,
  message_deleted: true,
  turn_started: true,
  turn_resumed: true,
  turn_steered: true,
  thread_read: true,
  files_read: true,
  messages_dropped: true,
  assistant_step: true,
  tool_call: true,
  tool_result: true,
  approval_requested: true,
  approval_decided: true,
  assistant_message: true,
  turn_completed: true,
  turn_cancelled: true,
  assistant_posted: true,
  delivery_failed: true,
  delivery_retried: true,
  history_taken_over: true,
  history_boundary: true,
  context_compacted: true,
  exchange_taken_back: true,
  session_exported: true,
  checkpoint_written: true,
  words_forgotten: true,
} satisfies Record<EventType, true>

export const EVENT_TYPES = Object.keys(ALL_TYPES) as readonly EventType[]

/** Which of the messages that wait for an answer a turn takes; without a number it takes all of them. */
export interface TakenMessages {
  readonly messages?: number
  /** Their rows. Older logs name none: there the oldest were taken. */
  readonly rows?: readonly InboxId[]
}

export interface SessionStartData {
  readonly agent: string
  /** The variables that the client gave (C30). */
  readonly context?: SessionContext
  /** The group of a client's sessions in which it was started. */
  readonly workspace?: string
  /** The place in which the user of the client works (C43). */
  readonly workplace?: Workplace
}

export interface AgentUpdateData {
  /** The settings of the agent that changed, by name: `model`, `prompt`. */
  readonly changed: readonly string[]
}

/**
 * The messages that were said before the first turn in a thread: those of the thread that no accepted event has, or, by
 * reference, those at the root of its channel.
 */
export interface ThreadReadData {
  /** In order; none of them owes a turn. */
  readonly messages: readonly UserMessageData[]
  /** Messages of people who may not talk there, and others that the rules do not keep. */
  readonly leftOut: number
  /** There is more of it. */
  readonly more?: true
  /** They were said at the root of the channel, and stand here by reference. */
  readonly channel?: true
  /** The reason why nothing could be read. */
  readonly failed?: string
}

export interface TurnStartData extends TakenMessages {
  readonly traceId: TraceId
}

/** Names an event of a log. */
export interface EventRef {
  readonly session: SessionId
  readonly seq: number
}

export interface UserMessageData extends MessageName {
  /** The text as it was said (S26), or what a hook made of it; tags exist only in the model's view. */
  readonly text: string
  /** The text as it came, where a hook has changed it (R8). No model is shown it. */
  readonly raw?: string
  readonly sender: Sender
  /** Written by this bot, in the thread in which its session began later. */
  readonly own?: true
  readonly person?: PersonId
  readonly owner: boolean
  /** The message addressed the agent. */
  readonly addressed: boolean
  /** False: stored as context of the next prompt, owes no turn (S25). */
  readonly triggers: boolean
  /** Its row, where it waits for a turn: `turn_started` and `turn_steered` name what they take by it. */
  readonly row?: InboxId
  /** Stored and refused, the queue being full: no model ever sees it, the sender was asked to repeat it. */
  readonly refused?: true
  readonly quoted?: QuotedMessage
  readonly forwarded?: Forwarded
  readonly via?: Sender
  readonly attachments?: readonly AttachmentRef[]
  readonly enclosed?: readonly string[]
  readonly mentions?: readonly Mention[]
  /**
   * The event of another log that has its words: it was shown to this session's model, and nothing of it is stored here
   * but this reference and the ids of whoever said it.
   */
  readonly source?: EventRef
  /** The name of the place, in a session that joins several places: elsewhere the prompt has it. */
  readonly place?: string
  /** The writer; its text is data for the model and nobody's own words. */
  readonly from?: Writer
  /** The only web addresses in a scheduled prompt that a person has written; absent: all of them. */
  readonly addresses?: readonly string[]
  /** The data of a scheduled prompt; the turn itself sees it, later turns do not. */
  readonly data?: string
}

/** A part of a message as it was delivered, without markup. */
export interface PostedData {
  readonly text: string
  /** The session that wrote it; absent for what speaks for none. */
  readonly from?: SessionId
  /** The name of the script whose words it has: nobody's, and not the agent's. */
  readonly script?: string
  readonly traceId: TraceId
  /** The platform's id of the message. */
  readonly messageId?: string
}

export interface UndeliveredData {
  /** The conversation it was for. */
  readonly to: string
  /** `given_up`: it may have arrived; the others did not. */
  readonly state: 'rejected' | 'given_up' | 'expired'
  /** The reason in the words of the platform or the outbox. */
  readonly reason: string
  /** The beginning of the text, without markup. */
  readonly text: string
}

export interface ForgottenData {
  /** Names the request, or the rule by which it was too old. */
  readonly by: string
  /** The events that were emptied. */
  readonly events: number
}

export interface TakenOverData {
  readonly from: SessionId
  /** The number of copied events. */
  readonly events: number
}

/** A summary of older turns; it is shown as a pair of a user and an assistant message (R21). */
export interface SummaryData {
  readonly text: string
  readonly model: string
  readonly usage: Usage
  /** The turns it stands for, those of an older summary not counted. */
  readonly turns: number
  /**
   * The last event of these turns, as the distance from this event: it holds as well where the log was copied behind
   * another.
   */
  readonly back: number
}

/**
 * Limits what the model is shown of earlier turns. `truncated`: the newest `turns`, a later truncation may show more
 * again. `compacted`: hidden turns stay hidden. `replaced`: these exchanges and nothing else; no truncation is in
 * force.
 */
export type HistoryBoundary =
  | { readonly kind: 'truncated'; readonly turns: number }
  | { readonly kind: 'compacted' }
  | { readonly kind: 'replaced'; readonly exchanges: readonly Exchange[] }

export interface Exchange {
  readonly user: string
  readonly assistant: string
}

export interface AssistantData {
  readonly text: string
  readonly model: string
  readonly usage: Usage
  /** Answered elsewhere: nobody in the conversation saw it. */
  readonly unseen?: true
}

/** A model call that asked for tools. */
export interface StepData extends AssistantData {
  readonly calls: readonly ToolCallData[]
  /** It was cut at the limit of its tokens: its calls may be torn, and none of them is made. */
  readonly cut?: true
  readonly opaque?: Opaque
}

export interface ToolCallData {
  readonly callId: string
  readonly tool: string
  /** The arguments as the model gave them: a JSON value. */
  readonly args: unknown
}

export interface ToolResultData {
  readonly callId: string
  readonly tool: string
  readonly content: Content
  readonly isError: boolean
  /** The host refused the call. */
  readonly denied?: true
  /** Sessions whose words are in `content`: their authors become authors of this one. */
  readonly shows?: readonly SessionId[]
  /** The people whose words are in `content`: they become authors of this session too. */
  readonly authors?: readonly AuthorId[]
  /** Its words are nobody's: from here on the session has an author without any reach. */
  readonly foreign?: true
}
