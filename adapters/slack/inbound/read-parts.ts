import { type AttachmentRef, type FileKind, LONGEST_ENCLOSED } from '../../../src/core/message.ts'
import { type Fields, isFields, present, sizeOf } from '../../shared/fields.ts'
import { kindOfType } from '../../shared/file-kind.ts'
import { wordOf } from '../../shared/reading.ts'
import { cutWords } from '../../shared/shared-words.ts'
import { linkWords, quotation, unescaped, type Wording } from './mrkdwn-text.ts'

/**
 * Reads the parts of a message that the platform shows beside its text or in place of it: blocks, attachments, files,
 * calls. One reader serves a message, a message that is shared and one that is read back. Total: any value is words or
 * nothing. The table in FACTS.md says the outcome of each kind.
 */

/**
 * UTF-16 units of rendered parts: of an app's message, which has up to 12,000 characters of Markdown, and of a
 * person's, which is as long as a text may be.
 */
const MOST_OF_APP = 12_000
const MOST_OF_PERSON = 40_000
const MOST_LINES = 10
/** Blocks lie in blocks; the deepest that the platform documents are five levels deep. */
const DEEPEST = 12

/** A message in words. */
interface SaidWords {
  /** The words of whoever wrote it. */
  readonly text: string
  /** Things in it that are neither text nor files, one line each. */
  readonly enclosed: readonly string[]
  /** The lines that the platform adds to it, also later: previews of links, transcripts. */
  readonly added: readonly string[]
}

/**
 * Returns a message in words. Blocks take the place of the text where an app has sent it; the blocks that a person's
 * client sends say what the text says, and stand for it only where they say more.
 */
export function saidIn(message: Fields, words: Wording): SaidWords {
  const byApp = isThroughApp(message)
  const text = markedIn(message.text, words)
  const blocks = blockWords(message.blocks, words)
  const body = byApp ? blocks || text : moreOf(text, blocks)
  const attachments = fieldsIn(message.attachments).filter((one) => !isShare(one))
  const [own, others] = parted(attachments, (one) => isOwnPart(one, byApp))
  const parts = [
    ...own.map((one) => attachmentWords(one, byApp ? words : words.beside())),
    ...(byApp ? fieldsIn(message.files).map(mailWords) : []),
  ]
  // A text alone is as long as the platform lets it be.
  const [whole, rendered] = body === text ? [text, parts] : ['', [body, ...parts]]
  return {
    text: lines([whole, cutWords(lines(rendered), byApp ? MOST_OF_APP : MOST_OF_PERSON)]),
    enclosed: asLines([callWords(message.room, words.beside()), ...unshownBlocks(message.blocks, words)]),
    added: asLines([
      ...others.map((one) => previewWords(one, words.beside())),
      ...fieldsIn(message.files).map(heardWords),
    ]),
  }
}

/** It was sent by an app, be it with the token of a person, or by the platform itself. */
export function isThroughApp(message: Fields): boolean {
  return message.bot_id !== undefined || message.subtype === 'bot_message' || isOfSlackbot(message)
}

/** The platform itself has written it: a reminder, an automatic response, a mail that came to a channel. */
export function isOfSlackbot({ user, subtype }: Fields): boolean {
  return user === SLACKBOT || OF_SLACKBOT.has(subtype)
}

/** The app as which the platform itself speaks. */
export const SLACKBOT = 'USLACKBOT'
/** Subtypes whose words the platform has written, whoever the message names as its user. */
const OF_SLACKBOT: ReadonlySet<unknown> = new Set([
  'slackbot_response',
  'reminder_add',
  'huddle_thread',
  'sh_room_created',
  'document_mention',
  'file_comment',
  'file_mention',
])

/** A table that a person writes comes as an attachment; any other part of their message was added to it. */
function isOwnPart(attachment: Fields, byApp: boolean): boolean {
  const { blocks, bot_id, app_id } = attachment
  return !isPreview(attachment) && (byApp || (blocks !== undefined && bot_id === undefined && app_id === undefined))
}

/** Returns the words of what a message passes on: the messages it shares, and the mails in it. */
export function sharedIn(message: Fields, words: Wording): string {
  const shares = sharesOf(message).map((one) => attachmentWords(one, words, { isShare: true }))
  const mails = passesOnMail(message) ? fieldsIn(message.files).map(mailWords) : []
  return cutWords(lines([...shares, ...mails]), MOST_OF_PERSON)
}

