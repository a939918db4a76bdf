import { plainName } from '../../../src/core/label.ts'
import { type Fields, isFields } from '../../shared/fields.ts'

/** A marked stretch of a text; offsets count UTF-16 units, as JavaScript does. */
export interface Entity {
  readonly type: string
  readonly offset: number
  readonly length: number
  /** The person of a `text_mention`. */
  readonly user?: Fields
  /** The address behind a `text_link`. */
  readonly url?: string
  readonly language?: string
  /** The seconds since the epoch that a `date_time` means. */
  readonly time?: number
}

/** The platform marks a hundred stretches at most; servers of others may send more. */
const MOST_ENTITIES = 300

/** Returns the marks of a text, without those that are none: the words are worth more than a mark. */
export function readEntities(value: unknown): readonly Entity[] {
  const given = Array.isArray(value) ? value.slice(0, MOST_ENTITIES) : []
  return given.filter(isFields).flatMap((entity) => {
    const { type, offset, length, user, url, language, unix_time: time } = entity
    if (typeof type !== 'string' || !isPlace(offset) || !isPlace(length)) return []
    return {
      ...{ type, offset, length },
      ...(isFields(user) ? { user } : {}),
      ...(typeof url === 'string' ? { url } : {}),
      ...(typeof language === 'string' ? { language } : {}),
      ...(typeof time === 'number' ? { time } : {}),
    }
  })
}

function isPlace(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

/** A stretch with those that lie in it. */
interface Stretch {
  readonly start: number
  readonly end: number
  readonly entity: Entity
  readonly inner: Stretch[]
}

/** The marks that change how a text reads. Of two of the same stretch the earlier one here is around the other. */
const MARKS = [
  'blockquote',
  'expandable_blockquote',
  'pre',
  'spoiler',
  'strikethrough',
  'text_mention',
  'text_link',
  'date_time',
  'code',
]
const BLOCKS: readonly string[] = ['blockquote', 'expandable_blockquote', 'pre']

/**
 * Returns a text as people read it, in Markdown where marks change the meaning: an address or a name behind words
 * follows them in brackets. Marks that only look different go. A text without such marks stays as it is.
 */
export function readable(text: string, entities: readonly Entity[]): string {
  const marked = entities.flatMap((entity) => {
    const [start, end] = [entity.offset, Math.min(entity.offset + entity.length, text.length)]
    return MARKS.includes(entity.type) && start < end ? [{ start, end, entity, inner: [] }] : []
  })
  return marked.length === 0 ? text : written(text, { start: 0, end: text.length, inner: nested(marked) })
}

/** Returns the outermost stretches; one that ends beyond the one it begins in is cut in two there. */
function nested(stretches: readonly Stretch[]): Stretch[] {
  const rest = [...stretches].sort(inOrder)
  const outermost: Stretch[] = []
  const around: Stretch[] = []
  let cuts = 0
  for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
    while ((around.at(-1)?.end ?? Number.POSITIVE_INFINITY) <= next.start) around.pop()
    const outer = around.at(-1)
    const end = Math.min(next.end, outer?.end ?? next.end)
    if (end < next.end && cuts++ < MOST_ENTITIES) {
      rest.push({ ...next, start: end, inner: [] })
      rest.sort(inOrder)
    }
    const stretch = { ...next, end }
    const siblings = outer?.inner ?? outermost
    siblings.push(stretch)
    around.push(stretch)
  }
  return outermost
}

function inOrder(one: Stretch, other: Stretch): number {
  return one.start - other.start || other.end - one.end || rankOf(one) - rankOf(other)
}

function rankOf({ entity }: Stretch): number {
  return MARKS.indexOf(entity.type)
}

/** Returns a stretch with the marks inside of it; a block has lines of its own. */
function written(text: string, { start, end, inner }: Pick<Stretch, 'start' | 'end' | 'inner'>): string {
  let out = ''
  let at = start
  let behindBlock = false
  const add = (piece: string, isBlock: boolean): void => {
    if (piece === '') return
    const breaks = (isBlock || behindBlock) && out !== '' && !out.endsWith('\n') && !piece.startsWith('\n')
    out += `${breaks ? '\n' : ''}${piece}`
    behindBlock = isBlock
  }
  for (const stretch of inner) {
    add(text.slice(at, stretch.start), false)
    add(markedUp(stretch.entity, written(text, stretch)), BLOCKS.includes(stretch.entity.type))
    at = stretch.end
  }
  add(text.slice(at, end), false)
  return out
}

