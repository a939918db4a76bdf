import {
  hasForeignText,
  type InboundText,
  type Mention,
  type QuotedMessage,
  type Sender,
} from '../../../src/core/message.ts'
import { nearMatch } from '../../../src/core/near-match.ts'
import {
  type Fields,
  fieldsOf,
  isFields,
  isoTimeOf,
  listOf,
  optionalFields,
  optionalText,
  present,
  readPart,
  textIn,
} from '../../shared/fields.ts'
import { asQuoted } from '../../shared/file-kind.ts'
import { dropped, type InboundReading, readSafely } from '../../shared/reading.ts'
import { presentMentions, sharedWords } from '../../shared/shared-words.ts'
import { withoutNulls } from '../../shared/without-nulls.ts'
import { idOf, isSnowflake, timeOfSnowflake, titlesOf, toAddress } from '../address.ts'
import { displayNameOf } from './known-names.ts'
import { type Naming, objectsIn, readFiles, readWords, unshown, type WrittenBy } from './read-parts.ts'
import type { InboundContext } from './reading.ts'

const [REPLY, COMMAND_ANSWER, MENU_ANSWER] = [19, 20, 23]
/** The types whose words are somebody's: plain messages, replies, and the answers of apps to commands. */
const WRITTEN = new Set([0, REPLY, COMMAND_ANSWER, MENU_ANSWER])
/** The types by which the platform says something that people act on: a text it has blocked, the end of a poll. */
const LINES = new Set([24, 46])
/** The types that only say what happened in a place; the first of a thread points to what is read with the thread. */
const NOTICES = new Set([
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 21, 22],
  ...[25, 26, 27, 28, 29, 30, 31, 32, 36, 37, 38, 39, 44],
])

type TextFacts = Omit<Extract<InboundText, { kind: 'message' }>, 'kind' | 'eventKey'>

/**
 * A message, live or read back from the history, to what it means. Pure and total: any value is either an event or
 * dropped with a reason to count. The dedupe key is the message's own id, the same in both.
 */