/**
 * Returns the messages that a message shares: they come as attachments, which the platform marks. Any other attachment,
 * such as the preview of a link, is not text of a message.
 */
export function sharesOf({ attachments }: Fields): readonly Fields[] {
  return fieldsIn(attachments).filter(isShare)
}

/** Returns whether a person's message brings a mail, whose words are those of whoever sent the mail. */
export function passesOnMail(message: Fields): boolean {
  return !isThroughApp(message) && fieldsIn(message.files).some((file) => mailWords(file) !== '')
}

function isShare({ is_share, is_msg_unfurl }: Fields): boolean {
  return Boolean(is_share || is_msg_unfurl)
}

/** Returns true for what the platform or an app shows below a link that somebody has written. */
function isPreview({ from_url, original_url, app_unfurl_url, is_app_unfurl }: Fields): boolean {
  return Boolean(from_url || original_url || app_unfurl_url || is_app_unfurl)
}

// Attachments.

/** The fallback of an attachment whose words stand elsewhere. */
const NO_FALLBACK = /^\[no preview available\]$/i

/** Returns an attachment in the order in which it is shown. Its fallback counts where there is nothing else. */
function attachmentWords(attachment: Fields, words: Wording, { isShare = false } = {}): string {
  const text = isText(attachment.text) ? words.mrkdwn(attachment.text) : ''
  const inside = fieldsIn(attachment.message_blocks).map(({ message }) => (isFields(message) ? message.blocks : []))
  const blocks = lines([blockWords(attachment.blocks, words), ...inside.map((list) => blockWords(list, words))])
  const body = [
    linked(attachment.title, attachment.title_link, words),
    moreOf(text, blocks),
    ...fieldWords(attachment, words),
    rowOf(fieldsIn(attachment.actions).map(buttonWords)),
    pictureWords(attachment),
  ]
  const around = isShare ? body : [markedIn(attachment.pretext, words), authorOf(attachment), ...body]
  const shown = lines(isShare ? around : [...around, markedIn(attachment.footer, words)])
  if (shown !== '') return shown
  const fallback = plainIn(attachment.fallback)
  return NO_FALLBACK.test(fallback) ? '' : words.mrkdwn(isText(attachment.fallback) ? attachment.fallback : '')
}

function fieldWords({ fields }: Fields, words: Wording): readonly string[] {
  return fieldsIn(fields).map(({ title, value }) => pair(plainIn(title), markedIn(value, words)))
}

/** Returns the picture or video that an attachment shows, by its address: none of it is a file. */
function pictureWords({ title, alt_text, video_url, image_url, thumb_url }: Fields): string {
  const url = [video_url, image_url, thumb_url].find(isText)
  const name = plainIn(title) || plainIn(alt_text)
  return url === undefined ? '' : labelled(url === video_url ? 'video' : 'image', withAddress(name, url))
}

function authorOf({ author_name, author_link, author_subname }: Fields): string {
  const name = [plainIn(author_name), plainIn(author_subname)].filter(Boolean)
  return withAddress([...new Set(name)].join(', '), author_link)
}

function previewWords(attachment: Fields, words: Wording): string {
  const { from_url, original_url, app_unfurl_url, title_link, service_name, preview } = attachment
  const url = [from_url, original_url, app_unfurl_url, title_link].find(isText)
  const card = isFields(preview) ? [nodeWords(preview.title, words), nodeWords(preview.subtitle, words)] : []
  const { title, text, blocks, fallback } = attachment
  const said = [
    ...[plainIn(service_name), authorOf(attachment), plainIn(title)],
    ...[markedIn(text, words), blockWords(blocks, words), ...card],
    ...[...fieldWords(attachment, words), markedIn(attachment.footer, words)],
  ]
  const shown = said.filter(Boolean)
  // The picture of a page comes with the words of the page.
  if (shown.length === 0 || !isPreview(attachment)) shown.push(pictureWords(attachment))
  const instead = plainIn(fallback)
  if (lines(shown) === '' && !NO_FALLBACK.test(instead)) shown.push(instead)
  return labelled(url === undefined ? 'attached' : `preview of ${unescaped(url)}`, shown.filter(Boolean).join('. '))
}

// Blocks.

type Render = (block: Fields, words: Wording, depth: number) => string

