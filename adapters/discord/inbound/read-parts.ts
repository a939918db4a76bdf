import { cutText } from '../../../src/core/cut-text.ts'
import type { AttachmentRef, FileKind, Mention } from '../../../src/core/message.ts'
import { type Fields, isFields, optionalText, present, sizeOf, textIn } from '../../shared/fields.ts'
import { kindOfType } from '../../shared/file-kind.ts'
import { cutWords, LONGEST_LINE, listLines } from '../../shared/shared-words.ts'
import { idOf, isSnowflake } from '../address.ts'
import { displayNameOf, type NameLookup, nameOf } from './known-names.ts'

/**
 * The longest that the embeds and components of one message become: the platform takes 6,000 characters of embeds and
 * 4,000 of components, and counts no addresses.
 */
const LONGEST_PARTS = 10_000
/** No text of the platform is longer, except in a message of a foreign server: the rest of such a one stays raw. */
const LONGEST_READ = 8_000
const MOST_EMBEDS = 10
const MOST_EMBED_FIELDS = 25
/** Answers of a poll, or choices of a menu, that are named: a menu has up to 25. */
const MOST_ANSWERS = 25
/** Containers hold sections, and those hold texts. */
const DEEPEST = 5

/** The facts by which ids in a text become names. */
export interface Naming {
  readonly botId: string
  readonly guildId: string | undefined
  readonly names: NameLookup | undefined
}

/** Whoever wrote a message object: an app, a person, or somebody the platform does not name (a forward). */
export type WrittenBy = 'app' | 'person' | 'unnamed'

export interface Words {
  readonly text: string
  /** Everything that the text names besides this bot; embeds and components notify nobody. */
  readonly mentions: readonly Mention[]
  readonly enclosed: readonly string[]
}

const NONE: readonly never[] = []

/**
 * Returns the words of a message object as people read them, whether it was sent, replied to, forwarded or read back.
 * Rich embeds and components are the words of an app; any other embed, and each under the text of a person, is the
 * preview of a page.
 */
export function readWords(message: Fields, by: WrittenBy, naming: Naming): Words {
  const content = optionalText(message.content) ?? ''
  const mentions: Mention[] = []
  const text = hasMarks(content) ? readable(content, { message, naming, mentions }) : content
  const things = readThings(message)
  const [embeds, components] = [objectsIn(message.embeds), objectsIn(message.components)]
  // Nearly every message: nothing of it is rendered.
  if (embeds.length === 0 && components.length === 0) return { text, mentions, enclosed: things }
  const say: Say = (value) => (typeof value === 'string' ? readable(value.trim(), { message, naming }) : '')
  // The platform itself makes embeds of the other types, also below what an app has written.
  const isSaid = ({ type }: Fields) => by !== 'person' && (type === undefined || type === 'rich')
  const parts = [
    ...embeds
      .slice(0, MOST_EMBEDS)
      .filter(isSaid)
      .map((embed) => embedWords(embed, say)),
    ...components.flatMap((component) => componentLines(component, say, 0)),
  ]
  const previews = embeds.slice(0, MOST_EMBEDS).flatMap((embed) => (isSaid(embed) ? NONE : lineOf(embed, say)))
  return {
    text: joined([text, cutWords(joined(parts), LONGEST_PARTS)]),
    mentions,
    enclosed: [...things, ...previews.filter((line) => line !== '')],
  }
}

type Say = (value: unknown) => string

/** Returns the objects of a list; anything else in it is left out. */
export function objectsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) && value.length > 0 ? value.filter(isFields) : NONE
}

function joined(lines: readonly string[], between = '\n'): string {
  return lines.filter((line) => line !== '').join(between)
}

function bounded(text: string, longest: number): string {
  return text.length > longest ? `${cutText(text, longest)}…` : text
}

/** Returns an embed as it is read from top to bottom. */
function embedWords(embed: Fields, say: Say): string {
  const { author, footer, timestamp, image, video, thumbnail } = embed
  const asked = isFields(author) ? withAddress(say(author.name), author.url) : ''
  const foot = [isFields(footer) ? say(footer.text) : '', momentOf(Date.parse(String(timestamp)))]
  return joined([
    isFields(embed.provider) ? say(embed.provider.name) : '',
    asked,
    withAddress(say(embed.title), embed.url),
    say(embed.description),
    ...fieldLines(embed, say),
    ...[image, video, thumbnail].map((media) => mediaLine(media, isFields(media) ? media.description : undefined)),
    joined(foot, ' · '),
  ])
}