function markedUp(entity: Entity, words: string): string {
  switch (entity.type) {
    case 'blockquote':
    case 'expandable_blockquote':
      return quoteOf(words)
    case 'pre':
      return fenceOf(words, entity.language ?? '')
    case 'code':
      return around(words, (inner) => (inner.includes('`') ? `\`\` ${inner} \`\`` : `\`${inner}\``))
    case 'strikethrough':
      return eachLine(words, '~~')
    case 'spoiler':
      return eachLine(words, '||')
    default:
      return around(words, (inner) => withNote(inner, noteOf(entity, inner)))
  }
}

/** A mark beside a space or across lines is none to whoever reads Markdown. */
function eachLine(words: string, mark: string): string {
  return words
    .split('\n')
    .map((line) => (line.trim() === '' ? line : around(line, (inner) => `${mark}${inner}${mark}`)))
    .join('\n')
}

function around(words: string, mark: (inner: string) => string): string {
  const inner = words.trim()
  const before = words.length - words.trimStart().length
  return `${words.slice(0, before)}${mark(inner)}${words.slice(before + inner.length)}`
}

/** Returns each line of a quotation behind `> `. */
function quoteOf(words: string): string {
  return words
    .trimEnd()
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')
}

function fenceOf(words: string, language: string): string {
  const fence = words.includes('```') ? '~~~~' : '```'
  return `${fence}${/^[\w+#.-]{1,40}$/.test(language) ? language : ''}\n${words.replace(/\n$/, '')}\n${fence}`
}

function withNote(words: string, note: string | undefined): string {
  return note === undefined ? words : `${words}${words === '' ? '' : ' '}(${note})`
}

/** Returns the rest of what a stretch means: its address, whom it names, its time. Undefined where the words say it. */
function noteOf({ type, url = '', user, time }: Entity, words: string): string | undefined {
  if (type === 'text_link') return url === '' || bareAddress(url) === bareAddress(words) ? undefined : url
  if (type === 'date_time') return isoTime(time)
  // It stands in the sender's own words, whatever somebody else calls themselves.
  const name = user === undefined ? '' : plainName(userName(user))
  return name === '' || isNamedBy(words, name, user?.username) ? undefined : name
}

function bareAddress(address: string): string {
  return address
    .trim()
    .replace(/^(?:https?:\/\/|mailto:|tel:)/i, '')
    .replace(/\/$/, '')
}

function isNamedBy(words: string, name: string, username: unknown): boolean {
  const said = words.replace(/^@/, '').trim().toLowerCase()
  const names = [name, ...name.split(' '), typeof username === 'string' ? username : '']
  return said !== '' && names.some((one) => one.toLowerCase() === said)
}

/** Returns the name that people read of a user or a private chat; empty where there is none. */
export function userName({ first_name, last_name }: Fields): string {
  return [first_name, last_name].filter((name) => typeof name === 'string' && name !== '').join(' ')
}

/** Returns the name that people read of a chat or a user, whichever it is; empty where there is none. */
export function nameIn(value: unknown): string {
  if (!isFields(value)) return ''
  const name = typeof value.title === 'string' ? value.title : userName(value)
  return name === '' && typeof value.username === 'string' ? `@${value.username}` : name
}

/** Returns seconds since the epoch as `2026-11-29T18:30Z`; undefined for what is no time. */
export function isoTime(seconds: unknown): string | undefined {
  if (typeof seconds !== 'number' || !(Math.abs(seconds) <= LAST_SECOND)) return undefined
  return new Date(seconds * 1000).toISOString().replace(/:\d\d\.\d+Z$/, 'Z')
}

/** The last second that a calendar knows, in the year 275760. */
const LAST_SECOND = 8_640_000_000_000
