import type { ApiAttachment, ApiMessage, ApiSnapshot, ApiUser } from './api-types.ts'
import { isRecord } from './read-body.ts'
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
  const copied = Object.entries(original).filter(([name]) => SNAPSHOT.has(name))
  const snapshot = { message: Object.fromEntries(copied) } as unknown as ApiSnapshot
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

/** The fields of a message that a forward has. */
const SNAPSHOT = new Set(
  'type content embeds attachments timestamp edited_timestamp flags mentions mention_roles sticker_items components'.split(
    ' ',
  ),
)

/** Fields and their types; a name in brackets is a list of objects, any other one an object of that name. */
type Shape = Readonly<Record<string, string>>

const texts = (...names: readonly string[]): Shape => Object.fromEntries(names.map((name) => [name, 'string']))

/** The objects of the platform as its documentation lists their fields. */
const SHAPES: Readonly<Record<string, Shape>> = {
  message: {
    ...texts('content', 'timestamp', 'edited_timestamp', 'webhook_id', 'application_id'),
    ...{ type: 'number', flags: 'number', position: 'number', tts: 'boolean', mention_everyone: 'boolean' },
    ...{ mention_roles: 'any', mentions: 'any', attachments: '[attachment]', mention_channels: '[channel]' },
    ...{ embeds: '[embed]', components: '[component]', sticker_items: '[sticker]', stickers: '[sticker]' },
    ...{ activity: 'activity', application: 'named', poll: 'poll', call: 'any', shared_client_theme: 'any' },
    ...{ message_reference: 'reference', message_snapshots: '[snapshot]', referenced_message: 'any', resolved: 'any' },
    ...{ interaction: 'interaction', interaction_metadata: 'any', role_subscription_data: 'any', thread: 'any' },
  },
  attachment: {
    ...texts('id', 'filename', 'title', 'description', 'content_type', 'url', 'proxy_url', 'waveform'),
    ...{ size: 'number', duration_secs: 'number', flags: 'number', width: 'number', height: 'number' },
  },
  channel: { ...texts('id', 'guild_id', 'name'), type: 'number' },
  embed: {
    ...texts('title', 'type', 'description', 'url', 'timestamp'),
    ...{ color: 'number', flags: 'number', footer: 'named', image: 'media', thumbnail: 'media', video: 'media' },
    ...{ provider: 'named', author: 'named', fields: '[field]' },
  },
  field: { ...texts('name', 'value'), inline: 'boolean' },
  named: texts('id', 'name', 'text', 'url', 'icon_url', 'description', 'icon'),
  media: {
    ...texts('url', 'proxy_url', 'content_type', 'description', 'attachment_id'),
    ...{ width: 'number', height: 'number', flags: 'number' },
  },
  component: {
    ...texts('custom_id', 'label', 'url', 'placeholder', 'content', 'description', 'name', 'sku_id'),
    ...{ type: 'number', id: 'number', style: 'number', size: 'number', spacing: 'number', accent_color: 'number' },
    ...{ disabled: 'boolean', spoiler: 'boolean', divider: 'boolean', emoji: 'emoji', options: '[option]' },
    ...{ components: '[component]', accessory: 'component', media: 'media', file: 'media', items: '[item]' },
  },
  emoji: { ...texts('id', 'name'), animated: 'boolean' },
  option: { ...texts('label', 'value', 'description'), default: 'boolean', emoji: 'emoji' },
  item: { media: 'media', description: 'string', spoiler: 'boolean' },
  sticker: { ...texts('id', 'name', 'description', 'tags'), format_type: 'number' },
  activity: { type: 'number', party_id: 'string' },
  poll: {
    ...{ question: 'pollMedia', answers: '[answer]', expiry: 'string', allow_multiselect: 'boolean' },
    ...{ layout_type: 'number', results: 'results' },
  },
  pollMedia: { text: 'string', emoji: 'emoji' },
  answer: { answer_id: 'number', poll_media: 'pollMedia' },
  results: { is_finalized: 'boolean', answer_counts: '[count]' },
  count: { id: 'number', count: 'number', me_voted: 'boolean' },
  reference: { type: 'number', ...texts('message_id', 'channel_id', 'guild_id') },
  snapshot: { message: 'message' },
  interaction: { ...texts('id', 'name'), type: 'number', user: 'any' },
}

/** Returns the fields of an object of the platform; throws for one that it does not have, or of another type. */
export function checkFields<Given extends Readonly<Record<string, unknown>>>(kind: string, given: Given): Given {
  for (const [name, value] of Object.entries(given)) {
    const type = SHAPES[kind]?.[name]
    if (type === undefined) throw new Error(`The platform's ${kind} has no field ${name}.`)
    checkValue(type, value, `${kind}.${name}`)
  }
  return given
}

function checkValue(type: string, value: unknown, at: string): void {
  if (type === 'any' || value === null) return
  if (type.startsWith('[')) {
    if (!Array.isArray(value)) throw new Error(`${at} is a list.`)
    for (const item of value) checkValue(type.slice(1, -1), item, at)
  } else if (SHAPES[type] !== undefined) {
    if (!isRecord(value)) throw new Error(`${at} is an object.`)
    checkFields(type, value)
  } else if (typeof value !== type) throw new Error(`${at} is a ${type}.`)
}