function fieldLines({ fields }: Fields, say: Say): readonly string[] {
  return objectsIn(fields)
    .slice(0, MOST_EMBED_FIELDS)
    .map(({ name, value }) => joined([say(name), say(value)], ': '))
}

function withAddress(text: string, address: unknown): string {
  const url = typeof address === 'string' ? bounded(address, LONGEST_LINE) : ''
  return text === '' || url === '' || text.includes(url) ? text || url : `${text} (${url})`
}

/** Returns a picture or video in words; one that was uploaded is a file of the message and is named as such. */
function mediaLine(media: unknown, description: unknown): string {
  if (!isFields(media)) return ''
  const words = typeof description === 'string' ? description.trim() : ''
  const address = uploadIn(media) === undefined ? media.url : undefined
  const line = withAddress(words, address)
  return line === '' ? '' : `image: ${line}`
}

/** Returns the one line of an embed that is nobody's words. */
function lineOf(embed: Fields, say: Say): string {
  const { type, url, title, description, author, provider } = embed
  if (type === 'poll_result') return bounded(pollResult(embed), LONGEST_LINE)
  if (type === 'auto_moderation_message') {
    const rule = fieldOf(embed, 'rule_name')
    return bounded(`blocked by AutoMod${rule === '' ? '' : ` (rule: ${rule})`}: ${say(description)}`, LONGEST_LINE)
  }
  const by = [author, provider].map((one) => (isFields(one) ? say(one.name) : ''))
  const words = joined([...by, say(title), say(description), ...fieldLines(embed, say)], '. ')
  if (type === 'gifv') return bounded(`GIF: ${withAddress(words, url)}`, LONGEST_LINE)
  if (words === '') return ''
  return bounded(
    `preview${typeof url === 'string' ? ` of ${bounded(url, LONGEST_LINE / 2)}` : ''}: ${words}`,
    LONGEST_LINE,
  )
}

function fieldOf({ fields }: Fields, name: string): string {
  const value = objectsIn(fields).find((field) => field.name === name)?.value
  return typeof value === 'string' ? value : ''
}

function pollResult(embed: Fields): string {
  const won = joined([fieldOf(embed, 'victor_answer_emoji_name'), fieldOf(embed, 'victor_answer_text')], ' ')
  const votes = `${fieldOf(embed, 'victor_answer_votes') || 0} of ${fieldOf(embed, 'total_votes') || 0} votes`
  return `result of the poll: ${fieldOf(embed, 'poll_question_text')}, ${won === '' ? 'no single winner' : won} (${votes})`
}

const [ROW, BUTTON, MENUS, TEXT] = [1, 2, new Set<unknown>([3, 5, 6, 7, 8]), 10]

/** Returns a component as lines; of a kind that does not exist yet, whatever a text or other components are in. */
function componentLines(component: Fields, say: Say, depth: number): readonly string[] {
  if (depth > DEEPEST) return NONE
  const { type, content, description, media, file, items, components, accessory } = component
  if (type === TEXT) return [say(content)]
  if (type === BUTTON) return [`button: ${buttonWords(component, say)}`]
  if (MENUS.has(type)) return [menuLine(component, say)]
  const inside = objectsIn(components)
  const buttons: readonly Fields[] = type === ROW ? inside.filter((one) => one.type === BUTTON) : NONE
  return [
    buttons.length === 0 ? '' : `buttons: ${buttons.map((button) => buttonWords(button, say)).join(' / ')}`,
    say(component.label),
    say(content),
    mediaLine(media ?? file, description),
    ...objectsIn(items).map((item) => mediaLine(item.media, item.description)),
    ...inside.filter((one) => !buttons.includes(one)).flatMap((one) => componentLines(one, say, depth + 1)),
    ...(isFields(accessory) ? componentLines(accessory, say, depth + 1) : NONE),
  ]
}

function buttonWords({ label, emoji, url }: Fields, say: Say): string {
  return withAddress(joined([emojiName(emoji), say(label)], ' '), url)
}