export function readMessage(message: unknown, context: InboundContext): InboundReading {
  return readSafely('message', () => {
    const fields = fieldsOf(withoutNulls(message))
    const facts = readFacts(fields, context)
    if (typeof facts === 'string') return dropped(facts)
    const eventKey = messageKey(facts.messageId, context)
    const { commands } = context
    // Arguments stay as they were typed: an id in them names somebody, and a name does not.
    const command =
      facts.own || hasForeignText(facts)
        ? null
        : readCommand(optionalText(fields.content) ?? '', {
            isOwn: ownMarks(context),
            addressed: facts.mentioned,
            commands,
          })
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
  const isOwn = idOf(author.id) === context.botId
  if (isOwn && !context.readsOwn) return 'own_message'
  const { type } = message
  if (typeof type !== 'number' || NOTICES.has(type)) return `message:type_${wordOf(type)}`
  if (isLoading(message)) return 'message:loading'
  const isWritten = WRITTEN.has(type)
  const sender: Sender = isOwn ? { ...senderOf(message, context), kind: 'bot' } : senderOf(message, context)
  const parts = readParts(message, sender, context)
  const address = toAddress(context.account, context.place, sender.id)
  if (address === null) return 'message:unknown_channel'
  const mentions = readMentions(message, context)
  const quoted = readPart(() => readQuoted(message, context))
  return {
    address,
    sender,
    ...(isOwn ? { own: true as const } : {}),
    ...titlesOf(context.place, parentName(context)),
    sentAt: timeOfSnowflake(idOf(message.id)),
    messageId: idOf(message.id),
    text: parts.text,
    mentioned: address.chatType === 'direct' || (isWritten && (mentions.bot || quoted?.own === true)),
    mentionsOthers: mentions.others,
    ...presentMentions(mentions.everybody === undefined ? parts.mentions : [...parts.mentions, mentions.everybody]),
    ...present('quoted', quoted),
    ...present('forwarded', parts.forwarded),
    attachments: [...parts.files, ...(readPart(() => quotedFiles(message, quoted)) ?? [])],
    ...(parts.enclosed.length === 0 ? {} : { enclosed: parts.enclosed }),
  }
}

function parentName({ place: { parentId }, names }: InboundContext): string | undefined {
  return parentId === undefined ? undefined : names?.place(parentId)
}

const IS_LOADING = 1 << 7

/** Returns true for an app's answer without words so far: an update brings them. */
export function isLoading(message: unknown): boolean {
  const flags = isFields(message) ? message.flags : undefined
  return typeof flags === 'number' && (flags & IS_LOADING) !== 0
}

const FORWARD = 1

/** Returns the id of the message that this one of ours replies to. */
export function answeredBy(message: unknown, botId: string): string | undefined {
  const { author, message_reference: reference } = isFields(message) ? message : {}
  if (!isFields(author) || author.id !== botId || !isFields(reference) || reference.type === FORWARD) return undefined
  return isSnowflake(reference.message_id) ? reference.message_id : undefined
}

interface Parts extends Pick<TextFacts, 'text' | 'forwarded'> {
  readonly mentions: readonly Mention[]
  readonly enclosed: readonly string[]
  readonly files: TextFacts['attachments']
}

/**
 * Returns what a message says and brings. A forward has snapshots of what was written elsewhere, without their author,
 * so that nothing in them is a mention. A message in which nothing is known is named in one line.
 */
function readParts(message: Fields, sender: Sender, context: InboundContext): Parts {
  const isWritten = WRITTEN.has(Number(message.type))
  const by = writerOf(sender)
  const naming = namingOf(context)
  const { text, mentions, enclosed } = readWords(message, by, naming)
  const own = readFiles(message, message, by)
  const snapshots = snapshotsOf(message)
  const shared = snapshots.map((snapshot) => readWords(snapshot, 'unnamed', naming))
  const files = [...own, ...snapshots.flatMap((snapshot) => readFiles(message, snapshot, 'unnamed'))]
  const things = [...enclosed, ...shared.flatMap((one) => one.enclosed).map((line) => `forwarded ${line}`)]
  if (!isWritten) {
    const lines = LINES.has(Number(message.type)) && things.length > 0 ? things : [unshown(message, false)]
    return { text: '', mentions: [], enclosed: lines, files }
  }
  const words = shared.length === 0 ? crosspost(message, text) : sharedWords(text, wordsIn(shared))
  const isEmpty = words.text.trim() === '' && files.length === 0 && things.length === 0
  return { ...words, mentions, files, enclosed: isEmpty ? [unshown(message, true)] : things }
}

function wordsIn(shared: readonly { readonly text: string }[]): string {
  return shared.map(({ text }) => text).join('\n')
}

const IS_CROSSPOST = 2

/** A crosspost is what a channel that is followed from here posted. */
function crosspost({ flags, author }: Fields, text: string): Pick<TextFacts, 'text' | 'forwarded'> {
  if (typeof flags !== 'number' || (flags & IS_CROSSPOST) === 0) return { text }
  return { text, forwarded: present('name', textIn(fieldsOf(author).username)) }
}

function writerOf({ kind }: Pick<Sender, 'kind'>): WrittenBy {
  return kind === 'bot' ? 'app' : 'person'
}

function namingOf({ botId, place: { guildId }, names }: InboundContext): Naming {
  return { botId, guildId, names }
}

/** The forwarded messages that a message is made of; none in a reply. */
function snapshotsOf(message: Fields): readonly Fields[] {
  const { message_reference: reference } = message
  if (!isFields(reference) || reference.type !== FORWARD) return []
  return listOf(message.message_snapshots).map((snapshot) => fieldsOf(fieldsOf(snapshot).message))
}

/** The marks by which a message calls this bot, its managed role included, which people pick in place of it. */
function ownMarks({ botId, names }: InboundContext): (mark: string) => boolean {
  return (mark) => {
    const id = mark.replace(/\D/g, '')
    return mark.startsWith('<@&') ? names?.role(id)?.botId === botId : id === botId
  }
}

interface Mentioned {
  readonly bot: boolean
  readonly others: boolean
  readonly everybody: Mention | undefined
}

/**
 * By the platform's own lists, never by the text. The role that the platform manages for this bot is the bot, by its
 * id; any other role, also one that the bot has, and everybody are somebody else.
 */
function readMentions(message: Fields, { botId, names }: InboundContext): Mentioned {
  const ids = objectsIn(message.mentions).flatMap(({ id }) => (isSnowflake(id) ? [id] : []))
  const roles = Array.isArray(message.mention_roles) ? message.mention_roles : []
  const isOwnRole = (role: unknown) => typeof role === 'string' && names?.role(role)?.botId === botId
  const isWide = message.mention_everyone === true
  const isToAll = isWide && optionalText(message.content)?.includes('@everyone') === true
  return {
    bot: ids.includes(botId) || roles.some(isOwnRole),
    others: isWide || roles.some((role) => !isOwnRole(role)) || ids.some((id) => id !== botId),
    everybody: isWide ? { kind: 'group', name: isToAll ? 'everyone' : 'here' } : undefined,
  }
}

/** Returns the message that is answered; without a text where it was deleted, or the platform did not look for it. */
function readQuoted(message: Fields, context: InboundContext): QuotedMessage | undefined {
  if (message.type !== REPLY && message.type !== MENU_ANSWER) return undefined
  const original = optionalFields(message.referenced_message)
  if (original === undefined) {
    const id = optionalFields(message.message_reference)?.message_id
    return isSnowflake(id) ? { messageId: id, own: false } : undefined
  }
  const sender = senderOf(original, context)
  const naming = namingOf(context)
  const { text, enclosed } = readWords(original, writerOf(sender), naming)
  const shared = snapshotsOf(original).map((snapshot) => readWords(snapshot, 'unnamed', naming))
  const own = sender.id === context.botId
  const passedOn = [...shared.map((one) => one.text), ...enclosed, ...shared.flatMap((one) => one.enclosed)]
  const besides = own ? [] : passedOn.filter((line) => line.trim() !== '')
  const words = [text, ...besides].filter((line) => line.trim() !== '').join('\n')
  // The words of a forward are not those of whoever passed them on.
  const isForward = text.trim() === '' && shared.length > 0
  return {
    messageId: idOf(original.id),
    ...present('text', words === '' ? undefined : words),
    // The preview of a page comes after the message, so that only a reply shows it.
    ...(besides.length > 0 && !isForward ? { mixed: true as const } : {}),
    ...(isForward ? {} : { sender }),
    own,
  }
}

function quotedFiles({ referenced_message: given }: Fields, quoted: QuotedMessage | undefined) {
  const original = quoted === undefined || quoted.own ? undefined : optionalFields(given)
  if (original === undefined) return []
  const by = quoted?.sender === undefined ? 'unnamed' : writerOf(quoted.sender)
  const shared = snapshotsOf(original).flatMap((snapshot) => readFiles(original, snapshot, 'unnamed'))
  return asQuoted([...readFiles(original, original, by), ...shared])
}

/** Returns the writer of a message object, by the name that people read there. */
function senderOf({ author, member, webhook_id, type }: Fields, { place: { guildId }, names }: InboundContext): Sender {
  const user = fieldsOf(author)
  const isApp = webhook_id !== undefined || type === COMMAND_ANSWER || type === MENU_ANSWER
  const known = names?.person(guildId, idOf(user.id))
  return readSender(user, { isApp, nick: isFields(member) ? member.nick : undefined, known })
}

interface Shown {
  readonly isApp?: boolean
  /** The name in the guild, as this event says it. */
  readonly nick?: unknown
  /** The name in the guild, as it was said last. */
  readonly known?: string | undefined
}

/** A webhook speaks under an id of its own, and under any name; the platform's own account is no person either. */
export function readSender(user: Fields, { isApp = false, nick, known }: Shown = {}): Sender {
  return {
    id: idOf(user.id),
    kind: isApp || user.bot === true || user.system === true ? 'bot' : 'user',
    ...present('displayName', displayNameOf(user, nick, known)),
    ...present('username', textIn(user.username)),
  }
}

/** A command as people type it, until the platform's own slash commands are registered. */
interface TypedCommand {
  readonly name: string
  readonly args: string
}

interface CommandFacts {
  /** Returns true for a mention of this bot, such as `<@900>`. */
  isOwn(this: void, mark: string): boolean
  readonly addressed: boolean
  readonly commands: ReadonlySet<string> | undefined
}

/** Returns true for a name that is nearly the name of a command of ours. */
function isSlip(name: string, commands: ReadonlySet<string>): boolean {
  return nearMatch(name, [...commands]) !== undefined
}

/**
 * `!name …` anywhere, and `/name …` where the bot is addressed, behind its mention or without. Only names that are
 * ours, or nearly where the bot is addressed: the mark is shared with other bots, and what is for them must stay a
 * plain message.
 */
function readCommand(text: string, { isOwn, addressed, commands }: CommandFacts): TypedCommand | null {
  const match = /^([!/])([a-z][a-z0-9_-]{0,31})(?=$|\s)([\s\S]*)$/i.exec(withoutMarks(text, isOwn))
  if (match === null) return null
  const [, mark, word = '', rest = ''] = match
  const name = word.toLowerCase()
  if (mark === '/' && !addressed) return null
  // Before the names are known, `!word` in a guild is as likely meant for another bot.
  if (commands === undefined ? !addressed : !commands.has(name) && !(addressed && isSlip(name, commands))) return null
  return { name, args: rest.trim() }
}

const OWN_MARK = /^\s*(<@[!&]?\d{1,20}>)[\s,:]*/

function withoutMarks(text: string, isOwn: CommandFacts['isOwn']): string {
  let bare = text
  for (let found = OWN_MARK.exec(bare); found?.[1] !== undefined && isOwn(found[1]); found = OWN_MARK.exec(bare))
    bare = bare.slice(found[0].length)
  return bare
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
