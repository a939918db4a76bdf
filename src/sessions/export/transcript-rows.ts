import type { ContentPart, MediaPart } from '../../core/content.ts'
import { mediaOf } from '../../core/content.ts'
import { isNothing } from '../../core/emptied.ts'
import type { SessionEvent, ToolCallData, UserMessageData } from '../../core/event.ts'
import { speakerName } from '../../core/label.ts'
import type { MessageName } from '../../core/message.ts'
import { isAboutExport } from '../../core/operate-archives.ts'
import { Spoken } from '../../core/spoken.ts'
import { saidText } from '../view/event-text.ts'

/** A message of a transcript, whatever became of it. */
export interface TranscriptRow {
  readonly sequenceNumber: number
  /** ISO 8601, UTC. */
  readonly createdAt: string
  readonly role: 'user' | 'assistant' | 'tool' | 'system'
  /** The name by which the chat knows who said it. */
  readonly name?: string
  readonly turn?: string
  readonly content: readonly TranscriptPart[]
  /** A later text of an earlier message. */
  readonly edited?: true
  /** Its writer deleted it: that somebody spoke stays, the words do not. */
  readonly deleted?: true
}

export type TranscriptPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'media'; readonly source: string; readonly mime: string; readonly name?: string }
  | { readonly type: 'tool_call'; readonly id: string; readonly name: string; readonly arguments: unknown }
  | {
      readonly type: 'tool_result'
      readonly id: string
      readonly name: string
      readonly isError: boolean
      readonly content: readonly TranscriptPart[]
    }

/** Returns the rows of a log, those of unanswered and interrupted turns too (C37), without what its writers deleted. */
export function transcriptRows(events: readonly SessionEvent[]): readonly TranscriptRow[] {
  const later: Later = { deleted: [], spoken: new Spoken() }
  for (const { type, data } of events) {
    if (type === 'message_deleted') later.deleted.push(data)
    if (type === 'files_read') later.spoken.add(data.files)
  }
  return events.filter((event) => !isAboutExport(event)).flatMap((event) => rowsOf(event, later))
}

/** Facts about messages that stand behind them in the log. */
interface Later {
  readonly deleted: MessageName[]
  readonly spoken: Spoken
}

function rowsOf(event: SessionEvent, later: Later): readonly TranscriptRow[] {
  switch (event.type) {
    case 'user_message':
      return [userRow(event, event.data, later)]
    case 'message_edited':
      return [{ ...userRow(event, event.data, later), edited: true }]
    case 'thread_read':
      return event.data.messages
        .filter((message) => !isNothing(message) && message.source === undefined)
        .map((message) => userRow(event, message, later))
    case 'assistant_step':
      return [row(event, 'assistant', [...textParts(event.data.text), ...event.data.calls.map(callPart)])]
    case 'assistant_message':
    case 'assistant_posted':
      return [row(event, 'assistant', textParts(event.data.text))]
    case 'tool_result': {
      const { callId: id, tool: name, isError, content } = event.data
      return [row(event, 'tool', [{ type: 'tool_result', id, name, isError, content: content.map(partOf) }])]
    }
    case 'context_compacted':
      return [row(event, 'system', textParts(event.data.text))]
    default:
      return []
  }
}

function row(
  { seq, at, turnId }: SessionEvent,
  role: TranscriptRow['role'],
  content: readonly TranscriptPart[],
): TranscriptRow {
  const turn = turnId === undefined ? {} : { turn: turnId }
  return { sequenceNumber: seq, createdAt: new Date(at).toISOString(), role, ...turn, content }
}

function userRow(event: SessionEvent, message: UserMessageData, { deleted, spoken }: Later): TranscriptRow {
  const name = speakerName(message)
  if (deleted.some((one) => isSame(one, message))) return { ...row(event, 'user', []), name, deleted: true }
  const { attachments = [] } = message
  const files = attachments.flatMap(({ media }) => (media ? [mediaPart(media)] : []))
  // A file that the log does not have is named in words.
  const named = spoken.in({ ...message, attachments: attachments.filter(({ media }) => media === undefined) })
  return { ...row(event, 'user', [...textParts(saidText(named)), ...files]), name }
}

function isSame(one: MessageName, other: MessageName): boolean {
  return one.messageId !== undefined && one.messageId === other.messageId && one.chat === other.chat
}

function textParts(text: string): TranscriptPart[] {
  return text === '' ? [] : [{ type: 'text', text }]
}

function callPart({ callId, tool, args }: ToolCallData): TranscriptPart {
  return { type: 'tool_call', id: callId, name: tool, arguments: args }
}

function partOf(part: ContentPart): TranscriptPart {
  return part.type === 'text' ? part : mediaPart(part)
}

function mediaPart({ media, mime, name }: MediaPart): TranscriptPart {
  return { type: 'media', source: media, mime, ...(name === undefined ? {} : { name }) }
}

/** Returns the files that events name, each once, in the order in which they are named first. */
export function filesIn(events: readonly SessionEvent[]): readonly MediaPart['media'][] {
  return [...new Set(events.flatMap(filesOf).map(({ media }) => media))]
}

/** A file that somebody sent is fetched once its turn reads it: the message itself names none. */
function filesOf(event: SessionEvent): readonly MediaPart[] {
  switch (event.type) {
    case 'tool_result':
      return mediaOf(event.data.content)
    case 'files_read':
      return event.data.files.flatMap(({ media }) => media ?? [])
    case 'user_message':
    case 'message_edited':
      return attachedTo(event.data)
    case 'thread_read':
      return event.data.messages.flatMap(attachedTo)
    default:
      return []
  }
}

function attachedTo({ attachments = [] }: UserMessageData): readonly MediaPart[] {
  return attachments.flatMap(({ media }) => media ?? [])
}