function menuLine({ placeholder, options }: Fields, say: Say): string {
  const choices = objectsIn(options).slice(0, MOST_ANSWERS)
  const chosen = choices.map(
    (one) => joined([emojiName(one.emoji), say(one.label)], ' ') + (one.default ? ' (chosen)' : ''),
  )
  return joined(['menu', say(placeholder), chosen.join(' / ')], ': ')
}

/** Returns a standard emoji as itself, and one of a guild by its name. */
function emojiName(emoji: unknown): string {
  const name = isFields(emoji) ? nameOf(emoji.name) : undefined
  if (name === undefined) return ''
  return isFields(emoji) && isSnowflake(emoji.id) ? `:${name}:` : name
}

const ACTIVITIES: Readonly<Record<number, string>> = {
  1: 'join',
  2: 'watch',
  3: 'listen along',
  5: 'let them join',
  6: 'stream',
}

/** Returns what came with a message and is neither text nor file: its stickers, its poll, an invitation, a command. */
function readThings(message: Fields): readonly string[] {
  const { sticker_items, stickers, poll, activity, application, interaction } = message
  const things = sticker_items ?? stickers ?? poll ?? activity ?? interaction
  if (things === undefined) return NONE
  const named = objectsIn(sticker_items ?? stickers).flatMap(({ name }) => nameOf(name) ?? NONE)
  const verb = isFields(activity) && typeof activity.type === 'number' ? ACTIVITIES[activity.type] : undefined
  const what = isFields(application) ? nameOf(application.name) : undefined
  return [
    ...named.map((name) => `sticker: ${name}`),
    ...(isFields(poll) ? pollLines(poll) : NONE),
    ...(isFields(activity) ? [joined([`an invitation to ${verb ?? 'an activity'}`, what ?? ''], ': ')] : NONE),
    ...(isFields(interaction) ? [commandText(interaction)] : NONE),
  ]
}

/** Returns the command that an app's message answers, and whose it was. */
function commandText({ name, user }: Fields): string {
  const who = isFields(user) ? (displayNameOf(user, undefined, undefined) ?? nameOf(user.username)) : undefined
  return `the answer to ${joined([`/${nameOf(name) ?? 'a command'}`, who ?? ''], ' of ')}`
}

/** Returns a poll in as many lines as its answers need. */
function pollLines({ question, answers, results }: Fields): readonly string[] {
  const counts = isFields(results) ? objectsIn(results.answer_counts) : undefined
  const texts = objectsIn(answers)
    .slice(0, MOST_ANSWERS)
    .map(({ answer_id, poll_media: media }) => {
      const votes = counts && (counts.find(({ id }) => id === answer_id)?.count ?? 0)
      return `${mediaText(media)}${votes === undefined ? '' : ` (${Number(votes)})`}`
    })
  const asked = joined(['poll', mediaText(question)], ': ')
  const lines = texts.length === 0 ? [asked] : listLines('poll', `${asked}, `, texts)
  const isEnded = isFields(results) && results.is_finalized === true
  return lines.map((line, at) => (isEnded && at === lines.length - 1 ? `${line}, ended` : line))
}

function mediaText(media: unknown): string {
  if (!isFields(media)) return ''
  return bounded(joined([emojiName(media.emoji), typeof media.text === 'string' ? media.text : ''], ' '), LONGEST_LINE)
}

/** The fields that every message may have; any other one says which kind of thing it is that cannot be shown. */
const ORDINARY = new Set(
  'id channel_id guild_id author member content timestamp edited_timestamp tts mention_everyone mentions mention_roles mention_channels attachments embeds reactions nonce pinned webhook_id type application_id flags message_reference message_snapshots referenced_message interaction_metadata interaction thread components sticker_items stickers position resolved channel_type'.split(
    ' ',
  ),
)

/** Returns the line about a message in which nothing is known: nobody who writes to the bot gets silence. */
export function unshown(message: Fields, isKnownType: boolean): string {
  const further = Object.keys(message).filter((name) => !ORDINARY.has(name) && /^[a-z_]{1,40}$/.test(name))
  const kind = isKnownType ? further.slice(0, 3).join(', ') : `message type ${message.type}`
  const words = isKnownType ? '' : bounded(optionalText(message.content) ?? '', LONGEST_LINE)
  return joined([joined(['a message that cannot be shown here', kind], ': '), words], ': ')
}

interface Reading {
  readonly message: Fields
  readonly naming: Naming
  /** Receives whom and what the text names. */
  readonly mentions?: Mention[]
}

