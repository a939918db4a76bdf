import type { ApiMetadata } from './api-types.ts'
import { readChannel, readWritableChannel } from './conversations.ts'
import { type StoredMessage, threadOf } from './message-store.ts'
import { isRecord, type Params, structureParam, textParam } from './params.ts'
import { readAttachments } from './read-attachments.ts'
import { SlackApiError } from './slack-error.ts'
import type { WebApi } from './web-api.ts'
import type { ChannelState } from './world-state.ts'

const MOST_TEXT = 40_000
/** chat.update is stricter than chat.postMessage. */
const MOST_UPDATE = 4_000
const MOST_MARKDOWN = 12_000
const MOST_BLOCKS = 50
const MOST_SECTION = 3_000
const MOST_IN_BLOCKS = 13_200

type Answer = Readonly<Record<string, unknown>>

export function postMessage(api: WebApi, params: Params): Answer {
  const channel = readWritableChannel(api, params)
  const { text, truncated } = readContent(params, MOST_TEXT)
  const thread = readThread(channel, params)
  const metadata = readMetadata(params)
  const message = api.world.post(channel, {
    text,
    ...readAttachments(params),
    ...(thread !== undefined && { thread }),
    ...(metadata !== undefined && { metadata }),
  })
  const warning = 'message_truncated'
  return {
    channel: channel.id,
    ts: message.ts,
    message,
    ...(truncated && { warning, response_metadata: { warnings: [warning] } }),
  }
}

/** Shows a text to one member of the conversation; it is kept nowhere. */
export function postEphemeral(api: WebApi, params: Params): Answer {
  const channel = readWritableChannel(api, params)
  const user = textParam(params, 'user')
  if (user === undefined) throw new SlackApiError('invalid_arguments')
  if (!channel.members.has(user)) throw new SlackApiError('user_not_in_channel')
  const thread = readThread(channel, params)
  const { text } = readContent(params, MOST_TEXT)
  return { message_ts: api.world.whisper(channel, { user, text, thread: thread ?? null }) }
}

export function updateMessage(api: WebApi, params: Params): Answer {
  const channel = readWritableChannel(api, params)
  const stored = readOwn(channel, params, 'cant_update_message')
  const given = textParam(params, 'text') ?? ''
  if (given.length > MOST_UPDATE) throw new SlackApiError('msg_too_long')
  const { text } = readContent(params, MOST_TEXT)
  const attachments = readAttachments(params)
  const same = stored.message.text === text && Object.keys(attachments).length === 0
  const message = same ? stored.message : api.world.update(channel, stored, text, attachments)
  return { channel: channel.id, ts: message.ts, text: message.text, message }
}

export function deleteMessage(api: WebApi, params: Params): Answer {
  const channel = readChannel(api, params)
  const stored = readOwn(channel, params, 'cant_delete_message')
  api.world.delete(channel, stored)
  return { channel: channel.id, ts: stored.message.ts }
}

function readOwn(channel: ChannelState, params: Params, refusal: string): StoredMessage {
  const stored = channel.messages.find(textParam(params, 'ts'))
  if (stored === undefined) throw new SlackApiError('message_not_found')
  if (!stored.own) throw new SlackApiError(refusal)
  return stored
}

function readContent(params: Params, most: number): { text: string; truncated: boolean } {
  const text = textParam(params, 'text')
  const markdown = textParam(params, 'markdown_text')
  const blocks = structureParam(params, 'blocks', 'invalid_blocks_format')
  if (blocks !== undefined) checkBlocks(blocks)
  if (markdown !== undefined) {
    if (text !== undefined || blocks !== undefined) throw new SlackApiError('markdown_text_conflict')
    if (markdown.length > MOST_MARKDOWN) throw new SlackApiError('msg_too_long')
    return { text: markdown, truncated: false }
  }
  if (text === undefined && blocks === undefined) throw new SlackApiError('no_text')
  if (blocks === undefined && (text ?? '').trim() === '') throw new SlackApiError('no_text')
  const shown = text ?? ''
  return { text: shown.slice(0, most), truncated: shown.length > most }
}

function checkBlocks(blocks: unknown): void {
  if (!Array.isArray(blocks) || blocks.length > MOST_BLOCKS) throw new SlackApiError('invalid_blocks')
  const texts = blocks.map((block) => {
    if (!isRecord(block) || typeof block.type !== 'string') throw new SlackApiError('invalid_blocks')
    const text = isRecord(block.text) ? block.text.text : block.text
    const shown = typeof text === 'string' ? text : ''
    if (block.type === 'section' && shown.length > MOST_SECTION) throw new SlackApiError('invalid_blocks')
    return shown.length
  })
  const total = texts.reduce((sum, length) => sum + length, 0)
  if (total > MOST_IN_BLOCKS) throw new SlackApiError('msg_blocks_too_long')
}

/** This is stricter than the platform: a missing thread is refused instead of being made up. */
export function readThread({ messages, threadless, locked }: ChannelState, params: Params): string | undefined {
  const thread = textParam(params, 'thread_ts')
  if (thread === undefined) return undefined
  if (!/^\d+\.\d{6}$/.test(thread)) throw new SlackApiError('invalid_thread_ts')
  if (threadless) throw new SlackApiError('restricted_action_non_threadable_channel')
  if (locked.has(thread)) throw new SlackApiError('restricted_action_thread_locked')
  const root = messages.find(thread)
  if (root === undefined) throw new SlackApiError('thread_not_found')
  if (threadOf(root.message) !== null) throw new SlackApiError('cannot_reply_to_message')
  return thread
}

function readMetadata(params: Params): ApiMetadata | undefined {
  const refusal = 'invalid_metadata_format'
  const given = structureParam(params, 'metadata', refusal)
  if (given === undefined) return undefined
  if (!isRecord(given) || typeof given.event_type !== 'string' || !isRecord(given.event_payload)) {
    throw new SlackApiError(refusal)
  }
  return { event_type: given.event_type, event_payload: given.event_payload }
}
