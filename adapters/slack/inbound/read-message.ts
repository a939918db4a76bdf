import type { Address } from '../../../src/core/address.ts'
import {
  type Forwarded,
  hasForeignText,
  type InboundText,
  type QuotedMessage,
  type Sender,
} from '../../../src/core/message.ts'
import { nearMatch } from '../../../src/core/near-match.ts'
import { type Fields, fieldsOf, isFields, Malformed, optionalText, present, textIn } from '../../shared/fields.ts'
import { dropped, type InboundReading, wordOf } from '../../shared/reading.ts'
import { presentMentions, sharedWords } from '../../shared/shared-words.ts'
import { DELIVERY_EVENT, idOf, isStamp, timeOfStamp, toAddress, toChatType } from '../address.ts'
import { readMrkdwn, Wording } from './mrkdwn-text.ts'
import { asShared, isOfSlackbot, passesOnMail, readFiles, SLACKBOT, saidIn, sharedIn, sharesOf } from './read-parts.ts'
import type { InboundContext, OwnBot } from './reading.ts'

/** Subtypes under which the platform itself says what has happened in a place; FACTS.md lists them. */
const NOTICES =
  /^(?:(?:channel|group|app_conversation)_[a-z_]+|bot_(?:add|remove|enable|disable)|joiner_notification[a-z_]*|(?:un)?pinned_item|reminder_delete|tombstone|ekm_access_denied|assistant_app_thread|message_replied|reply_broadcast)$/
/**
 * A `message` or `app_mention` event. A mention in a channel comes as both, with different event ids, and once more as
 * `app_mention` when the message is edited: the key is the channel and ts they share, so the others are repetitions.
 */
export function readMessage(event: Fields, context: InboundContext): InboundReading {
  if (isNotice(event)) return dropped(`message:${wordOf(event.subtype)}`)
  if (isOwn(event, context) && !context.readsOwn) return dropped('own_message')
  const { facts, command, opens } = readTextFacts(event, event, context)
  if (isEmpty(facts)) return dropped('message:empty')
  const eventKey = messageKey(facts, context)
  return command === undefined
    ? { kind: 'event', event: { kind: 'message', eventKey, ...facts, ...(opens === undefined ? {} : { opens }) } }
    : { kind: 'event', event: { kind: 'command', eventKey, ...facts, ...command } }
}

/**
 * A `message_changed` event: an edit where people read something else than before, be it in the blocks of an app alone.
 * Most changes leave all that was written as it is: the preview of a link, an answer in the thread, a reaction.
 */
export function readEdit(event: Fields, context: InboundContext): InboundReading {
  const message = fieldsOf(event.message)
  const before = isFields(event.previous_message) ? event.previous_message : undefined
  // The root of a thread that has answers leaves a stone in its place.
  if (message.subtype === 'tombstone') return readDelete({ ...event, deleted_ts: message.ts }, context)
  if (isOwn(message, context)) return dropped('own_message')
  if (isNotice(message)) return dropped(`message:${wordOf(message.subtype)}`)
  const isChanged = before === undefined ? isFields(message.edited) : isOther(message, before, context)
  if (!isChanged) return dropped('message:unchanged')
  const { facts } = readTextFacts(message, event, context)
  const at = stampOf(event.ts ?? event.event_ts)
  const eventKey = `${keyBase(context)}:edit:${facts.address.chat}/${facts.messageId}#${at}`
  return {
    kind: 'event',
    event: { kind: 'edit', eventKey, original: messageKey(facts, context), ...facts, sentAt: timeOfStamp(at) },
  }
}

/** Says whether people read something else in a message than before. */
function isOther(message: Fields, before: Fields, context: InboundContext): boolean {
  const [now, then] = [message, before].map((one) => {
    const { text, enclosed } = saidIn(one, new Wording(context.bot, context.names))
    return JSON.stringify([text, enclosed])
  })
  return now !== then
}