/** The blocks and elements whose words do not simply stand one below another. */
const RENDERED: Readonly<Record<string, Render>> = {
  rich_text: (block, words) => lines(fieldsIn(block.elements).map((part) => richPart(part, words))),
  // A message may have Markdown of its own.
  markdown: ({ text }) => (isText(text) ? text : ''),
  mrkdwn: ({ text }, words) => markedIn(text, words),
  plain_text: ({ text }) => plainIn(text),
  raw_text: ({ text }) => plainIn(text),
  raw_number: ({ value, text }) => plainIn(typeof value === 'number' ? String(value) : (text ?? value)),
  alert: ({ text, level }, words, depth) => pair(plainIn(level), nodeWords(text, words, depth)),
  context: ({ elements }, words, depth) => inRow(elements, words, depth),
  context_actions: ({ elements }, words, depth) => inRow(elements, words, depth),
  actions: ({ elements }, words, depth) => inRow(elements, words, depth),
  image: ({ title, alt_text }, words, depth) => labelled('image', nodeWords(title, words, depth) || plainIn(alt_text)),
  video: (block, words, depth) => {
    const { title, title_url, description, author_name, provider_name, alt_text } = block
    const by = [plainIn(author_name), plainIn(provider_name)].filter(Boolean).join(', ')
    const name = withAddress(nodeWords(title, words, depth) || plainIn(alt_text), title_url)
    return labelled('video', [name, by, nodeWords(description, words, depth)].filter(Boolean).join('. '))
  },
  table: tableWords,
  data_table: (block, words, depth) => lines([plainIn(block.caption), tableWords(block, words, depth)]),
  task_card: (block, words, depth) => {
    const { status, title, details, output, sources } = block
    const state = plainIn(status).replaceAll('_', ' ')
    const below = [nodeWords(details, words, depth), nodeWords(output, words, depth), inRow(sources, words, depth)]
    return lines([`${state === '' ? '- ' : `- [${state}] `}${nodeWords(title, words, depth)}`, ...below])
  },
  call: ({ call }) => {
    const { name, join_url } = isFields(call) && isFields(call.v1) ? call.v1 : {}
    return labelled('call', withAddress(plainIn(name) || 'a call', join_url))
  },
  data_visualization: chartWords,
  file: ({ file }) => (isFields(file) ? labelled('file', plainIn(file.title) || plainIn(file.name)) : ''),
  button: buttonWords,
  workflow_button: buttonWords,
  icon_button: buttonWords,
  feedback_buttons: () => '',
  url: ({ text, url }) => withAddress(plainIn(text), url),
  divider: () => '',
}

/** The fields in which words of any other block or element stand, in the order in which they are shown. */
const SHOWN_FIELDS = [
  'rich_text_title',
  'title',
  'label',
  'subtitle',
  'text',
  'body',
  'description',
  'fields',
  'elements',
  'blocks',
  'child_blocks',
  'tasks',
  'element',
  'placeholder',
  'hint',
  'caption',
  'alt_text',
  'accessory',
  'hero_image',
  'actions',
  'footer',
]

/** The blocks whose words are read from these fields; one that is not among them and has no words is named. */
const PLAIN_BLOCKS: ReadonlySet<unknown> = new Set([
  'header',
  'section',
  'input',
  'card',
  'carousel',
  'container',
  'plan',
])

/** The types of blocks and elements that are read on purpose; FACTS.md has a row for each block. */
export const KNOWN_TYPES: readonly unknown[] = [...Object.keys(RENDERED), ...PLAIN_BLOCKS]

function blockWords(blocks: unknown, words: Wording, depth = 0): string {
  return lines(fieldsIn(blocks).map((block) => nodeWords(block, words, depth)))
}

/** Returns anything that may stand in a block in words: a text, a list, a block, an element. */
function nodeWords(node: unknown, words: Wording, depth = 0): string {
  if (depth > DEEPEST) return ''
  if (isText(node)) return unescaped(node)
  if (Array.isArray(node)) return lines(node.map((one) => nodeWords(one, words, depth + 1)))
  if (!isFields(node)) return ''
  const render = isRendered(node) ? RENDERED[node.type] : undefined
  if (render !== undefined) return render(node, words, depth + 1)
  return lines([
    ...SHOWN_FIELDS.map((field) => nodeWords(node[field], words, depth + 1)),
    ...choiceWords(node, words, depth + 1),
  ])
}

