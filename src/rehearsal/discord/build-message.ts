import type { ApiAttachment, ApiMessage, ApiSnapshot, ApiUser } from './api-types.ts'
import type { ChannelState, StoredMessage, WorldState } from './world-state.ts'

export interface MessageParts {
  readonly state: ChannelState
  readonly author: ApiUser
  readonly content: string
  readonly mentions?: readonly ApiUser[]
  readonly attachments?: readonly ApiAttachment[]
  readonly replied?: ApiMessage
  /** True if the author of the message replied to is notified, the default of people's clients. */
  readonly pingReplied?: boolean
}

/** Returns a message in the platform's form for answers and dispatches (the dispatch adds the guild). */
export function buildMessage(world: WorldState, parts: MessageParts): ApiMessage {
  const { state, author, content, replied } = parts
  const mentions = [...(parts.mentions ?? findMentions(world, content))]
  if (replied !== undefined && parts.pingReplied === true && !mentions.some(({ id }) => id === replied.author.id)) {
    mentions.push(replied.author)
  }
  return {
    id: world.ids.next(),
    type: replied === undefined ? 0 : 19,
    channel_id: state.channel.id,
    author,
    content,
    timestamp: new Date(world.now()).toISOString(),
    edited_timestamp: null,
    tts: false,
    mention_everyone: /@(everyone|here)\b/.test(content) && author.bot !== true,
    mentions,
    mention_roles: [...content.matchAll(/<@&(\d+)>/g)].map(([, id]) => id ?? ''),
    attachments: parts.attachments ?? [],
    embeds: [],
    pinned: false,
    components: [],
    ...(replied !== undefined && {
      message_reference: referenceTo(state, replied, 0),
      referenced_message: flat(replied),
    }),
  }
}

export function storeMessage({ channel, messages }: ChannelState, message: ApiMessage, at: number): StoredMessage {
  const stored: StoredMessage = {
    message,
    deleted: false,
    history: [{ at, text: message.content }],
    reactions: new Set(),
  }
  messages.set(message.id, stored)
  channel.last_message_id = message.id
  return stored
}

/**
 * Returns the users written as `<@id>` or `<@!id>`; those in code blocks count as well, since the platform's rule is
 * unknown.
 */
function findMentions(world: WorldState, content: string): ApiUser[] {
  const ids = new Set([...content.matchAll(/<@!?(\d+)>/g)].map(([, id]) => id ?? ''))
  return [...ids].flatMap((id) => world.users.get(id) ?? [])
}

/** Returns the fields of a message that forwards another one: empty but for a snapshot, and it mentions nobody. */
export function forwardFields(
  state: ChannelState,
  original: ApiMessage,
): Pick<ApiMessage, 'message_reference' | 'message_snapshots'> {
  const { type, content, timestamp, edited_timestamp, mentions, mention_roles, attachments, embeds } = original
  const snapshot: ApiSnapshot = {
    message: { type, content, timestamp, edited_timestamp, mentions, mention_roles, attachments, embeds },
  }
  return {
    message_reference: referenceTo(state, original, 1),
    message_snapshots: original.message_snapshots ?? [snapshot],
  }
}

function referenceTo(
  { channel }: ChannelState,
  replied: ApiMessage,
  type: 0 | 1,
): NonNullable<ApiMessage['message_reference']> {
  return {
    type,
    message_id: replied.id,
    channel_id: channel.id,
    ...(channel.guild_id !== undefined && { guild_id: channel.guild_id }),
  }
}

/** A message that is replied to never carries the one that it replied to itself. */
function flat(message: ApiMessage): ApiMessage {
  const { referenced_message: _, ...rest } = message
  return rest
}
