import { hasForeignText, type InboundText, type QuotedMessage, type Sender } from '../../../src/core/message.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  isoTimeOf,
  listOf,
  optionalFields,
  optionalText,
  present,
} from '../../shared/fields.ts'
import { asQuoted } from '../../shared/file-kind.ts'
import { dropped, type InboundReading, readSafely } from '../../shared/reading.ts'
import { sharedWords } from '../../shared/shared-words.ts'
import { withoutNulls } from '../../shared/without-nulls.ts'
import { idOf, isSnowflake, timeOfSnowflake, titlesOf, toAddress } from '../address.ts'
import { readAttachments, readEnclosed } from './attachments.ts'
import type { InboundContext } from './reading.ts'
import { readCommand } from './typed-command.ts'

/** Plain messages and replies; every other type is a notice of the platform or a slash command's echo. */
const WRITTEN = new Set([0, 19])

type TextFacts = Omit<Extract<InboundText, { kind: 'message' }>, 'kind' | 'eventKey'>

/**
 * A message, live or read back from the history, to what it means. Pure and total: any value is either an event or
 * dropped with a reason to count. The dedupe key is the message's own id, the same in both.
 */
export function readMessage(message: unknown, context: InboundContext): InboundReading {
  return readSafely('message', () => {
    const facts = readFacts(fieldsOf(withoutNulls(message)), context)
    if (typeof facts === 'string') return dropped(facts)
    const eventKey = messageKey(facts.messageId, context)
    const { botId, commands } = context
    const command = hasForeignText(facts)
      ? null
      : readCommand(facts.text, { botId, addressed: facts.mentioned, commands })
    return command === null
      ? { kind: 'event', event: { kind: 'message', eventKey, ...facts } }
      : { kind: 'event', event: { kind: 'command', eventKey, ...facts, ...command } }
  })
}

/** A MESSAGE_UPDATE. Without an edit time it is the platform's own doing, such as a link preview. */
export function readEdit(message: unknown, context: InboundContext): InboundReading {
  return readSafely('edit', () => {
    const fields = fieldsOf(withoutNulls(message))
    if (optionalText(fields.edited_timestamp) === undefined) return dropped('edit:by_platform')
    const facts = readFacts(fields, context)
    if (typeof facts === 'string') return dropped(facts)
    const sentAt = isoTimeOf(fields.edited_timestamp)
    const eventKey = `${context.botId}:edit:${facts.messageId}@${sentAt}`
    return {
      kind: 'event',
      event: { kind: 'edit', eventKey, original: messageKey(facts.messageId, context), ...facts, sentAt },
    }
  })
}

/**
 * A message that was deleted. The platform says neither who did it nor who had written it; `person` is who a direct
 * chat is with.
 */
export function readDelete(
  messageId: string,
  { account, botId, place, person }: Omit<InboundContext, 'commands'> & { readonly person: string | undefined },
): InboundReading {
  const address = place.kind === 'direct' && person === undefined ? null : toAddress(account, place, person ?? '')
  if (address === null) return dropped('delete:unknown_channel')
  return {
    kind: 'event',
    event: {
      kind: 'delete',
      eventKey: `${botId}:delete:${messageId}`,
      original: messageKey(messageId, { botId }),
      address,
      sender: person === undefined ? UNKNOWN_SENDER : { id: person, kind: 'user' },
      sentAt: timeOfSnowflake(messageId),
      messageId,
    },
  }
}

const UNKNOWN_SENDER: Sender = { id: 'unknown', kind: 'anonymous' }

function messageKey(messageId: string, { botId }: Pick<InboundContext, 'botId'>): string {
  return `${botId}:message:${messageId}`
}

/** The facts of a message somebody wrote, or why it is none of ours to read. */
function readFacts(message: Fields, context: InboundContext): TextFacts | string {
  const author = fieldsOf(message.author)
  if (idOf(author.id) === context.botId) return 'own_message'
  if (typeof message.type !== 'number' || !WRITTEN.has(message.type)) return `message:type_${wordOf(message.type)}`
  const { text, forwarded } = readWords(message)
  const holders = [message, ...snapshotsOf(message)]
  const own = holders.flatMap((holder) => readAttachments(message, holder))
  const enclosed = holders.flatMap(readEnclosed)
  if (text === '' && own.length === 0 && enclosed.length === 0) return 'message:without_text'
  const sender = readSender(author, message.webhook_id !== undefined)
  const address = toAddress(context.account, context.place, sender.id)
  if (address === null) return 'message:unknown_channel'
  const mentions = readMentions(message, context.botId)
  const quoted = readQuoted(message, context)
  return {
    address,
    sender,
    ...titlesOf(context.place, context.parent),
    sentAt: timeOfSnowflake(idOf(message.id)),
    messageId: idOf(message.id),
    text,
    mentioned: address.chatType === 'direct' || mentions.bot || quoted?.own === true,
    mentionsOthers: mentions.others,
    ...present('quoted', quoted),
    ...present('forwarded', forwarded),
    attachments: [...own, ...quotedFiles(message, quoted)],
    ...(enclosed.length === 0 ? {} : { enclosed }),
  }
}

