import type { Address } from '../../../src/core/address.ts'
import {
  type Forwarded,
  hasForeignText,
  type InboundText,
  type QuotedMessage,
  type Sender,
} from '../../../src/core/message.ts'
import { type Fields, fieldsOf, isFields, Malformed, optionalText, present } from '../../shared/fields.ts'
import { dropped, type InboundReading, wordOf } from '../../shared/reading.ts'
import { sharedWords } from '../../shared/shared-words.ts'
import { DELIVERY_EVENT, idOf, isStamp, timeOfStamp, toAddress, toChatType } from '../address.ts'
import { asShared, readAttachments } from './attachments.ts'
import { readMrkdwn } from './mrkdwn-text.ts'
import type { InboundContext, OwnBot } from './reading.ts'

/** Subtypes under which people and other apps write. */
const WRITTEN: ReadonlySet<unknown> = new Set([
  undefined,
  'file_share',
  'thread_broadcast',
  'me_message',
  'bot_message',
])

/**
 * A `message` or `app_mention` event. A mention in a channel comes as both, with different event ids: the key is the
 * channel and ts they share, so the second is a repetition.
 */
export function readMessage(event: Fields, context: InboundContext): InboundReading {
  if (!WRITTEN.has(event.subtype)) return dropped(`message:${wordOf(event.subtype)}`)
  if (isOurs(event, context)) return dropped(isOwn(event, context) ? 'own_message' : 'slackbot')
  const { facts, command, opens } = readTextFacts(event, event, context)
  if (facts.text === '' && facts.attachments.length === 0) return dropped('message:empty')
  const eventKey = messageKey(facts, context)
  return command === undefined
    ? { kind: 'event', event: { kind: 'message', eventKey, ...facts, ...(opens === undefined ? {} : { opens }) } }
    : { kind: 'event', event: { kind: 'command', eventKey, ...facts, ...command } }
}

/** A `message_changed` event: an edit by a person, or one of the many changes that leave the text alone. */
export function readEdit(event: Fields, context: InboundContext): InboundReading {
  const message = fieldsOf(event.message)
  const before = isFields(event.previous_message) ? event.previous_message : {}
  // The root of a thread that has answers leaves a stone in its place.
  if (message.subtype === 'tombstone') return readDelete({ ...event, deleted_ts: message.ts }, context)
  if (isOurs(message, context)) return dropped('own_message')
  if (message.text === before.text || !isFields(message.edited)) return dropped('message:unchanged')
  if (!WRITTEN.has(message.subtype)) return dropped(`message:${wordOf(message.subtype)}`)
  const { facts } = readTextFacts(message, event, context)
  const at = stampOf(event.ts ?? event.event_ts)
  const eventKey = `${keyBase(context)}:edit:${facts.address.chat}/${facts.messageId}#${at}`
  return {
    kind: 'event',
    event: { kind: 'edit', eventKey, original: messageKey(facts, context), ...facts, sentAt: timeOfStamp(at) },
  }
}

/** A `message_deleted` event; the platform does not say who deleted it, so its author stands for them. */
export function readDelete(event: Fields, context: InboundContext): InboundReading {
  const message = fieldsOf(event.previous_message)
  if (isOurs(message, context)) return dropped('own_message')
  const messageId = stampOf(event.deleted_ts)
  const address = readPlace(message, event, context)
  const at = stampOf(event.ts ?? event.event_ts)
  return {
    kind: 'event',
    event: {
      kind: 'delete',
      eventKey: `${keyBase(context)}:delete:${address.chat}/${messageId}`,
      address,
      sender: readSender(message, context),
      sentAt: timeOfStamp(at),
      messageId,
      original: messageKey({ address, messageId }, context),
    },
  }
}

type TextFacts = Omit<Extract<InboundText, { kind: 'message' }>, 'kind' | 'eventKey'>

interface TextReading {
  readonly facts: TextFacts
  readonly command: { readonly name: string; readonly args: string } | undefined
  /** The thread an answer to it would begin. */
  readonly opens?: string
}

/** `frame` is the event around the message; for a new message it is the message itself. */
function readTextFacts(message: Fields, frame: Fields, context: InboundContext): TextReading {
  const { bot } = context
  const { mentioned, mentionsMany, text: own } = readMrkdwn(optionalText(message.text) ?? '', bot)
  const words = readWords(own, message, context)
  const messageId = stampOf(message.ts)
  const place = readPlace(message, frame, context)
  const quoted = readQuoted(message, context)
  const named = mentioned.includes(bot.userId)
  const command = hasForeignText(words) ? undefined : readCommand(own, context)
  // A message at the root of a channel that is answered begins a thread: its answer goes there, and so does what
  // follows. One that addresses the bot is in it already. A command is about the channel itself.
  const atRoot = place.chatType === 'channel' && place.topic === undefined && command === undefined
  const begins = atRoot && named
  return {
    facts: {
      address: begins ? { ...place, topic: messageId } : place,
      sender: readSender(message, context),
      ...present('titles', context.titles),
      sentAt: timeOfStamp(messageId),
      messageId,
      ...words,
      mentioned: place.chatType === 'direct' || named || quoted?.own === true,
      mentionsOthers: mentionsMany || mentioned.some((user) => user !== bot.userId),
      ...(quoted === undefined ? {} : { quoted }),
      attachments: [...readAttachments(message), ...sharesOf(message).flatMap(readAttachments).map(asShared)],
    },
    command,
    ...(atRoot && !named ? { opens: messageId } : {}),
  }
}