/** Returns the choices that an element offers, and those that are made already; nobody is mentioned by one. */
function choiceWords(element: Fields, words: Wording, depth: number): readonly string[] {
  const grouped = fieldsIn(element.option_groups).flatMap(({ options }) => listIn(options))
  const offered = [...listIn(element.options), ...grouped]
  const chosen = fieldsIn(initialOf(element, 'option'))
  const keys = new Set(chosen.map(({ value }) => value))
  const known = new Set(fieldsIn(offered).map(({ value }) => value))
  const options = [...offered, ...chosen.filter(({ value }) => !known.has(value))].map((one) => {
    if (!isFields(one) || !keys.has(one.value)) return nodeWords(one, words, depth)
    return lines([asChosen(nodeWords(one.text, words, depth)), nodeWords(one.description, words, depth)])
  })
  const nameOf = (id: string): string => (/^[UW]/.test(id) ? words.beside().user(id) : words.place(id))
  const ids = ['user', 'channel', 'conversation'].flatMap((kind) => initialOf(element, kind)).filter(isText)
  const moments = [plainIn(element.initial_date), plainIn(element.initial_time), dateWords(element.initial_date_time)]
  return [...options, ...[...ids.map(nameOf), ...moments].map(asChosen)]
}

/** Returns the choices of a kind that are made already, be it one or several. */
function initialOf(element: Fields, kind: string): readonly unknown[] {
  return [element[`initial_${kind}`], ...listIn(element[`initial_${kind}s`])]
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function asChosen(label: string): string {
  return label === '' ? '' : `${label} (chosen)`
}

/** Names the blocks of a message that may have words of a kind that is not known. */
function unshownBlocks(blocks: unknown, words: Wording): readonly string[] {
  const silent = fieldsIn(blocks).filter(
    (block) => !PLAIN_BLOCKS.has(block.type) && !isRendered(block) && nodeWords(block, words) === '',
  )
  return silent.map(({ type }) => `a part that cannot be shown here: ${wordOf(type)}`)
}

function isRendered(node: Fields): node is Fields & { readonly type: string } {
  return isText(node.type) && Object.hasOwn(RENDERED, node.type)
}

function inRow(elements: unknown, words: Wording, depth: number): string {
  return rowOf(fieldsIn(elements).map((one) => nodeWords(one, words, depth + 1)))
}

/** A line that began with the bracket of a button would look like a label of ours. */
function rowOf(elements: readonly string[]): string {
  const row = elements.filter(Boolean).join(' ')
  return row.startsWith('[') ? `buttons: ${row}` : row
}

function tableWords({ rows }: Fields, words: Wording, depth: number): string {
  const all = Array.isArray(rows) ? rows.filter(Array.isArray) : []
  return lines(
    all.map((row: readonly unknown[]) => {
      const cells = row.map((cell) => nodeWords(cell, words, depth + 1).replace(/\s*\n\s*/g, ' '))
      return cells.every((cell) => cell === '') ? '' : `| ${cells.join(' | ')} |`
    }),
  )
}

/** Returns a chart as its title and a line of values for each series. */
function chartWords({ title, chart }: Fields, words: Wording, depth: number): string {
  const { segments, series } = isFields(chart) ? chart : {}
  const valuesOf = (data: unknown): string =>
    fieldsIn(data)
      .map(({ label, value }) => pair(plainIn(label), typeof value === 'number' ? String(value) : plainIn(value)))
      .join(', ')
  const rows = fieldsIn(series).map(({ name, data }) => pair(plainIn(name), valuesOf(data)))
  return labelled('chart', lines([nodeWords(title, words, depth), valuesOf(segments), ...rows]))
}

function buttonWords({ text, url, value, alt_text }: Fields): string {
  const label = isFields(text) ? plainIn(text.text) : plainIn(text) || plainIn(alt_text)
  if (label === '' && !isText(value)) return ''
  return isText(url) ? `[${label}] (${url})` : `[${label}]`
}

// Rich text.

/** Returns a part of a rich text: a paragraph, a list, a quotation, code. */
function richPart(part: Fields, words: Wording): string {
  switch (part.type) {
    case 'rich_text_list':
      return listWords(part, words)
    case 'rich_text_quote':
      return quotation(inline(part.elements, words))
    case 'rich_text_preformatted':
      return `\`\`\`${plainIn(part.language)}\n${inline(part.elements, words, { isCode: true })}\n\`\`\``
    default:
      return inline(part.elements, words).replace(/\n$/, '')
  }
}

const DEEPEST_LIST = 8

function listWords({ elements, style, indent, offset }: Fields, words: Wording): string {
  const before = '  '.repeat(Math.min(sizeOf(indent) ?? 0, DEEPEST_LIST))
  const first = (sizeOf(offset) ?? 0) + 1
  return lines(
    fieldsIn(elements).map((item, at) => {
      const done = item.checked === true || item.is_checked === true ? 'x' : ' '
      const mark = style === 'ordered' ? `${first + at}.` : style === 'checklist' ? `- [${done}]` : '-'
      return `${before}${mark} ${inline(item.elements, words)}`
    }),
  )
}

function inline(elements: unknown, words: Wording, { isCode = false } = {}): string {
  return fieldsIn(elements)
    .map((element) => {
      const text = inlineWords(element, words)
      const { code, strike } = isFields(element.style) ? element.style : {}
      if (isCode || text.trim() === '') return text
      const marks = `${strike === true ? '~~' : ''}${code === true ? '`' : ''}`
      return `${marks}${text}${[...marks].reverse().join('')}`
    })
    .join('')
}

const INLINE: Readonly<Record<string, (element: Fields, words: Wording) => string>> = {
  link: ({ url, text }) => (isText(url) ? unescaped(linkWords(url, isText(text) ? text : undefined)) : plainIn(text)),
  emoji: ({ name }) => (isText(name) ? `:${name}:` : ''),
  user: ({ user_id }, words) => (isText(user_id) ? words.user(user_id) : ''),
  usergroup: ({ usergroup_id, name }, words) =>
    isText(usergroup_id) ? words.group(usergroup_id, isText(name) ? name : undefined) : '',
  channel: ({ channel_id }, words) => (isText(channel_id) ? words.place(channel_id) : ''),
  broadcast: ({ range }, words) => (isText(range) ? words.group(range) : ''),
  date: ({ fallback, timestamp }) => plainIn(fallback) || dateWords(timestamp),
  color: ({ value }) => plainIn(value),
  team: ({ team_id }) => plainIn(team_id),
}

function inlineWords(element: Fields, words: Wording): string {
  const read = isText(element.type) && Object.hasOwn(INLINE, element.type) ? INLINE[element.type] : undefined
  return read === undefined ? plainIn(element.text) || plainIn(element.name) : read(element, words)
}

function dateWords(timestamp: unknown): string {
  const seconds = sizeOf(timestamp)
  return seconds === undefined || seconds > 8e12 ? '' : new Date(seconds * 1000).toISOString()
}

// Files and calls.

/** Returns the files of a message, or of one that it shares, by their ids. The words of a mail are read already. */
export function readFiles(message: Fields): readonly AttachmentRef[] {
  return fieldsIn(message.files).flatMap((file) => {
    const { id, mimetype, name, title, size, subtype } = file
    if (typeof id !== 'string' || mailWords(file) !== '') return []
    const named = [name, title].find(isText)
    const kind = subtype === 'slack_audio' ? clipKind(file, message) : kindOfType(mimetype)
    return [
      {
        ref: id,
        ...present('kind', kind),
        ...(typeof mimetype === 'string' ? { mime: mimetype } : {}),
        ...present('fileName', named),
        ...present('size', sizeOf(size)),
        ...present('about', aboutOf(file)),
      },
    ]
  })
}

/** Returns a file of a message that is shared: it is no more its sender's than the words of that message. */
export function asShared(file: AttachmentRef): AttachmentRef {
  return { ...file, shared: true }
}

/** A clip can be shared again by anybody who sees it: it is a voice note only of whoever has recorded it. */
function clipKind({ user, user_team: fileTeam }: Fields, message: Fields): FileKind {
  const team = message.user_team ?? message.source_team ?? message.team
  const isOwn = typeof user === 'string' && user === message.user && (fileTeam === undefined || fileTeam === team)
  return isOwn ? 'voice' : 'audio'
}

const KINDS_OF_FILES: Readonly<Record<string, string>> = { quip: 'canvas', post: 'post', space: 'post', list: 'list' }

/** Returns the rest that is known of a file: the length alone of a recording or a video, as nobody has written it. */
function aboutOf({ mode, duration_ms: ms, alt_txt, external_url: url }: Fields): string | undefined {
  const length = sizeOf(ms)
  if (length !== undefined && length > 0) return `${Math.round(length / 1000)} s`
  if (mode === 'external' && isText(url)) return url
  const kind = isText(mode) && Object.hasOwn(KINDS_OF_FILES, mode) ? KINDS_OF_FILES[mode] : undefined
  return kind ?? (isText(alt_txt) ? alt_txt : undefined)
}

/** Returns a mail in words, or nothing where the file is none or does not bring its words. */
function mailWords({ mode, subject, title, from, plain_text: text, attachments }: Fields): string {
  if (mode !== 'email' || !isText(text)) return ''
  const by = fieldsIn(from).map(({ name, address, original }) => {
    const [called, at] = [plainIn(name), plainIn(address)]
    return called === '' || at === '' ? called || at || plainIn(original) : `${called} <${at}>`
  })
  const files = fieldsIn(attachments).map(({ filename }) => plainIn(filename))
  return cutWords(
    lines([
      labelled('mail from', by.filter(Boolean).join(', ')),
      labelled('subject', plainIn(subject) || plainIn(title)),
      text.trim(),
      labelled('files of the mail', files.filter(Boolean).join(', ')),
    ]),
    MOST_OF_APP,
  )
}

function heardWords({ transcription }: Fields): string {
  const preview = isFields(transcription) ? transcription.preview : undefined
  const heard = isFields(preview) ? plainIn(preview.content) : ''
  return labelled('transcript by Slack', heard)
}

/** Returns a huddle or another call in words. */
function callWords(room: unknown, words: Wording): string {
  if (!isFields(room)) return ''
  const { name, created_by, date_end, has_ended, participants, participant_history } = room
  const ended = has_ended === true || (sizeOf(date_end) ?? 0) > 0
  const there = [participants, participant_history].find((list) => Array.isArray(list) && list.length > 0)
  const people = (Array.isArray(there) ? there : []).filter(isText)
  const named = people.slice(0, MOST_LINES).map((id) => words.user(id))
  const others = people.length > named.length ? ` and ${people.length - named.length} more` : ''
  const by = isText(created_by) ? `, begun by ${words.user(created_by)}` : ''
  const who = people.length === 0 ? '' : `, with ${named.join(', ')}${others}`
  return `call: ${plainIn(name) || 'huddle'}, ${ended ? 'ended' : 'going on'}${by}${who}`
}

// Words.

function parted<Thing>(things: readonly Thing[], isFirst: (thing: Thing) => boolean): readonly [Thing[], Thing[]] {
  return [things.filter(isFirst), things.filter((thing) => !isFirst(thing))]
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

function fieldsIn(list: unknown): readonly Fields[] {
  return Array.isArray(list) ? list.filter(isFields) : []
}

function plainIn(value: unknown): string {
  return isText(value) ? unescaped(value) : ''
}

function markedIn(value: unknown, words: Wording): string {
  return isText(value) ? words.mrkdwn(value) : ''
}

/** Returns a title, which leads to an address. */
function linked(title: unknown, url: unknown, words: Wording): string {
  return withAddress(markedIn(title, words), url)
}

function withAddress(words: string, url: unknown): string {
  if (!isText(url) || words.includes(url)) return words
  return words === '' ? unescaped(url) : `${words} (${unescaped(url)})`
}

function labelled(label: string, words: string): string {
  return words === '' ? '' : `${label}: ${words}`
}

function pair(title: string, value: string): string {
  return title === '' || value === '' ? title || value : `${title}: ${value}`
}

function lines(parts: readonly string[]): string {
  return parts.filter((part) => part !== '').join('\n')
}

/** Returns things that are shown as one line each: bounded, each once. */
function asLines(things: readonly string[]): readonly string[] {
  const shown = things
    .filter((thing) => thing !== '')
    .map((thing) => bounded(thing.replace(/\s+/g, ' '), LONGEST_ENCLOSED))
  return [...new Set(shown)].slice(0, MOST_LINES)
}

function bounded(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`
}

/** Returns the blocks only where they have more words than the text: a person's have the same. */
function moreOf(text: string, blocks: string): string {
  return lettersIn(blocks) > lettersIn(text) ? blocks : text
}

function lettersIn(text: string): number {
  return text.replace(/[^\p{L}\p{N}]+/gu, '').length
}
