import type { CheckpointData } from '../../core/checkpoint.ts'
import { fileWords, inWords, nameOf } from '../../core/content-words.ts'
import { isNothing } from '../../core/emptied.ts'
import type {
  HistoryBoundary,
  SessionEvent,
  SessionStartData,
  ThreadReadData,
  UserMessageData,
} from '../../core/event.ts'
import { calledBy, escapeLabels, labelledWords, plainExcerpt, postedBy, speakerName } from '../../core/label.ts'
import type { AttachmentRef, FilesReadData, ReadFile } from '../../core/message.ts'
import type { TurnEndData } from '../../core/turn-end.ts'

/** Returns an event as a line of text for people. */
export function eventText(event: SessionEvent): string {
  if (event.forgotten) return 'forgotten'
  switch (event.type) {
    case 'user_message':
      return `${writer(event.data)} ${saidText(event.data)}`
    case 'message_edited':
      return `${writer(event.data, ' edited a message')} ${saidText(event.data)}`
    case 'message_deleted':
      return `message ${event.data.messageId} was deleted`
    case 'assistant_posted':
      return event.data.script === undefined ? event.data.text : `${postedBy(event.data, '')}: ${event.data.text}`
    case 'assistant_message':
      return event.data.text
    case 'delivery_retried':
      return `sent once more: ${event.data.text}`
    case 'delivery_failed':
      return `${event.data.state}: ${event.data.reason}: ${event.data.text}`
    case 'assistant_step':
      return `asks for ${event.data.calls.map(({ tool }) => tool).join(', ')}`
    case 'approval_requested':
      return `${event.data.tool} waits for a yes: ${event.data.code}`
    case 'approval_decided':
      return `${event.data.code} is ${event.data.state} by ${event.data.by}`
    case 'tool_call':
      return `${event.data.tool} begins (${event.data.class})`
    case 'tool_result':
      return `${event.data.tool}${event.data.isError ? ' failed' : ''}: ${inWords(event.data.content)}`
    case 'turn_completed':
      return endText(event.data)
    case 'turn_cancelled':
      return event.data.reason
    case 'turn_resumed':
      return `attempt ${event.data.attempt}`
    case 'messages_dropped':
      return `${event.data.messages} waiting will not be answered`
    case 'thread_read':
      return threadText(event.data)
    case 'files_read':
      return filesText(event.data)
    case 'turn_steered':
      return `took in ${event.data.messages} more`
    case 'turn_started':
      return event.data.traceId
    case 'history_taken_over':
      return `${counted(event.data.events, 'event')} taken over from ${event.data.from}`
    case 'history_boundary':
      return boundaryText(event.data)
    case 'context_compacted':
      return `a summary stands for ${counted(event.data.turns, 'turn')}: ${event.data.text}`
    case 'exchange_taken_back':
      return `the exchange of ${event.data.turn} was taken back${event.data.again ? ', and is answered again' : ''}`
    case 'session_exported':
      return `exported as ${event.data.format}${event.data.path === undefined ? '' : ` to ${event.data.path}`}`
    case 'checkpoint_written':
      return checkpointText(event.data)
    case 'words_forgotten':
      return `${counted(event.data.events, 'event')} emptied of what was said`
    case 'session_started':
      return startText(event.data)
    case 'agent_updated':
      return `changed: ${event.data.changed.join(', ')}`
  }
}

/** Returns the beginning of a line of words: an app is marked as the model sees it. */
function writer(data: UserMessageData, did = ''): string {
  const { from, own, sender } = data
  if (from !== undefined || own || sender.kind !== 'bot') return `${speakerName(data)}${did}:`
  return `[app: ${calledBy(sender)}]${did === '' ? '' : `${did}:`}`
}

/** Returns the words of a message, and below them what came with it, in words. */
export function saidText(data: UserMessageData): string {
  const things = (data.enclosed ?? []).map((line) => `[${plainExcerpt(line, LONGEST_LINE)}]`)
  const files = (data.attachments ?? []).map(attachedText)
  return [labelledWords(data), ...things, ...files].filter((part) => part !== '').join('\n')
}

/** A voice note is named, with what is said in it where that is known. */
function attachedText(file: AttachmentRef): string {
  const name = `[${fileWords(file)}]`
  return file.spoken === undefined ? name : `${name} ${escapeLabels(file.spoken)}`
}

const LONGEST_LINE = 500

function filesText({ files }: FilesReadData): string {
  return files
    .map(fileText)
    .filter((text) => text !== '')
    .join('\n')
}

function fileText({ media, text, spoken, cut, unread }: ReadFile): string {
  if (unread !== undefined) return `not shown: ${unread}`
  if (spoken !== undefined) return `said: ${spoken}`
  const kept = media === undefined ? '' : nameOf(media)
  if (text === undefined) return kept
  return `${kept}: ${text.length} characters of text${cut === undefined ? '' : `, without ${cut}`}`.trim()
}

function threadText({ messages, leftOut, failed, channel }: ThreadReadData): string {
  if (channel) return `was shown ${counted(messages.length, 'message')} of the channel from before`
  if (failed !== undefined) return `the thread could not be read: ${failed}`
  const left = messages.filter((message) => !isNothing(message))
  const said = left.map((message) => `\n${writer(message)} ${saidText(message)}`)
  const without = leftOut === 0 ? '' : `, ${leftOut} left out`
  return `${counted(left.length, 'message')} of the thread${without}${said.join('')}`
}

function counted(many: number, noun: string): string {
  return `${many === 0 ? 'no' : many} ${noun}${many === 1 ? '' : 's'}`
}

function checkpointText({ reason, entries, working }: CheckpointData): string {
  const kept = entries.length === 0 ? '' : `, memory ${entries.map((no) => `#${no}`).join(' ')}`
  return `checkpoint (${reason})${kept}${working === undefined ? '' : `, working memory: ${working}`}`
}

function startText({ agent, workspace, context = {} }: SessionStartData): string {
  const variables = Object.entries(context).map(([name, value]) => `, ${name}: ${value}`)
  const group = workspace === undefined ? '' : `, workspace ${workspace}`
  return `agent ${agent}${group}${variables.join('')}`
}

function endText({ outcome, error, partial }: TurnEndData): string {
  const why = error === undefined ? outcome : `${outcome}: ${error}`
  return partial === undefined ? why : `${why}, after this was shown: ${partial}`
}

function boundaryText(boundary: HistoryBoundary): string {
  switch (boundary.kind) {
    case 'truncated':
      return `the model is shown the newest ${boundary.turns === 1 ? 'turn' : `${boundary.turns} turns`}`
    case 'compacted':
      return 'what was hidden from the model stays hidden'
    case 'replaced':
      return `the model is shown other turns instead: ${boundary.exchanges.length}`
  }
}
