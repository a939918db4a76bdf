import { DOORS } from '../core/doors.ts'
import { parseUrl } from '../core/parse-url.ts'
import { readJson } from '../core/read-json.ts'
import { type Converted, plainText, withoutEntities } from './plain-text.ts'

/** The fields of a feed or of one of its entries, under the names of RSS. */
interface FeedFields {
  title?: string
  link?: string
  date?: string
  author?: string
  text?: string
}

interface Feed extends FeedFields {
  readonly entries: FeedFields[]
}

const MOST_ENTRIES = 200
const LONGEST_TEXT = 1_000
const LONGEST_FIELD = 100_000

/** Returns true for the beginning of a text that is a feed: RSS, Atom, or JSON. */
export function isFeed(beginning: string): boolean {
  if (/^\s*\{/.test(beginning)) return /"version"\s*:\s*"https?:\\?\/\\?\/jsonfeed\.org\\?\//.test(beginning)
  return FEED_ROOT.test(pastPrologue(beginning))
}

const FEED_ROOT = /^<(?:rss|feed|(?:\w+:)?RDF)(?=[\s>])/
const PROLOGUE = /^(?:\s+|<\?.*?\?>|<!--.*?-->|<!doctype(?!\s+html)[^>]*>)/is

/** Returns a text of XML from its first element on. */
export function pastPrologue(text: string): string {
  let rest = text
  for (let part = PROLOGUE.exec(rest); part !== null; part = PROLOGUE.exec(rest)) rest = rest.slice(part[0].length)
  return rest
}

/** Returns a feed as the list of its entries, with their addresses and days. */
export function feedToMarkdown(text: string, base: string): Converted {
  const feed = /^\s*\{/.test(text) ? readJsonFeed(text) : readXmlFeed(text)
  const title = words(feed.title, 300)
  const shown = feed.entries.slice(0, MOST_ENTRIES).map((entry) => entryLine(entry, base))
  const left = feed.entries.length - shown.length
  const parts = [words(feed.text, LONGEST_TEXT), ...shown, ...(left > 0 ? [`and ${left} more entries`] : [])]
  const markdown = parts.filter((part) => part !== '').join('\n\n')
  return {
    ...(title === '' ? {} : { title }),
    markdown: shown.length === 0 ? `${markdown}\n\nIt has no entries.` : markdown,
  }
}

function entryLine({ title, link, date, author, text }: FeedFields, base: string): string {
  const url = link === undefined ? undefined : parseUrl(link.trim(), base)
  const said = words(text, LONGEST_TEXT)
  const name = words(title, 300).replace(/[[\]]/g, '') || (said === '' ? 'untitled' : `${said.slice(0, 80)} …`)
  const address =
    url !== undefined && /^https?:$/.test(url.protocol) ? url.href.replaceAll('(', '%28').replaceAll(')', '%29') : ''
  const beside = [dayAndTime(date ?? ''), words(author, 100)].filter((word) => word !== '').join(', ')
  const line = `- ${address === '' ? name : `[${name}](${address})`}${beside === '' ? '' : ` (${beside})`}`
  return said === '' || said === name ? line : `${line}\n  ${said}`
}

function words(html: string | undefined, longest: number): string {
  const text = plainText((html ?? '').slice(0, LONGEST_FIELD)).replace(/\s+/g, ' ')
  return text.length <= longest ? text : `${text.slice(0, longest)} …`
}

/** Returns a time as a day and an hour in UTC; words that are none stay. */
function dayAndTime(date: string): string {
  const time = Date.parse(date.trim())
  if (Number.isNaN(time)) return words(date, 40)
  const whole = new Date(time).toISOString()
  return whole.endsWith('T00:00:00.000Z') ? whole.slice(0, 10) : `${whole.slice(0, 16).replace('T', ' ')} UTC`
}

/** The fields by the names of elements, the better of two names first. */
const FIELDS: Readonly<Record<string, keyof FeedFields>> = {
  ...{ title: 'title', link: 'link', guid: 'link', pubdate: 'date', published: 'date', 'dc:date': 'date' },
  ...{
    updated: 'date',
    author: 'author',
    name: 'author',
    'dc:creator': 'author',
    description: 'text',
    summary: 'text',
  },
  ...{ subtitle: 'text', content: 'text', 'content:encoded': 'text', 'itunes:summary': 'text' },
}
const TOKEN = /<!\[CDATA\[|<!--|<[!?]|<\/?[\w:.-]+/g
const NAMED = /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

/** Reads XML in one pass; whatever is neither a feed nor an entry is a part of the field around it. */
function readXmlFeed(text: string): Feed {
  const reading: XmlReading = { feed: { entries: [] }, entry: undefined, field: undefined, depth: 0, text: '' }
  let at = 0
  TOKEN.lastIndex = 0
  for (let token = TOKEN.exec(text); token !== null; token = TOKEN.exec(text)) {
    const { 0: mark, index } = token
    const closing = CLOSINGS[mark] ?? '>'
    const end = text.indexOf(closing, index)
    const within = text.slice(index + mark.length, end === -1 ? text.length : end)
    if (reading.field !== undefined) reading.text += withoutEntities(text.slice(at, index))
    takeToken(reading, mark, within)
    at = end === -1 ? text.length : end + closing.length
    TOKEN.lastIndex = at
    if (reading.feed.entries.length > MOST_READ) break
  }
  return reading.feed
}

const CLOSINGS: Readonly<Record<string, string>> = { '<![CDATA[': ']]>', '<!--': '-->' }
const MOST_READ = 10_000

function takeToken(reading: XmlReading, mark: string, within: string): void {
  if (mark.startsWith('</')) closeElement(reading, mark.slice(2).toLowerCase())
  else if (/^<[^!?]/.test(mark)) openElement(reading, mark.slice(1).toLowerCase(), within)
  else if (mark === '<![CDATA[' && reading.field !== undefined) reading.text += within
}

interface XmlReading {
  readonly feed: Feed
  entry: FeedFields | undefined
  /** The name of the element whose text is read, and of how many of that name it is the outermost. */
  field: string | undefined
  depth: number
  text: string
}

function openElement(reading: XmlReading, name: string, rest: string): void {
  const isWhole = rest.endsWith('/')
  if (reading.field !== undefined) {
    openWithin(reading, name, isWhole)
    return
  }
  if (name === 'item' || name === 'entry') {
    reading.entry = {}
    reading.feed.entries.push(reading.entry)
    return
  }
  if (!Object.hasOwn(FIELDS, name) || name === 'name') return
  const attributes = attributesOf(rest)
  const isNoAddress = name === 'guid' && attributes.ispermalink === 'false'
  if (name === 'link' && attributes.href !== undefined) takeLink(reading, attributes)
  else if (!isWhole && !isNoAddress) Object.assign(reading, { field: name, depth: 1, text: '' })
}

/** The name of an author counts; other fields may hold elements of XHTML, whose text belongs to them. */
function openWithin(reading: XmlReading, name: string, isWhole: boolean): void {
  if (reading.field === 'author' && name === 'name') Object.assign(reading, { field: 'name', text: '' })
  else if (name === reading.field && !isWhole) reading.depth++
  else reading.text += ' '
}

function closeElement(reading: XmlReading, name: string): void {
  if (reading.field === undefined) {
    if (name === 'item' || name === 'entry') reading.entry = undefined
    return
  }
  if (name !== reading.field || --reading.depth > 0) return
  const field = FIELDS[name]
  const fields = reading.entry ?? reading.feed
  const isBetter = name === 'link' || name === 'published' || name === 'pubdate'
  if (field !== undefined && reading.text.trim() !== '' && (fields[field] === undefined || isBetter))
    fields[field] = reading.text.trim().slice(0, LONGEST_FIELD)
  reading.field = undefined
}

/** Atom names an address by its kind: that of the entry itself is the alternate one. */
function takeLink(
  { entry, feed }: XmlReading,
  { href = '', rel = 'alternate' }: Readonly<Record<string, string>>,
): void {
  const fields = entry ?? feed
  if (rel === 'alternate') fields.link = href
  else if (rel !== 'self' && rel !== 'edit') fields.link ??= href
}

function attributesOf(rest: string): Readonly<Record<string, string>> {
  const all = [...rest.slice(0, 5_000).matchAll(NAMED)]
  return Object.fromEntries(
    all.map(([, name = '', double, single]) => [name.toLowerCase(), withoutEntities(double ?? single ?? '')]),
  )
}

function readJsonFeed(text: string): Feed {
  const { title, description, items } = fieldsOf(readJson(text, DOORS.search))
  const list = Array.isArray(items) ? items : []
  return { ...filled({ title, text: description }), entries: list.slice(0, MOST_READ).map(jsonEntry) }
}

function jsonEntry(item: unknown): FeedFields {
  const fields = fieldsOf(item)
  const [author] = [fields.authors ?? fields.author].flat()
  return filled({
    ...{ title: fields.title, link: fields.url ?? fields.external_url ?? fields.id },
    ...{ date: fields.date_published ?? fields.date_modified, author: fieldsOf(author).name },
    text: fields.summary ?? fields.content_text ?? fields.content_html,
  })
}

function filled(fields: Readonly<Record<keyof FeedFields, unknown>> | Readonly<Record<string, unknown>>): FeedFields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => typeof value === 'string'))
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}