/** The marks of the platform: each begins with `<`, except the address behind a word. */
const MARK =
  /<(?:@!?(?<user>\d{1,20})|@&(?<role>\d{1,20})|#(?<place>\d{1,20})|\/(?<command>[^\n:<>]{1,100}):\d{1,20}|a?:(?<emoji>\w{1,64}):\d{1,20}|t:(?<time>-?\d{1,13})(?::[A-Za-z])?|id:(?<guide>browse|customize|guide|linked-roles)(?::\d{1,20})?|(?<bare>https?:\/\/[^\s<>]+))>|\[(?<word>[^\n[\]]{1,300})\]\(<?(?<url>https?:\/\/(?:[^\s()<>]|\([^\s()<>]*\))+)>?(?:\s+"[^\n"]*")?\)/g

/** Returns a text as people read it: names for ids, times, addresses; what stands in code stays as it is. */
function readable(text: string, reading: Reading): string {
  if (!hasMarks(text)) return text
  const read = (part: string) => part.replace(MARK, (mark, ...rest) => readMark(mark, rest.at(-1), reading))
  const [head, tail] = [text.slice(0, LONGEST_READ), text.slice(LONGEST_READ)]
  return outsideCode(head, read) + tail
}

function hasMarks(text: string): boolean {
  return text.includes('<') || text.includes('](')
}

/** Applies `read` to everything that does not stand between two equally long runs of backticks. */
function outsideCode(text: string, read: (part: string) => string): string {
  const runs = [...text.matchAll(/`+/g)]
  let [out, done] = ['', 0]
  for (let at = 0; at < runs.length; at++) {
    const open = runs[at]
    const close = runs.slice(at + 1).findIndex(([run]) => run.length === open?.[0].length)
    const end = runs[at + 1 + close]
    if (open === undefined || close === -1 || end === undefined) continue
    out += read(text.slice(done, open.index)) + text.slice(open.index, end.index + end[0].length)
    done = end.index + end[0].length
    at += 1 + close
  }
  return out + read(text.slice(done))
}

type Marks = Readonly<Partial<Record<string, string>>>

function readMark(mark: string, groups: Marks, reading: Reading): string {
  const { user, role, place, command, emoji, time, guide, bare, word, url } = groups
  if (user !== undefined) return nameUser(user, reading) ?? mark
  if (role !== undefined) return nameRole(role, reading) ?? mark
  if (place !== undefined) return namePlace(place, reading) ?? mark
  if (time !== undefined) return momentOf(Number(time) * 1000) || mark
  if (emoji !== undefined) return `:${emoji}:`
  if (command !== undefined) return `/${command}`
  if (guide !== undefined) return GUIDES[guide] ?? mark
  return bare ?? (word === url ? (url ?? mark) : `${word} (${url})`)
}

const GUIDES: Marks = {
  browse: 'Browse Channels',
  customize: 'Channels & Roles',
  guide: 'Server Guide',
  'linked-roles': 'Linked Roles',
}

function nameUser(id: string, { message, naming: { botId, guildId, names }, mentions }: Reading): string | undefined {
  const user = objectsIn(message.mentions).find((one) => one.id === id)
  const known = names?.person(guildId, id)
  const username = nameOf(user?.username)
  const nick = isFields(user?.member) ? user.member.nick : undefined
  const name = (user === undefined ? known : displayNameOf(user, nick, known)) ?? username
  if (name === undefined) return undefined
  if (id !== botId) mentions?.push({ kind: 'person', name, ...present('username', username) })
  return `@${name}`
}

function nameRole(id: string, { naming: { botId, names }, mentions }: Reading): string | undefined {
  const role = names?.role(id)
  if (role === undefined) return undefined
  const name = role.name.replace(/^@/, '')
  if (role.botId !== botId) mentions?.push({ kind: 'group', name })
  return `@${name}`
}

function namePlace(id: string, { message, naming: { names }, mentions }: Reading): string | undefined {
  const listed = objectsIn(message.mention_channels).find((one) => one.id === id)
  const name = names?.place(id) ?? nameOf(listed?.name)
  if (name === undefined) return undefined
  mentions?.push({ kind: 'place', name })
  return `#${name}`
}

/** Returns a moment (ms since the epoch) for people; empty for none. */
function momentOf(ms: number): string {
  const date = new Date(ms)
  return Number.isNaN(date.getTime()) ? '' : `${date.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

const IS_VOICE_MESSAGE = 1 << 13

/**
 * The files of a message, by the ids of channel, message and file: links expire, and no link of a message is ever
 * followed. `holder` is the message itself, or one that it forwards. A file that an embed or a component shows is in no
 * list of attachments.
 */
export function readFiles(message: Fields, holder: Fields, by: WrittenBy): readonly AttachmentRef[] {
  const isVoice = typeof holder.flags === 'number' && (holder.flags & IS_VOICE_MESSAGE) !== 0
  const refTo = (id: string) => `${idOf(message.channel_id)}/${idOf(message.id)}/${id}`
  const files = objectsIn(holder.attachments).filter(({ id }) => isSnowflake(id))
  const listed = files.map((file) => {
    const mime = textIn(file.content_type)
    const kind: FileKind | undefined = isVoice ? 'voice' : kindOfType(mime)
    return {
      ref: refTo(idOf(file.id)),
      fileName: nameOfFile(file),
      ...present('kind', kind),
      ...present('mime', mime),
      ...present('size', sizeOf(file.size)),
      ...present('about', aboutFile(file)),
    }
  })
  const shown = by === 'person' ? NONE : uploadsIn(holder)
  if (shown.length === 0) return listed
  const further = shown.map(({ id, name, mime, size, about }) => ({
    ref: refTo(id),
    fileName: name,
    ...present('kind', kindOfType(mime)),
    ...present('mime', mime),
    ...present('size', size),
    ...present('about', about),
  }))
  const known = new Set(listed.map(({ ref }) => ref))
  return [...listed, ...further.filter(({ ref }) => !known.has(ref))]
}

/** Returns the name that people read: the platform takes other letters than Latin ones, and the ending, out of it. */
function nameOfFile({ filename, title }: Fields): string {
  const [sent, shown] = [textIn(filename) ?? 'file', nameOf(title)]
  if (shown === undefined) return sent
  const [ending = ''] = /\.\w{1,10}$/.exec(sent) ?? []
  return shown.toLowerCase().endsWith(ending.toLowerCase()) ? shown : shown + ending
}

/** Returns the description that people read aloud, and the length of a recording, which comes last. */
function aboutFile({ description, duration_secs: seconds }: Fields): string | undefined {
  const length = typeof seconds === 'number' && seconds >= 0 ? `${Math.round(seconds)} s` : ''
  return joined([nameOf(description) ?? '', length], ', ') || undefined
}

interface Upload {
  readonly id: string
  readonly url: string
  readonly name: string
  readonly mime: string | undefined
  readonly size: number | undefined
  readonly about: string | undefined
}

/** Returns the uploaded files that embeds and components of a message object show. */
export function uploadsIn(holder: Fields): readonly Upload[] {
  const embeds = objectsIn(holder.embeds).flatMap(({ image, video, thumbnail }) => [image, video, thumbnail])
  const media = [...embeds, ...objectsIn(holder.components).flatMap((component) => mediaIn(component, 0))]
  return media.flatMap((one) => (isFields(one) ? (uploadIn(one) ?? NONE) : NONE))
}

function mediaIn(component: Fields, depth: number): unknown[] {
  const { media, file, items, components, accessory, description, name, size } = component
  if (depth > DEEPEST) return []
  const inside = [...objectsIn(items), ...objectsIn(components), ...(isFields(accessory) ? [accessory] : NONE)]
  const own = [media, file].map((one) => (isFields(one) ? { description, name, size, ...one } : undefined))
  return [...own, ...inside.flatMap((one) => mediaIn(one, depth + 1))]
}

function uploadIn({ url, attachment_id, content_type, description, name, size }: Fields): Upload | undefined {
  const address = typeof url === 'string' ? url : ''
  const [, inPath, named] = /\/attachments\/\d{1,20}\/(\d{1,20})\/([^/?#]{1,300})/.exec(address.slice(0, 2_000)) ?? []
  const id = isSnowflake(attachment_id) ? attachment_id : inPath
  if (id === undefined) return undefined
  const mime = typeof content_type === 'string' ? content_type : undefined
  const called = nameOf(name) ?? named ?? 'file'
  return { id, url: address, name: called, mime, size: sizeOf(size), about: nameOf(description) }
}
