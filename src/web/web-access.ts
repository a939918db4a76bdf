import { STATUS_CODES } from 'node:http'
import type { Clock } from '../core/clock.ts'
import { errorCode, ParleyError, toError } from '../core/errors.ts'
import type { ReadArrived } from '../core/media.ts'
import { parseUrl } from '../core/parse-url.ts'
import { type DeclaredText, isBinary, isPdf, readDeclared, type TextKind } from '../core/read-text.ts'
import type { WebAccess, WebPage } from '../core/web.ts'
import { decodeText } from '../platform/decode-text.ts'
import { convertPage, oneAtATime, type PageText } from './convert-page.ts'
import { type Door, type DoorAnswer, isSameSite, mayBeTls, readTarget, type Visit } from './door.ts'
import { parseRefresh, type Refresh, ROBOTS } from './page-facts.ts'
import { plainText } from './plain-text.ts'
import { readPublicUrl } from './public-address.ts'
import { isFeed, pastPrologue } from './read-feed.ts'

type Answer = Extract<DoorAnswer, { kind: 'answer' }>

/** The images that models can be shown. */
const IMAGES = /^image\/(png|jpeg|gif|webp)$/
const PAGES = /^(text\/html|application\/(xhtml\+xml|vnd\.wap\.xhtml\+xml))$/
const XML = /^(text\/xml|application\/xml|.*\+xml)$/
const TEXTS =
  /^(text\/.*|application\/(json|xml|javascript|ecmascript|x-javascript|yaml|x-yaml|toml|x-ndjson|x-sh|sql|graphql|x-subrip)|.*\+(json|xml|yaml))$/
/** The types that a server names which does not know the type. */
const UNKNOWN =
  /^(application\/(octet-stream|unknown|x-unknown|force-download|download)|binary\/octet-stream|unknown\/unknown|\*\/\*|)$/
/** Times that a page may lead on to another one, or to itself with a cookie. */
const MOST_REFRESHES = 4
/** A page that leads on later than that is there to be read. */
const LATEST_REFRESH = 10
/** No further page is asked for after so long. */
const WITHIN_MS = 20_000
/** Characters of a document that are read; a tool shows no more. */
const LONGEST_DOCUMENT = 200_000

interface WebAccessDeps {
  readonly door: Door
  readonly clock: Clock
  /** Reads files that are neither pages nor texts; absent: they are named. */
  readonly readFile?: ReadArrived
  /** Default: `convertPage`, in a process of its own. */
  readonly converter?: typeof convertPage
}

interface Reading extends WebAccessDeps {
  readonly signal: AbortSignal
  convert(this: void, page: string, base: string, form: 'page' | 'feed'): Promise<PageText>
}

/** A page, and where it leads on to by itself. */
interface Visited {
  readonly page: WebPage
  readonly refresh?: Refresh
}

/** Returns the web behind the door: pages as Markdown, other texts as they are, documents as their text. */
export function createWebAccess(deps: WebAccessDeps): WebAccess {
  // Each conversion may cost all the memory that one is allowed, and a model may ask for many pages in one step.
  const inTurn = oneAtATime()
  return {
    read: readPublicUrl,
    async fetch(address, signal, whose) {
      const { clock, converter = convertPage } = deps
      const convert: Reading['convert'] = (page, base, form) =>
        inTurn(whose, () => converter(page, base, { clock, signal, form }))
      return visit(address, { ...deps, signal, convert })
    },
  }
}

/** Follows a page to where it leads on by itself, as redirects are followed: within its site, and not for long. */
async function visit(address: string, reading: Reading): Promise<WebPage> {
  const { clock } = reading
  const cookies: Visit = new Map()
  const began = clock.now()
  let url = address
  for (let refreshes = 0; ; refreshes++) {
    const before = cookieWords(cookies)
    const answer = await askBoth(url, { ...reading, cookies })
    if (answer.kind === 'redirect') return { kind: 'redirect', url: answer.url.href, to: answer.to.href }
    if (answer.status < 200 || answer.status > 299) throw await refusedPage(answer, reading)
    const { page, refresh } = await readAnswer(answer, reading)
    const to = nextAddress(answer, refresh, cookieWords(cookies) !== before)
    if (to === undefined) return page
    if (!isSameSite(answer.url, to)) return { kind: 'redirect', url: answer.url.href, to: to.href }
    const isEnough = refreshes === MOST_REFRESHES || clock.now() - began > WITHIN_MS
    if (isEnough) return unfollowed(page, to)
    url = to.href
  }
}

