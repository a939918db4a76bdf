import type {
  EventDraft,
  SessionEvent,
  SessionStartData,
  ToolCallData,
  ToolResultData,
  UserMessageData,
} from './event.ts'
import type { EventParts } from './forgetting.ts'
import { hasForeignText } from './message.ts'

/** The name of a call in a step that is emptied: a model may have made up one of what was said to it. */
const SOME_TOOL = 'forgotten'

/**
 * Returns an event without anything that was said, done or shown in it: what is left says which messages a turn took,
 * how many calls a step made, which tools ran, how much it cost, and nothing of whom. Emptied once more, it is the
 * same.
 */
export function emptied(event: EventDraft): EventDraft {
  switch (event.type) {
    case 'user_message':
    case 'message_edited':
      return { type: event.type, data: nothingSaid(event.data) }
    case 'thread_read':
      return { type: event.type, data: { messages: [], leftOut: event.data.leftOut } }
    case 'files_read':
      return { type: event.type, data: { files: [] } }
    case 'assistant_step': {
      const { model, usage, calls } = event.data
      return { type: event.type, data: { text: '', model, usage, calls: calls.map(unnamed) } }
    }
    case 'tool_call':
      return { type: event.type, data: { ...event.data, args: {} } }
    case 'tool_result':
      return { type: event.type, data: withoutResult(event.data) }
    case 'approval_requested':
      return { type: event.type, data: { ...event.data, args: {} } }
    case 'assistant_message': {
      const { model, usage, unseen } = event.data
      return { type: event.type, data: { text: '', model, usage, ...(unseen && { unseen }) } }
    }
    case 'turn_completed': {
      const { partial: _partial, ...data } = event.data
      return { type: event.type, data }
    }
    case 'turn_cancelled':
      return { type: event.type, data: { reason: '' } }
    case 'assistant_posted': {
      const { from, script, traceId, messageId } = event.data
      const by = { ...(from === undefined ? {} : { from }), ...(script === undefined ? {} : { script }) }
      const names = { ...by, ...(messageId === undefined ? {} : { messageId }) }
      return { type: event.type, data: { text: '', traceId, ...names } }
    }
    case 'delivery_failed':
      return { type: event.type, data: { to: event.data.to, state: event.data.state, reason: '', text: '' } }
    case 'delivery_retried':
      return { type: event.type, data: { to: event.data.to, text: '' } }
    case 'history_boundary':
      return {
        type: event.type,
        data: event.data.kind === 'replaced' ? { kind: 'replaced', exchanges: [] } : event.data,
      }
    case 'context_compacted':
      return { type: event.type, data: { ...event.data, text: '' } }
    case 'checkpoint_written': {
      const { working: _working, sources: _sources, ...data } = event.data
      return { type: event.type, data }
    }
    case 'session_started': {
      const { agent, workspace, workplace } = event.data
      const given = workplace && { workplace: { fileScope: workplace.fileScope } }
      return { type: event.type, data: { agent, ...(workspace === undefined ? {} : { workspace }), ...given } }
    }
    case 'session_exported':
      return { type: event.type, data: { format: event.data.format } }
    case 'agent_updated':
    case 'message_deleted':
    case 'turn_started':
    case 'turn_resumed':
    case 'turn_steered':
    case 'messages_dropped':
    case 'approval_decided':
    case 'history_taken_over':
    case 'exchange_taken_back':
    case 'words_forgotten':
      return event
  }
}

/** Returns whether an event holds anything that `emptied` takes out. */
export function hasContent(event: SessionEvent): boolean {
  return event.type === 'session_started' ? hasTexts(event.data) : !WITHOUT_CONTENT.has(event.type)
}

/** A client may say at the start of a session who its user is and what they look at. */
function hasTexts({ context = {}, workplace }: SessionStartData): boolean {
  const { fileScope: _fileScope, ...texts } = workplace ?? {}
  return Object.keys(context).length + Object.keys(texts).length > 0
}

const WITHOUT_CONTENT: ReadonlySet<SessionEvent['type']> = new Set([
  ...(['agent_updated', 'message_deleted', 'turn_started', 'turn_resumed', 'turn_steered'] as const),
  ...(['messages_dropped', 'approval_decided', 'history_taken_over', 'exchange_taken_back'] as const),
  ...(['words_forgotten', 'session_exported'] as const),
])

/** A call keeps the id by which its result is known; the name of a tool that ran is on record beside it. */
function unnamed({ callId }: ToolCallData): ToolCallData {
  return { callId, tool: SOME_TOOL, args: {} }
}

function withoutResult({ callId, isError, denied }: ToolResultData): ToolResultData {
  return { callId, tool: SOME_TOOL, content: [], isError, ...(denied && { denied }) }
}

/** The message keeps its name, by which it is one of a turn, and nothing of its sender. */
function nothingSaid({ messageId, chat, row, addressed, triggers, refused }: UserMessageData): UserMessageData {
  return {
    ...(messageId === undefined ? {} : { messageId }),
    ...(chat === undefined ? {} : { chat }),
    ...(row === undefined ? {} : { row }),
    ...(refused && { refused }),
    ...{ text: '', sender: { id: '', kind: 'anonymous' }, owner: false, addressed, triggers },
  }
}

/**
 * Returns a message without the words of others in it: what it quotes, and what came with the quoted message. Undefined
 * where all its words are somebody else's.
 */
export function withoutQuoted(data: UserMessageData): UserMessageData | undefined {
  if (hasForeignText(data)) return undefined
  const { quoted, forwarded: _forwarded, attachments, ...rest } = data
  const { text: _text, ...name } = quoted ?? { messageId: '', own: false }
  const files = attachments?.filter((file) => !file.quoted && !file.shared)
  return {
    ...rest,
    ...(quoted === undefined ? {} : { quoted: name }),
    ...(files === undefined || files.length === 0 ? {} : { attachments: files }),
  }
}

/**
 * Returns an event that holds what several people have sent with some places of its list emptied, and others without
 * what is quoted there; undefined: it is no such event. All keep their places, by which another request may know them.
 */
export function withoutParts(event: SessionEvent, { places, quotes = [] }: EventParts): EventDraft | undefined {
  const { type, data } = event
  if (type === 'files_read')
    return { type, data: { files: data.files.map((file, at) => (places.includes(at) ? { ref: '' } : file)) } }
  if (type !== 'thread_read') return undefined
  const messages = data.messages.map((message, at) => {
    const left = quotes.includes(at) ? withoutQuoted(message) : message
    return left === undefined || places.includes(at) ? nothingSaid(message) : left
  })
  return { type, data: { ...data, messages } }
}

/** Returns true for a message of which nothing is left. */
export function isNothing({ text, sender }: Pick<UserMessageData, 'text' | 'sender'>): boolean {
  return text === '' && sender.id === ''
}
