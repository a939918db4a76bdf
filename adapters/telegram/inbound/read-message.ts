import {
  hasForeignText,
  type InboundDeparture,
  type InboundMigration,
  type InboundText,
  type QuotedMessage,
} from '../../../src/core/message.ts'
import { type Fields, fieldsOf, optionalFields, optionalText, present } from '../../shared/fields.ts'
import { asQuoted } from '../../shared/file-kind.ts'
import { dropped, type InboundReading, wordOf } from '../../shared/reading.ts'
import { idOf, toAddress } from '../address.ts'
import { readAttachments } from './attachments.ts'
import { readEnclosed } from './enclosed.ts'
import { findMentions, readCommand, readText } from './mentions.ts'
import { type InboundContext, optionalTime, readPlace, readTitles, timeOf, type UpdateReading } from './reading.ts'
import { readAuthor, readForwarded, readUser, readVia, readWriter } from './sender.ts'

/** A Message (or channel post) that is new: a message, a command, or the notice that a chat moved. */
export function readMessage(message: Fields, { context }: UpdateReading): InboundReading {
  const migration = readMigration(message, context)
  if (migration !== null) return { kind: 'event', event: migration }
  const departure = readDeparture(message, context)
  if (departure !== undefined) return { kind: 'event', event: departure }
  const facts = readTextFacts(message, context)
  if (typeof facts === 'string') return dropped(facts)
  const eventKey = messageKey(facts, context)
  if (hasForeignText(facts)) return { kind: 'event', event: { kind: 'message', eventKey, ...facts } }
  const { text, entities } = readText(message)
  const command = readCommand(text, entities, context.bot)
  switch (command.kind) {
    case 'other':
      return dropped('command_for_other_bot')
    case 'none':
      return { kind: 'event', event: { kind: 'message', eventKey, ...facts } }
    case 'command': {
      const { name, args, addressed } = command
      const mentioned = facts.mentioned || addressed
      const beside = isBesideTopics(message, facts) ? { besideTopics: true as const } : {}
      return { kind: 'event', event: { kind: 'command', eventKey, ...facts, mentioned, name, args, ...beside } }
    }
  }
}

/**
 * A Message that was changed. Two edits in one second have the same `edit_date`, so the update id is in the key as
 * well: rather an edit twice than one lost.
 */
export function readEdit(message: Fields, { context, updateId }: UpdateReading): InboundReading {
  const facts = readTextFacts(message, context)
  if (typeof facts === 'string') return dropped(facts)
  const at = timeOf(message.edit_date ?? message.date)
  const eventKey = `${context.bot.id}:edit:${facts.address.chat}/${facts.messageId}@${at / 1000}#${updateId}`
  return {
    kind: 'event',
    event: { kind: 'edit', eventKey, original: messageKey(facts, context), ...facts, sentAt: at, saidAt: facts.sentAt },
  }
}

/** The number goes first: it grows with time, so that in the index what came together lies together. */
function messageKey({ address, messageId }: TextFacts, { bot }: InboundContext): string {
  return `${bot.id}:message:${messageId}@${address.chat}`
}

type TextFacts = Omit<Extract<InboundText, { kind: 'message' }>, 'kind' | 'eventKey'>

/** The General topic of a forum carries no thread id. */
function isBesideTopics({ chat }: Fields, { address }: TextFacts): boolean {
  return address.topic === undefined && fieldsOf(chat).is_forum === true
}

/** Mentions in somebody else's words are not the sender's. */
const NO_MENTIONS = { bot: false, others: false }