/** Returns where a page leads on to at once. To itself it does with a new cookie, or else only to be read anew. */
function nextAddress({ url }: Answer, refresh: Refresh | undefined, hasNewCookies: boolean): URL | undefined {
  if (refresh === undefined || refresh.seconds > LATEST_REFRESH) return undefined
  const to = readTarget(refresh.url, url, undefined)
  return to.href !== withoutFragment(url) || hasNewCookies ? to : undefined
}

function cookieWords(cookies: Visit): string {
  return JSON.stringify([...cookies])
}

function withoutFragment({ href }: URL): string {
  return href.replace(/#.*$/s, '')
}

function unfollowed(page: WebPage, { href }: URL): WebPage {
  if (page.kind !== 'text') return page
  return { ...page, notes: [...(page.notes ?? []), `This page leads on and on, to ${href} in the end.`] }
}

/** Asks, and by TLS a server that has nothing else, as browsers do. */
async function askBoth(
  address: string,
  { door, signal, cookies }: Reading & { readonly cookies: Visit },
): Promise<DoorAnswer> {
  const byTls = address.replace(/^http:/i, 'https:')
  const ask = (url: string): Promise<DoorAnswer> => door.ask(url, { signal, visit: cookies })
  if (byTls === address || parseUrl(address) === undefined) return ask(address)
  let failure: unknown
  try {
    const answer = await ask(address)
    if (answer.kind !== 'answer' || answer.status !== 400 || !/\bHTTPS\b/.test(says(answer))) return answer
    failure = refused(answer, {})
  } catch (error) {
    if (errorCode(error) !== 'unavailable' || !mayBeTls(toError(error))) throw error
    failure = error
  }
  return ask(byTls).catch((error: unknown) => {
    throw errorCode(error) === 'aborted' ? error : failure
  })
}

async function readAnswer(answer: Answer, reading: Reading): Promise<Visited> {
  const { url, headers, bytes, cut, torn } = answer
  const { type: named, charset } = typeIn(headers['content-type'] ?? '')
  const short = cut ? ({ cut } as const) : {}
  const file = { url: url.href, type: named || 'application/octet-stream', size: bytes.length, ...short }
  // The header of that name counts as the element does, and more.
  const sent = parseRefresh(headers.refresh ?? '', url.href)
  if (bytes.length === 0) return leadingOn({ kind: 'text', ...file, text: '', notes: [emptyWords(answer)] }, sent)
  if (IMAGES.test(named) && !cut) return { page: { kind: 'image', url: url.href, bytes } }
  const declared = readDeclared(bytes, { header: charset, kind: textKind(named), stream: cut })
  if (!isText(named, bytes, declared))
    return { page: torn ? { kind: 'file', ...file, unread: BROKEN } : await readOther(file, bytes, reading) }
  const read = declared.guessed ? await detected(bytes, cut, reading) : declared
  const { page, refresh } = await readPage(answer, { named, read }, reading)
  return leadingOn(page, sent ?? refresh)
}

const BROKEN = 'the connection broke off before it was whole'

async function detected(bytes: Buffer, stream: boolean, { clock, signal }: Reading): Promise<DeclaredText> {
  const { guess, ...read } = await decodeText(bytes, { stream, clock, signal })
  return guess ? { ...read, guessed: true } : read
}

function textKind(type: string): TextKind {
  if (PAGES.test(type) || UNKNOWN.test(type)) return 'page'
  return XML.test(type) ? 'xml' : 'text'
}

/** Some servers give a PDF the type of a page or of a text. */
function isText(type: string, bytes: Buffer, { encoding }: DeclaredText): boolean {
  if (isPdf(bytes) || !(PAGES.test(type) || TEXTS.test(type) || UNKNOWN.test(type))) return false
  return encoding.startsWith('utf-16') || !isBinary(bytes)
}

async function readPage(
  { url, headers, cut, torn }: Answer,
  { named, read }: { readonly named: string; readonly read: DeclaredText },
  { convert }: Reading,
): Promise<Visited> {
  const form = formOf(named, read.text, headers)
  const notes = [...encodingNotes(read), ...(torn ? [TORN] : [])]
  const plainType = UNKNOWN.test(named) ? 'text/plain' : named
  const type = form === 'page' && !PAGES.test(named) ? 'text/html' : plainType
  const text = { kind: 'text', url: url.href, type, ...(cut && !torn ? { cut } : {}) } as const
  if (form === 'text') return { page: { ...text, text: read.text, ...noted(notes) } }
  const { markdown, refresh, missing, ...page } = await convert(read.text, url.href, form)
  const all = [...notes, ...(missing === undefined ? [] : [missing])]
  return leadingOn({ ...text, ...page, text: markdown, ...noted(all) }, refresh)
}

const TORN = 'The connection broke off before the answer was whole; this is its beginning.'

function leadingOn(page: WebPage, refresh: Refresh | undefined): Visited {
  return refresh === undefined ? { page } : { page, refresh }
}

function noted(notes: readonly string[]): { readonly notes?: readonly string[] } {
  return notes.length === 0 ? {} : { notes }
}

function encodingNotes({ encoding, damaged, guessed }: DeclaredText): readonly string[] {
  if (guessed) return [`The page names no encoding and is no UTF-8. It was read as ${encoding}, which is a guess.`]
  return damaged ? [`Some bytes of the page are not in its encoding, ${encoding}; its text may be wrong there.`] : []
}

function emptyWords({ status, headers }: Answer): string {
  const challenged = headers['cf-mitigated'] === 'challenge' || status === 202
  return `The server answered ${inWords(status)} without any content${challenged ? '; it may want scripts, or another try later' : ''}.`
}

/** Returns the last type that a header names, which counts where there are several, and the header from there. */
function typeIn(header: string): { readonly type: string; readonly charset: string } {
  const all = header.split(',').filter((one) => /^\s*[^\s/;]+\/[^\s/;]+\s*(?:;|$)/.test(one))
  const essence = (one = ''): string => one.split(';')[0]?.trim().toLowerCase() ?? ''
  const type = essence(all.findLast((one) => !essence(one).startsWith('*/')) ?? all.at(-1))
  const charset = all.findLast((one) => essence(one) === type && /charset/i.test(one))
  return { type, charset: charset ?? '' }
}

type File = Omit<Extract<WebPage, { kind: 'file' }>, 'kind'>

async function readOther(file: File, bytes: Buffer, { readFile, signal }: Reading): Promise<WebPage> {
  if (file.cut)
    return {
      kind: 'file',
      ...file,
      unread: 'it is larger than is read, and of a file of this type the beginning says nothing',
    }
  if (readFile === undefined) return { kind: 'file', ...file }
  const name = decodeName(new URL(file.url).pathname.split('/').at(-1) ?? '')
  const { media, text, cut, note, unread } = await readFile({ bytes, name, kind: undefined }, LONGEST_DOCUMENT, signal)
  if (signal.aborted) throw new ParleyError('aborted', 'The page is no longer wanted.')
  const type = media?.mime ?? file.type
  if (media?.type === 'image') return { kind: 'image', url: file.url, bytes }
  if (text === undefined) return { kind: 'file', ...file, type, ...(unread === undefined ? {} : { unread }) }
  return {
    kind: 'text',
    url: file.url,
    type,
    text,
    ...noted([
      ...(note === undefined ? [] : [`About the file: ${note}.`]),
      ...(cut === undefined ? [] : [`This is a part of the file; left out: ${cut}.`]),
    ]),
  }
}

function decodeName(name: string): string {
  try {
    return decodeURIComponent(name).slice(0, 200)
  } catch {
    return name.slice(0, 200)
  }
}

/** Beginnings of a page whose type nobody says, as the standard of browsers lists them. */
const PAGE_BEGINNING =
  /^<(?:!doctype html|html|head|script|iframe|h1|div|font|table|a|style|title|b|body|br|p|meta|main|section|article|center)(?=[\s>/])/i
/** Beginnings that no text has by chance. */
const SURE_PAGE = /^<(?:!doctype\s+html|html)(?=[\s>])/i

/** Returns what a text is, whatever its server says: a page, a feed, or a text to be shown as it is. */
function formOf(type: string, text: string, headers: Answer['headers']): 'page' | 'feed' | 'text' {
  const beginning = text.slice(0, 5_000)
  const mayBeFeed = PAGES.test(type) || XML.test(type) || UNKNOWN.test(type) || /json|^text\/plain$/.test(type)
  if (mayBeFeed && isFeed(beginning)) return 'feed'
  const begun = pastPrologue(beginning)
  if (PAGES.test(type)) return /<[a-z!/]/i.test(text) ? 'page' : 'text'
  if (UNKNOWN.test(type)) return PAGE_BEGINNING.test(begun) || begun === '' ? 'page' : 'text'
  // A server that forbids it shows the source of a page on purpose.
  const isSure = headers['x-content-type-options']?.trim().toLowerCase() !== 'nosniff' || /json|xml/.test(type)
  return isSure && /^text\/plain$|json|xml/.test(type) && SURE_PAGE.test(begun) ? 'page' : 'text'
}

const LONGEST_SAYING = 300

/** Returns the beginning of an answer that is a refusal. */
function refusalIn({ headers, bytes }: Answer): { readonly text: string; readonly isPage: boolean } {
  if (isBinary(bytes)) return { text: '', isPage: false }
  const { type, charset } = typeIn(headers['content-type'] ?? '')
  const { text } = readDeclared(bytes.subarray(0, 50_000), { header: charset, kind: 'page', stream: true })
  return { text, isPage: PAGES.test(type) || SURE_PAGE.test(pastPrologue(text)) }
}

/** Returns the first words of an answer that is a refusal. */
function says(answer: Answer): string {
  const { text, isPage } = refusalIn(answer)
  const words = (isPage ? plainText(text) : text).replace(/\s+/g, ' ').trim()
  return words.length > LONGEST_SAYING ? `${words.slice(0, LONGEST_SAYING)} …` : words
}

/** A page that refuses says by its form why, as one that is no refusal does. */
async function refusedPage(answer: Answer, { clock, convert }: Reading): Promise<ParleyError> {
  if (answer.headers['cf-mitigated'] === 'challenge') return refused(answer, { clock, missing: ROBOTS })
  const { text, isPage } = refusalIn(answer)
  const { missing } = isPage ? await convert(text, answer.url.href, 'page') : {}
  return refused(answer, { clock, ...(missing === undefined ? {} : { missing }) })
}

function refused(
  answer: Answer,
  { clock, missing }: { readonly clock?: Clock; readonly missing?: string },
): ParleyError {
  const { url, status, headers } = answer
  const words = says(answer)
  const said = [
    `${url.host} answered ${inWords(status)} for this address.`,
    ...(missing === undefined ? [] : [missing]),
    ...(clock === undefined ? [] : waitWords(headers['retry-after'], clock)),
    ...(words === '' ? [] : [`It says: “${words}”`]),
  ]
  return new ParleyError('unavailable', said.join(' '))
}

function waitWords(header: string | undefined, clock: Clock): readonly string[] {
  if (header === undefined) return []
  const seconds = /^\s*\d{1,9}\s*$/.test(header) ? Number(header) : (Date.parse(header) - clock.now()) / 1000
  return Number.isNaN(seconds) || seconds <= 0 ? [] : [`It asks to try again in ${Math.ceil(seconds)} seconds.`]
}

function inWords(status: number): string {
  const words = STATUS_CODES[status]
  return `${status}${words ? ` (${words})` : ''}`
}