/** The text of a message, and what it shares, whose text is its author's. */
function readWords(
  own: string,
  message: Fields,
  { bot, authorTeam }: InboundContext,
): Pick<TextFacts, 'text' | 'forwarded'> {
  const shares = sharesOf(message)
  const [first] = shares
  if (first === undefined) return { text: own }
  const texts = shares.map(({ text, fallback }) => readMrkdwn(optionalText(text ?? fallback) ?? '', bot).text)
  return sharedWords(own, texts.join('\n'), shares.length === 1 ? authorOf(first, authorTeam) : {})
}

/**
 * Returns the messages that a message shares: they come as attachments, which the platform marks. Any other attachment,
 * such as the preview of a link, is not text of a message.
 */
export function sharesOf({ attachments }: Fields): readonly Fields[] {
  if (!Array.isArray(attachments)) return []
  return attachments.filter(isFields).filter(({ is_share, is_msg_unfurl }) => is_share || is_msg_unfurl)
}

/** Returns the user who wrote what a message shares, where it shares one message of a person. */
export function sharedAuthor(message: Fields): string | undefined {
  const [only, ...others] = sharesOf(message)
  const id = others.length === 0 ? only?.author_id : undefined
  return typeof id === 'string' && /^[UW][A-Z0-9]+$/.test(id) ? id : undefined
}

/** Another bot's post may name no user. A user whose workspace is not known may be anybody of that id. */
function authorOf(share: Fields, team: string | undefined): Forwarded {
  const name = optionalText(share.author_name) || optionalText(share.author_subname)
  const id = sharedAuthor({ attachments: [share] })
  if (id === undefined || team === undefined) return name ? { name } : {}
  const from: Sender = { id, kind: 'user', team }
  return { from: name ? { ...from, displayName: name } : from }
}

/** The address of a message; a thread is a topic, named by the ts of its root. */
export function readPlace(message: Fields, frame: Fields, { account, bot, chatType }: InboundContext): Address {
  const topic = message.thread_ts === undefined ? undefined : stampOf(message.thread_ts)
  return toAddress(account, {
    chatType: toChatType(frame.channel_type) ?? chatType,
    chat: idOf(frame.channel),
    team: bot.team,
    topic,
  })
}

/** Returns the workspace of whoever wrote a message, if it names one: some kinds of messages do not. */
export function teamIn({ user_team: user, source_team: source, team, bot_profile: app }: Fields): string | undefined {
  const named = [user, source, team, isFields(app) ? app.team_id : undefined]
  return named.find((id): id is string => typeof id === 'string' && id !== '')
}

/**
 * Users of another workspace (Slack Connect) keep their own team: the same id there would be somebody else. Without a
 * team a sender is one of ours only where nobody else can write.
 */
export function readSender(message: Fields, { bot, senderName, internal }: InboundContext): Sender {
  const profile = isFields(message.user_profile) ? message.user_profile : {}
  const isBot = message.bot_id !== undefined
  const app = isFields(message.bot_profile) ? message.bot_profile : {}
  const team = teamIn(message) ?? (internal ? bot.team : undefined)
  const botName = isBot ? optionalText(message.username) || optionalText(app.name) : undefined
  const displayName = botName || optionalText(profile.display_name) || optionalText(profile.real_name) || senderName
  return {
    // An app without a user of its own, such as an incoming webhook, is known by its bot id alone.
    id: idOf(isBot ? (message.user ?? message.bot_id) : message.user),
    kind: isBot ? 'bot' : 'user',
    ...present('team', team),
    ...(displayName ? { displayName } : {}),
  }
}

/** In a thread that the bot began, every message replies to the bot. */
function readQuoted(message: Fields, { bot }: InboundContext): QuotedMessage | undefined {
  if (message.thread_ts === undefined || message.thread_ts === message.ts) return undefined
  return { messageId: stampOf(message.thread_ts), own: message.parent_user_id === bot.userId }
}

/**
 * `!name` or `/name` at the start, behind a mention of the bot too. Slash commands do not work in threads, `!` does.
 */
function readCommand(text: string, { bot, commands }: InboundContext): TextReading['command'] {
  const own = `@${bot.username}`
  const start = text.startsWith(own) ? text.slice(own.length).trimStart() : text
  const [, name = '', args = ''] = /^[!/]([a-z][a-z0-9_-]{0,31})(?:\s+([\s\S]*))?$/i.exec(start) ?? []
  return commands.has(name.toLowerCase()) ? { name: name.toLowerCase(), args: args.trim() } : undefined
}

/** Our own messages, and the notices of the platform. */
function isOurs(message: Fields, context: InboundContext): boolean {
  return message.user === 'USLACKBOT' || isOwn(message, context)
}

export function isOwn(message: Fields, { bot }: Pick<InboundContext, 'bot'>): boolean {
  return message.user === bot.userId || message.bot_id === bot.botId
}

/** Returns the ts of the message that this one answers; undefined where it is none of our deliveries. */
export function answeredBy(message: Fields, bot: OwnBot): string | undefined {
  if (!isOwn(message, { bot })) return undefined
  const { event_type: type, event_payload: payload } = isFields(message.metadata) ? message.metadata : {}
  if (type !== DELIVERY_EVENT || !isFields(payload)) return undefined
  return isStamp(payload.answers) ? payload.answers : undefined
}

function messageKey(
  { address, messageId }: { readonly address: Address; readonly messageId: string },
  context: InboundContext,
): string {
  return `${keyBase(context)}:message:${address.chat}/${messageId}`
}

export function keyBase({ bot }: InboundContext): string {
  return `${bot.team}/${bot.userId}`
}

export function stampOf(value: unknown): string {
  if (!isStamp(value)) throw new Malformed('a ts is missing')
  return value
}