/** A `message_deleted` event; the platform does not say who deleted it, so its author stands for them. */
export function readDelete(event: Fields, context: InboundContext): InboundReading {
  const message = fieldsOf(event.previous_message)
  if (isOwn(message, context)) return dropped('own_message')
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

/** The platform has given a channel a new id, which happens where it is shared with another organisation. */
export function readMigration(event: Fields, context: InboundContext): InboundReading {
  const [from, to] = [idOf(event.old_channel_id), idOf(event.new_channel_id)]
  const placeOf = (chat: string) => readPlace({}, { channel: chat }, context)
  return {
    kind: 'event',
    event: {
      kind: 'migration',
      eventKey: `${keyBase(context)}:migration:${from}/${to}`,
      address: placeOf(from),
      to: placeOf(to),
      sender: slackbot(context),
      sentAt: timeOfStamp(stampOf(event.event_ts)),
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
  const raw = readMrkdwn(optionalText(message.text) ?? '', bot)
  const { words, wording, hasOwn } = readWords(message, context)
  const messageId = stampOf(message.ts)
  const place = readPlace(message, frame, context)
  const quoted = readQuoted(message, context)
  const mentioned = [...raw.mentioned, ...wording.mentioned]
  const named = mentioned.includes(bot.userId)
  const sender = readSender(message, context)
  const isAsked = hasOwn && sender.kind === 'user'
  const addressed = place.chatType === 'direct' || named || quoted?.own === true
  const command = isAsked ? readCommand(raw.text, context, addressed) : undefined
  // A message at the root of a channel that is answered begins a thread: its answer goes there, and so does what
  // follows. One that addresses the bot is in it already. A command is about the channel itself.
  const atRoot = place.chatType === 'channel' && place.topic === undefined && command === undefined
  const begins = atRoot && named
  return {
    facts: {
      address: begins ? { ...place, topic: messageId } : place,
      sender,
      ...(isOwn(message, context) ? { own: true as const } : {}),
      ...present('titles', context.titles),
      sentAt: timeOfStamp(messageId),
      messageId,
      ...words,
      mentioned: addressed,
      mentionsOthers: raw.mentionsMany || wording.mentionsMany || mentioned.some((user) => user !== bot.userId),
      ...presentMentions(wording.mentions),
      ...(quoted === undefined ? {} : { quoted }),
    },
    command,
    ...(atRoot && !named ? { opens: messageId } : {}),
  }
}

/** Returns the words and things of a message, and what it passes on, whose words are their author's. */
function readWords(message: Fields, context: InboundContext) {
  const wording = new Wording(context.bot, context.names)
  const { text: own, enclosed, added } = saidIn(message, wording)
  const shares = sharesOf(message)
  const passesOn = shares.length > 0 || passesOnMail(message)
  const [first] = shares
  const by = first === undefined || shares.length > 1 ? {} : authorOf(first, context.authorTeam)
  const words = passesOn ? sharedWords(own, sharedIn(message, wording.beside()), by) : { text: own }
  const attachments = [...readFiles(message), ...shares.flatMap(readFiles).map(asShared)]
  const isSilent = words.text === '' && attachments.length === 0 && enclosed.length + added.length === 0
  const unshown =
    isSilent && !isByApp(message, context) ? [`a message that cannot be shown here: ${kindOf(message)}`] : []
  const things = [...enclosed, ...added, ...unshown]
  return {
    words: { ...words, attachments, ...(things.length === 0 ? {} : { enclosed: things }) },
    wording,
    hasOwn: !hasForeignText(words),
  }
}

/** Returns the word for a kind of message in which nothing can be read. */
function kindOf(message: Fields): string {
  if (message.subtype !== undefined) return wordOf(message.subtype)
  return sharesOf(message).length > 0 ? 'shared from a place that the app cannot see' : 'no words'
}

/** Returns the ids of people and places that a message names, whose names have to be looked up. */
export function namedIn(message: Fields, { bot }: Pick<InboundContext, 'bot'>): Wording['unknown'] {
  const wording = new Wording(bot)
  saidIn(message, wording)
  sharedIn(message, wording)
  return wording.unknown
}

function isEmpty({ text, attachments, enclosed }: TextFacts): boolean {
  return text === '' && attachments.length === 0 && enclosed === undefined
}

function isNotice({ subtype }: Fields): boolean {
  return typeof subtype === 'string' && NOTICES.test(subtype)
}

/** Returns the user who wrote what a message shares, where it shares one message of a person. */
export function sharedAuthor(message: Fields): string | undefined {
  const [only, ...others] = sharesOf(message)
  const id = others.length === 0 ? only?.author_id : undefined
  return typeof id === 'string' && /^[UW][A-Z0-9]+$/.test(id) ? id : undefined
}

/** Another bot's post may name no user. A user whose workspace is not known may be anybody of that id. */
function authorOf(share: Fields, team: string | undefined): Forwarded {
  const name = textIn(share.author_name) || textIn(share.author_subname)
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
 * team a sender is one of ours only where nobody else can write. In an organisation of several workspaces a person has
 * one id in all of them.
 */
export function readSender(message: Fields, context: InboundContext): Sender {
  if (isOfSlackbot(message)) return slackbot(context)
  if (isOwn(message, context)) return ownSender(message, context)
  const { bot, senderName, senderIsOfOurs, internal } = context
  const profile = isFields(message.user_profile) ? message.user_profile : {}
  const isBot = isByApp(message, context)
  const app = isFields(message.bot_profile) ? message.bot_profile : {}
  const team = senderIsOfOurs ? bot.team : (teamIn(message) ?? (internal ? bot.team : undefined))
  const botName = isBot ? textIn(message.username) || textIn(app.name) : undefined
  const displayName = botName || textIn(profile.display_name) || textIn(profile.real_name) || senderName
  return {
    // An app without a user of its own, such as an incoming webhook, is known by its bot id alone.
    id: idOf(isBot ? (message.user ?? message.bot_id) : message.user),
    kind: isBot ? 'bot' : 'user',
    ...present('team', team),
    ...(displayName ? { displayName } : {}),
  }
}

/**
 * Says whether an app has written it. A post through an app with the token of a person is that person's, unless the app
 * says that it is a bot's.
 */
function isByApp(message: Fields, { senderIsPerson }: InboundContext): boolean {
  if (isOfSlackbot(message)) return true
  return message.subtype === 'bot_message' || (message.bot_id !== undefined && senderIsPerson !== true)
}

function ownSender({ username }: Fields, { bot }: InboundContext): Sender {
  return { id: bot.userId, kind: 'bot', team: bot.team, displayName: textIn(username) || bot.username }
}

function slackbot({ bot }: InboundContext): Sender {
  return { id: SLACKBOT, kind: 'bot', team: bot.team, displayName: 'Slackbot' }
}

/** In a thread that the bot began, every message replies to the bot. */
function readQuoted(message: Fields, { bot }: InboundContext): QuotedMessage | undefined {
  if (message.thread_ts === undefined || message.thread_ts === message.ts) return undefined
  return { messageId: stampOf(message.thread_ts), own: message.parent_user_id === bot.userId }
}

/**
 * `!name` or `/name` at the start, behind a mention of the bot too. Slash commands do not work in threads, `!` does. A
 * name that is nearly one of ours counts where the bot is addressed.
 */
function readCommand(text: string, { bot, commands }: InboundContext, addressed: boolean): TextReading['command'] {
  const own = `@${bot.username}`
  const start = text.startsWith(own) ? text.slice(own.length).replace(/^[\s,:]+/, '') : text
  const [, name = '', args = ''] = /^[!/]([a-z][a-z0-9_-]{0,31})(?:\s+([\s\S]*))?$/i.exec(start) ?? []
  const known = name.toLowerCase()
  const isOurs = commands.has(known) || (addressed && known !== '' && nearMatch(known, [...commands]) !== undefined)
  return isOurs ? { name: known, args: args.trim() } : undefined
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
