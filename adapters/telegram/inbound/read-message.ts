import { createHash } from 'node:crypto'
import { plainName } from '../../../src/core/label.ts'
import {
  type AttachmentRef,
  type Forwarded,
  hasForeignText,
  type InboundDeparture,
  type InboundMigration,
  type InboundText,
  type QuotedMessage,
} from '../../../src/core/message.ts'
import { type Fields, fieldsOf, isFields, optionalFields, present, readPart } from '../../shared/fields.ts'
import { asQuoted } from '../../shared/file-kind.ts'
import { dropped, type InboundReading, wordOf } from '../../shared/reading.ts'
import { presentMentions } from '../../shared/shared-words.ts'
import { idOf, toAddress } from '../address.ts'
import { readable, readEntities } from './entities.ts'
import { findMentions, readCommand, readText, readWords } from './mentions.ts'
import { buttonLine, noticeIn, readAttachments, readEnclosed, unknownLine, wordsOf } from './read-parts.ts'
import { type InboundContext, optionalTime, readPlace, readTitles, timeOf, type UpdateReading } from './reading.ts'
import { readAuthor, readCopied, readForwarded, readOrigin, readUser, readVia, readWriter } from './sender.ts'

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
 * well: rather an edit twice than one lost. Reactions and previews come as edits too, mostly without a date; each step
 * of somebody who shows where they are does so, and each vote.
 */
export function readEdit(message: Fields, { context, updateId }: UpdateReading): InboundReading {
  const facts = readTextFacts(message, context)
  if (typeof facts === 'string') return dropped(facts)
  if (message.edit_date === undefined) return dropped('edited_message:unedited')
  const steps = ['location', 'poll'].find((kind) => message[kind] !== undefined)
  if (steps !== undefined) return dropped(`edited_message:${steps}`)
  const at = timeOf(message.edit_date)
  const eventKey = `${context.bot.id}:edit:${editName(facts, at) ?? `${facts.address.chat}/${facts.messageId}@${at / 1000}#${updateId}`}`
  return {
    kind: 'event',
    event: { kind: 'edit', eventKey, original: messageKey(facts, context), ...facts, sentAt: at, saidAt: facts.sentAt },
  }
}

/**
 * The number goes first: it grows with time, so that in the index what came together lies together. A channel's post
 * and the copy of it in the discussion group are one message: whichever comes second is a repetition.
 */
function messageKey({ address, messageId, copyOf }: TextFacts, { bot }: InboundContext): string {
  return `${bot.id}:message:${copyOf?.messageId ?? messageId}@${copyOf?.chat ?? address.chat}`
}

/** Returns the same name for the edit of a post and that of its copy, which may come in different seconds. */
function editName({ address, messageId, copyOf, text, enclosed }: TextFacts, at: number): string | undefined {
  if (copyOf === undefined && address.chatType !== 'channel') return undefined
  const digest = createHash('sha256')
    .update(JSON.stringify([text, enclosed]))
    .digest('hex')
    .slice(0, 16)
  return `${copyOf?.chat ?? address.chat}/${copyOf?.messageId ?? messageId}@${Math.floor(at / MINUTE_MS)}m#${digest}`
}

const MINUTE_MS = 60_000

type TextFacts = Omit<Extract<InboundText, { kind: 'message' }>, 'kind' | 'eventKey'>

/** The General topic of a forum carries no thread id. */
function isBesideTopics({ chat }: Fields, { address }: TextFacts): boolean {
  return address.topic === undefined && fieldsOf(chat).is_forum === true
}