const FORWARD = 1

/** Returns the id of the message that this one of ours replies to. */
export function answeredBy(message: unknown, botId: string): string | undefined {
  const { author, message_reference: reference } = isFields(message) ? message : {}
  if (!isFields(author) || author.id !== botId || !isFields(reference) || reference.type === FORWARD) return undefined
  return isSnowflake(reference.message_id) ? reference.message_id : undefined
}

const IS_CROSSPOST = 2

/**
 * The text of a message and whether somebody else wrote it: a forward carries snapshots of what was written elsewhere,
 * without their author; a crosspost is what a channel that is followed from here posted.
 */
function readWords(message: Fields): Pick<TextFacts, 'text' | 'forwarded'> {
  const text = optionalText(message.content) ?? ''
  const snapshots = snapshotsOf(message)
  if (snapshots.length > 0) {
    return sharedWords(text, snapshots.map(({ content }) => optionalText(content) ?? '').join('\n'))
  }
  const { flags } = message
  if (typeof flags !== 'number' || (flags & IS_CROSSPOST) === 0) return { text }
  return { text, forwarded: present('name', optionalText(fieldsOf(message.author).username)) }
}

/** The forwarded messages that a message is made of; none in a reply. */
function snapshotsOf(message: Fields): readonly Fields[] {
  if (optionalFields(message.message_reference)?.type !== FORWARD) return []
  return listOf(message.message_snapshots).map((snapshot) => fieldsOf(fieldsOf(snapshot).message))
}

/**
 * By the platform's own list of users, never by the text. A role or everybody is somebody else: it is not us by name.
 */
function readMentions(message: Fields, botId: string): { readonly bot: boolean; readonly others: boolean } {
  const ids = listOf(message.mentions).map((user) => idOf(fieldsOf(user).id))
  const wide = listOf(message.mention_roles).length > 0 || message.mention_everyone === true
  return { bot: ids.includes(botId), others: wide || ids.some((id) => id !== botId) }
}

function readQuoted(message: Fields, { botId }: InboundContext): QuotedMessage | undefined {
  const original = optionalFields(message.referenced_message)
  if (message.type !== 19 || original === undefined) return undefined
  const sender = readSender(fieldsOf(original.author), original.webhook_id !== undefined)
  return {
    messageId: idOf(original.id),
    ...present('text', optionalText(original.content)),
    sender,
    own: sender.id === botId,
  }
}

function quotedFiles({ referenced_message: given }: Fields, quoted: QuotedMessage | undefined) {
  const original = quoted === undefined || quoted.own ? undefined : optionalFields(given)
  const holders = original === undefined ? [] : [original, ...snapshotsOf(original)]
  return original === undefined ? [] : asQuoted(holders.flatMap((holder) => readAttachments(original, holder)))
}

/** A webhook speaks under an id of its own, and under any name. */
export function readSender(user: Fields, webhook = false): Sender {
  return {
    id: idOf(user.id),
    kind: webhook || user.bot === true ? 'bot' : 'user',
    ...present('displayName', optionalText(user.global_name)),
    ...present('username', optionalText(user.username)),
  }
}

function wordOf(type: unknown): string {
  return typeof type === 'number' && Number.isInteger(type) && type >= 0 && type < 100 ? String(type) : 'other'
}

/** The ids in a MESSAGE_DELETE or MESSAGE_DELETE_BULK; none in one that cannot be read. */
export function deletedIds(data: unknown): { readonly ids: readonly string[]; readonly channelId: string } {
  try {
    const fields = fieldsOf(withoutNulls(data))
    const ids = fields.ids === undefined ? [idOf(fields.id)] : listOf(fields.ids).map(idOf)
    return { ids, channelId: idOf(fields.channel_id) }
  } catch {
    return { ids: [], channelId: '' }
  }
}

/** The id of a message and of its channel, if it has them: what is read before anything else. */
export function idsOf(message: unknown): { readonly id: string; readonly channelId: string } | undefined {
  if (!isFields(message)) return undefined
  try {
    return { id: idOf(message.id), channelId: idOf(message.channel_id) }
  } catch {
    return undefined
  }
}