/** The facts of a message somebody wrote, or why it is none of ours to read. */
function readTextFacts(message: Fields, context: InboundContext): TextFacts | string {
  if (isFromBot(message, context)) return 'own_message'
  const { text, entities } = readText(message)
  const own = readAttachments(message)
  const enclosed = readEnclosed(message)
  if (text === '' && own.length === 0 && enclosed === undefined) return `message:${wordOf(contentOf(message))}`
  const address = readPlace(message, context)
  const words = { ...present('forwarded', readForwarded(message)), ...present('via', readVia(message)) }
  const mentions = hasForeignText(words) ? NO_MENTIONS : findMentions(text, entities, context.bot)
  const quoted = readQuoted(message, context)
  return {
    address,
    sender: readAuthor(message),
    ...readTitles(message, address, context),
    sentAt: timeOf(message.date),
    messageId: idOf(message.message_id),
    text,
    mentioned: address.chatType === 'direct' || mentions.bot || quoted?.own === true,
    mentionsOthers: mentions.others,
    ...present('quoted', quoted),
    ...words,
    attachments: [...own, ...quotedFiles(message, quoted)],
    ...present('enclosed', enclosed),
  }
}

/**
 * The message this one answers. A message in a topic "answers" the service message that made the topic, which may well
 * be the bot's own: that is no reply to anybody.
 */
function readQuoted(message: Fields, context: InboundContext): QuotedMessage | undefined {
  const original = optionalFields(message.reply_to_message)
  if (original === undefined || original.forum_topic_created !== undefined) return undefined
  if (message.is_topic_message === true && original.message_id === message.message_thread_id) return undefined
  const picked = optionalText(optionalFields(message.quote)?.text)
  return {
    messageId: idOf(original.message_id),
    ...present('text', picked ?? optionalText(original.text) ?? optionalText(original.caption)),
    ...present('sender', readWriter(original)),
    own: isFromBot(original, context),
    ...present('sentAt', optionalTime(original.date)),
  }
}

function quotedFiles({ reply_to_message: original }: Fields, quoted: QuotedMessage | undefined) {
  return quoted === undefined || quoted.own ? [] : asQuoted(readAttachments(fieldsOf(original)))
}

/** Both chats report a move, each from its side; the key is the same, so the second is a repetition. */
function readMigration(message: Fields, context: InboundContext): InboundMigration | null {
  const [to, from] = [message.migrate_to_chat_id, message.migrate_from_chat_id]
  if (to === undefined && from === undefined) return null
  const { account } = context
  const here = readPlace(message, context).chat
  const before = from === undefined ? here : idOf(from)
  const after = to === undefined ? here : idOf(to)
  return {
    kind: 'migration',
    eventKey: `${context.bot.id}:migration:${before}/${after}`,
    address: toAddress(account, { chatType: 'group', chat: before }),
    to: toAddress(account, { chatType: 'group', chat: after }),
    sender: readAuthor(message),
    sentAt: timeOf(message.date),
  }
}

/** The bot itself has a notice of its own. */
function readDeparture(message: Fields, context: InboundContext): InboundDeparture | undefined {
  const gone = optionalFields(message.left_chat_member)
  if (gone === undefined || idOf(gone.id) === context.bot.id) return undefined
  const address = readPlace(message, context)
  return {
    kind: 'departure',
    eventKey: `${context.bot.id}:departure:${idOf(message.message_id)}@${address.chat}`,
    address,
    sender: readUser(gone),
    sentAt: timeOf(message.date),
  }
}

function isFromBot(message: Fields, { bot }: InboundContext): boolean {
  const from = optionalFields(message.from)
  return from !== undefined && idOf(from.id) === bot.id
}

/** Fields that say how a message came, not what it is. */
const FRAME: ReadonlySet<string> = new Set(
  `message_id from chat date sender_chat message_thread_id is_topic_message reply_to_message author_signature quote
  sender_boost_count sender_business_bot business_connection_id forward_origin forward_from forward_from_chat
  forward_from_message_id forward_sender_name forward_signature forward_date is_automatic_forward external_reply
  reply_to_story via_bot edit_date has_protected_content is_from_offline media_group_id effect_id reply_markup text
  caption entities caption_entities photo`.split(/\s+/),
)

/** Returns the kind of a message without text and file: `pinned_message`, `location`, `new_chat_members` … */
function contentOf(message: Fields): string | undefined {
  return Object.keys(message).find((key) => !FRAME.has(key))
}