/** The facts of a message somebody wrote, or why it is none of ours to read. */
function readTextFacts(message: Fields, context: InboundContext): TextFacts | string {
  if (isFromBot(message, context)) return 'own_message'
  const notice = noticeIn(message)
  if (notice !== undefined) return `message:${wordOf(notice)}`
  const { text: raw, entities } = readText(message)
  const own = readAttachments(message)
  const address = readPlace(message, context)
  const words = { ...present('forwarded', readForwarded(message)), ...present('via', readVia(message)) }
  const isForeign = hasForeignText(words)
  const mentions = findMentions(raw, entities, context.bot)
  const quoted = readPart(() => readQuoted(message, context))
  const elsewhere = readElsewhere(message)
  const enclosed = enclosedIn(message, { isForeign, isEmpty: raw === '' && own.length === 0, elsewhere })
  return {
    address,
    sender: readAuthor(message),
    ...readTitles(message, address, context),
    sentAt: timeOf(message.date),
    messageId: idOf(message.message_id),
    text: readable(raw, entities),
    // A mention in somebody else's words is not the sender's.
    mentioned: address.chatType === 'direct' || (mentions.bot && !isForeign) || quoted?.own === true,
    mentionsOthers: mentions.others && !isForeign,
    ...presentMentions(mentions.named),
    ...present('quoted', quoted),
    ...words,
    ...(isForeign ? {} : present('forwarded', elsewhere?.words)),
    attachments: [...own, ...quotedFiles(message, quoted), ...(elsewhere?.files ?? [])],
    ...present('enclosed', enclosed),
    ...present('copyOf', readCopied(message)),
  }
}

interface Came {
  readonly isForeign: boolean
  /** It has neither text nor file. */
  readonly isEmpty: boolean
  readonly elsewhere: Elsewhere | undefined
}

/** Buttons below what somebody wrote or passed on are part of it; no message is silence. */
function enclosedIn(message: Fields, { isForeign, isEmpty, elsewhere }: Came): readonly string[] | undefined {
  const lines = readEnclosed(message)
  const isApp = isForeign || optionalFields(message.from)?.is_bot === true
  const buttons = isApp ? buttonLine(message) : []
  const quoted = isForeign && elsewhere?.words ? [`quotation: ${elsewhere.words.text}`] : []
  const all = [
    ...(lines ?? (isEmpty ? [unknownLine(message)] : [])),
    ...buttons,
    ...(elsewhere?.lines ?? []),
    ...quoted,
  ]
  return all.length === 0 ? undefined : all
}

/** The message of another chat or topic that somebody answers: the part of it that they quote, its kind, its files. */
interface Elsewhere {
  readonly words?: Forwarded & { readonly text: string }
  readonly lines: readonly string[]
  readonly files: readonly AttachmentRef[]
}

/** The platform sends no other words of it than the quotation. */
function readElsewhere({ external_reply: original, quote }: Fields): Elsewhere | undefined {
  if (!isFields(original)) return undefined
  const origin = readPart(() => readOrigin(fieldsOf(original.origin))) ?? {}
  const name = plainName(origin.from?.displayName ?? origin.name ?? '')
  const text = quotation(quote)
  return {
    ...(text === undefined ? {} : { words: { ...origin, text } }),
    lines: [`answer to a message${name === '' ? '' : ` of ${name}`} elsewhere`, ...(readEnclosed(original) ?? [])],
    files: readAttachments(original).map((file) => ({ ...file, shared: true as const })),
  }
}

/** Returns the part that somebody has picked of the message they answer. */
function quotation(quote: unknown): string | undefined {
  const { text, entities } = isFields(quote) ? quote : {}
  return typeof text === 'string' && text !== '' ? readable(text, readEntities(entities)) : undefined
}

/**
 * The message this one answers. A message in a topic "answers" the service message that made the topic, which may well
 * be the bot's own: that is no reply to anybody.
 */
function readQuoted(message: Fields, context: InboundContext): QuotedMessage | undefined {
  const original = optionalFields(message.reply_to_message)
  if (original === undefined || original.forum_topic_created !== undefined) return undefined
  if (message.is_topic_message === true && original.message_id === message.message_thread_id) return undefined
  const own = isFromBot(original, context)
  const picked = quotation(message.quote)
  const words = own ? readWords(original) : wordsOf(original)
  return {
    messageId: idOf(original.message_id),
    ...present('text', picked ?? (words || undefined)),
    ...(picked === undefined && words !== readWords(original) ? { mixed: true as const } : {}),
    ...present('sender', readWriter(original)),
    own,
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
