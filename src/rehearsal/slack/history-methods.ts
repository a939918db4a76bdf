import type { ApiMessage } from './api-types.ts'
import { readReadableChannel } from './conversations.ts'
import { threadOf } from './message-store.ts'
import { countParam, flagParam, type Params, textParam } from './params.ts'
import { SlackApiError } from './slack-error.ts'
import type { WebApi } from './web-api.ts'
import type { ChannelState } from './world-state.ts'

type Answer = Readonly<Record<string, unknown>>

/** Returns the messages of the conversation itself, newest first, without replies in threads. */
export function history(api: WebApi, params: Params): Answer {
  const channel = readReadableChannel(api, params)
  const all = channel.messages.list({ thread: null }).map(({ message }) => withReplies(channel, message))
  return page(all.toReversed(), params)
}

/** A root has the number of its replies and the time of the last. */
function withReplies({ messages }: ChannelState, root: ApiMessage): ApiMessage {
  const replies = messages.list({ thread: root.ts }).map(({ message }) => message)
  const latest = replies.at(-1)
  if (latest === undefined) return root
  return { ...root, thread_ts: root.ts, reply_count: replies.length, latest_reply: latest.ts }
}

/** Returns a thread's root and its replies, oldest first. */
export function replies(api: WebApi, params: Params): Answer {
  const channel = readReadableChannel(api, params)
  const ts = textParam(params, 'ts')
  const root = channel.messages.find(ts)
  if (root === undefined) throw new SlackApiError('thread_not_found')
  const thread = threadOf(root.message) ?? root.message.ts
  const messages = channel.messages.list().map(({ message }) => message)
  return page(
    messages
      .filter((message) => message.ts === thread || threadOf(message) === thread)
      .map((message) => (message.ts === thread ? withReplies(channel, message) : message)),
    params,
  )
}

/** Stamps have equal length, so they compare as text. */
function page(messages: readonly ApiMessage[], params: Params): Answer {
  const oldest = textParam(params, 'oldest') ?? '0'
  const latest = textParam(params, 'latest')
  const inclusive = flagParam(params, 'inclusive')
  const limit = countParam(params, 'limit', { least: 1, most: 999, usual: 100 })
  const from = cursorOf(textParam(params, 'cursor'))
  const inRange = ({ ts }: ApiMessage) => {
    const [at, low] = [Number(ts), Number(oldest)]
    const high = latest === undefined ? Number.POSITIVE_INFINITY : Number(latest)
    return inclusive ? at >= low && at <= high : at > low && at < high
  }
  const found = messages.filter(inRange)
  const next = from + limit
  const more = found.length > next
  const withMetadata = flagParam(params, 'include_all_metadata')
  return {
    messages: found
      .slice(from, next)
      .map(({ metadata, ...message }) => (withMetadata && metadata !== undefined ? { ...message, metadata } : message)),
    has_more: more,
    ...(more && { response_metadata: { next_cursor: Buffer.from(`next:${next}`).toString('base64') } }),
  }
}

function cursorOf(cursor: string | undefined): number {
  if (cursor === undefined) return 0
  const match = /^next:(\d+)$/.exec(Buffer.from(cursor, 'base64').toString())
  if (match === null) throw new SlackApiError('invalid_cursor')
  return Number(match[1])
}
