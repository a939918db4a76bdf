import { parseUrl } from '../core/parse-url.ts'
import { elementsIn, inOneLine, isWithin, NO_SCRIPT, type PageDocument, type PageElement, textOf } from './page-tree.ts'
import { withoutEntities } from './plain-text.ts'

/** An address to which a page leads on by itself, after so many seconds. */
export interface Refresh {
  readonly seconds: number
  readonly url: string
}

/** The parts of a page beside its text, read before it is tidied. */
export interface PageFacts {
  readonly title: string
  readonly description: string
  /** The address from which the others of the page are read. */
  readonly base: string
  /** `unscripted`: only for readers without scripts. */
  readonly refresh?: Refresh & { readonly unscripted: boolean }
  readonly scripts: readonly PageElement[]
  /** Names of elements and attributes that say what a page is for. */
  readonly marks: ReadonlySet<'password' | 'root' | 'frame'>
}

const LONGEST_TITLE = 500

export function readFacts(document: PageDocument, url: string): PageFacts {
  const metas = elementsIn(document, 'meta')
  const content = (name: string): string => {
    const isIt = (one: PageElement): boolean =>
      [one.getAttribute('name'), one.getAttribute('property')].some((word) => word?.trim().toLowerCase() === name)
    return inOneLine(metas.find(isIt)?.getAttribute('content') ?? '').slice(0, 2_000)
  }
  const base = baseOf(document, url)
  const refresh = metas.flatMap((meta) => refreshIn(meta, base))[0]
  return {
    title: (titleIn(document) || content('og:title')).slice(0, LONGEST_TITLE),
    description: content('description') || content('og:description'),
    ...{ base, scripts: elementsIn(document, 'script'), marks: marksOf(document) },
    ...(refresh === undefined ? {} : { refresh }),
  }
}

/** A title within a drawing is another element's. */
function titleIn(document: PageDocument): string {
  const own = elementsIn(document, 'title').find((one) => !isWithin(one, ['SVG']))
  return inOneLine(own === undefined ? '' : textOf(own))
}

function baseOf(document: PageDocument, url: string): string {
  const own = elementsIn(document, 'base').find((one) => one.getAttribute('href') !== null)
  const base = own === undefined ? undefined : parseUrl(own.getAttribute('href') ?? '', url)
  return base !== undefined && /^https?:$/.test(base.protocol) ? base.href : url
}

function refreshIn(meta: PageElement, base: string): NonNullable<PageFacts['refresh']> | [] {
  if (meta.getAttribute('http-equiv')?.trim().toLowerCase() !== 'refresh') return []
  const refresh = parseRefresh(meta.getAttribute('content') ?? '', base)
  return refresh === undefined ? [] : { ...refresh, unscripted: isWithin(meta, [NO_SCRIPT]) }
}

/** Returns the address in a `Refresh` header, or in the element that stands for it; undefined where there is none. */
export function parseRefresh(words: string, base: string): Refresh | undefined {
  const [, seconds = '', rest = ''] = /^\s*(\d*)(?:\.[\d.]*)?(?:\s*[;,]|\s)\s*(.*)$/s.exec(words.slice(0, 5_000)) ?? []
  const [, named] = /^(?:url\s*=\s*)(.*)$/is.exec(rest) ?? []
  const target = named ?? rest
  const [, , quoted] = /^(["'])(.*?)(?:\1|$)/s.exec(target) ?? []
  const address = (quoted ?? target).trim()
  const url = address === '' ? undefined : parseUrl(address, base)
  const isWeb = url !== undefined && /^https?:$/.test(url.protocol)
  return isWeb ? { seconds: Number(seconds), url: url.href } : undefined
}

/** Ids of the elements into which scripts put a page. */
const ROOTS =
  /^(?:__next|___gatsby|__nuxt|__docusaurus|svelte|main|mount|container|content|page)$|(?:^|[-_])(?:root|app)$/i

function marksOf(document: PageDocument): PageFacts['marks'] {
  const marks = new Set<'password' | 'root' | 'frame'>()
  const isPassword = (one: PageElement): boolean => one.getAttribute('type')?.trim().toLowerCase() === 'password'
  if (elementsIn(document, 'input').some(isPassword)) marks.add('password')
  if (['frame', 'iframe'].some((name) => elementsIn(document, name).length > 0)) marks.add('frame')
  if (elementsIn(document, 'div').some(isEmptyRoot) || elementsIn(document, 'app-root').length > 0) marks.add('root')
  return marks
}

function isEmptyRoot(element: PageElement): boolean {
  return ROOTS.test(element.getAttribute('id') ?? '') && textOf(element).trim() === ''
}

/** Words of a page that is one of the kinds below; a page with more of them is what it says. */
const FEW = 1_500
const VERY_FEW = 300
const NEXT_TO_NONE = 60
const LOOKED_AT = 200_000

const CHALLENGE_TITLE =
  /^(?:just a moment|attention required|checking your browser|please wait|one moment|ddos-guard|security check|verify(?:ing)? you are human|are you (?:a )?(?:human|robot)|robot check|human verification|bot verification|pardon our interruption|vercel security checkpoint|making sure you're not a bot)/i
const CHALLENGE_SCRIPT =
  /cdn-cgi\/challenge-platform|_cf_chl_opt|challenges\.cloudflare\.com|hcaptcha\.com|recaptcha\/(?:api|enterprise)|captcha-delivery\.com|_Incapsula_Resource|awswaf|px-captcha|perimeterx|kasada|anubis|datadome/i
const CHALLENGE_WORDS =
  /\b(?:captcha|not a (?:ro)?bot|are (?:you )?(?:a )?human|unusual traffic|automated (?:requests|access|queries)|verify(?:ing)? (?:that )?you)/i
/** A literal with letters beyond Latin would have the engine keep all of this file in two bytes a character. */
function anyOf(...patterns: readonly string[]): RegExp {
  return new RegExp(patterns.join('|'), 'i')
}

const LOGIN_TITLE = anyOf(
  '\\b(?:log ?in|sign ?in|anmelde|anmelden|einloggen|connexion|se connecter|iniciar sesi[oó]n|accedi|inloggen)\\b|вход|ログイン|登录|登入|로그인',
)
const CONSENT =
  /(?:cookie|consent|before you continue|bevor sie fortfahren|avant d.acc[eé]der).{0,600}(?:accept|agree|allow|akzeptier|zustimm|accepte|aceptar|accetta|akkoord)|(?:accept|agree|akzeptier|zustimm|accepte|aceptar|accetta).{0,200}cookie/is
const NEEDS_SCRIPTS = anyOf('java ?script|ジャバスクリプト')
const LOADING = anyOf(
  '^(?:loading|please wait|wird geladen|chargement|cargando|caricamento|загрузка|読み込み中|加载中)\\b.{0,40}$',
)
const LEADS_ON =
  /(?:window|document|self|top|parent)?\.?\blocation(?:\.href)?\s*=\s*["'`]([^"'`\s]{1,2000})["'`]|\blocation\.(?:replace|assign)\(\s*["'`]([^"'`\s]{1,2000})["'`]/

/**
 * Returns in a sentence why a page has so little to read; undefined for one that has its text. `words`: of the page
 * without its form; `hidden`: characters of it that nobody sees until a script shows them.
 */
export function whatIsMissing(facts: PageFacts, words: string, hidden: number): string | undefined {
  const { length } = words
  const barrier = length <= FEW ? barrierOf(facts, words) : undefined
  if (barrier !== undefined) return barrier
  if (hidden > Math.max(length, length <= NEXT_TO_NONE ? 0 : VERY_FEW))
    return 'Most words of this page are hidden until a script shows them, and no scripts run here: they were left out.'
  const emptiness = length <= FEW ? emptinessOf(facts, words) : undefined
  if (emptiness !== undefined || hidden <= Math.max(FEW, length / 4)) return emptiness
  return 'A large part of this page is hidden until a script shows it, and no scripts run here: it was left out.'
}

export const ROBOTS = 'A check against robots stands before this page, which cannot be passed here.'

function barrierOf(facts: PageFacts, words: string): string | undefined {
  const { title, marks } = facts
  const isChallenge = CHALLENGE_TITLE.test(title) || (words.length <= VERY_FEW && CHALLENGE_SCRIPT.test(codeOf(facts)))
  if (isChallenge || (words.length <= VERY_FEW * 2 && CHALLENGE_WORDS.test(`${title} ${words}`))) return ROBOTS
  if (marks.has('password') && (words.length <= VERY_FEW * 2 || LOGIN_TITLE.test(title)))
    return 'This is a page to log in: what is behind it can be read with an account alone.'
  if (CONSENT.test(words) && words.length <= FEW && !/\bpolicy\b/i.test(title))
    return 'This page asks for a consent to cookies first, which cannot be given here.'
  return undefined
}

function emptinessOf(facts: PageFacts, words: string): string | undefined {
  const { marks, scripts } = facts
  const runs = scripts.some(isCode)
  const target = runs && words.length <= VERY_FEW ? targetOf(facts) : undefined
  if (target !== undefined) return `A script leads on from this page, to ${target}: that was not followed.`
  const isEmpty = words.length <= VERY_FEW && (words === '' || marks.has('root') || LOADING.test(words))
  const asks = words.length <= 2 * VERY_FEW && NEEDS_SCRIPTS.test(words) && (runs || ASKS.test(words))
  if (asks || (isEmpty && runs))
    return 'This page is made by scripts in a browser, and none run here: its text is not in what its server sends.'
  if (words === '' && marks.has('frame'))
    return 'This page is nothing but frames, whose pages have addresses of their own.'
  return undefined
}

const ASKS = anyOf('enable|activ|aktiv|habilit|turn on|required|включ|有効|启用')

/** Returns the address to which a script sets the place of its page. */
function targetOf(facts: PageFacts): string | undefined {
  const [, set, called] = LEADS_ON.exec(codeOf(facts)) ?? []
  const to = set ?? called
  return to === undefined ? undefined : parseUrl(to.replaceAll('\\/', '/'), facts.base)?.href
}

/** Returns true for a script that runs, unlike data that stands in one. */
function isCode(script: PageElement): boolean {
  const type = script.getAttribute('type')?.trim().toLowerCase() ?? ''
  return type === '' || type === 'module' || /javascript|ecmascript/.test(type)
}

function codeOf({ scripts }: PageFacts): string {
  const all = scripts.filter(isCode).map((one) => `${one.getAttribute('src') ?? ''} ${textOf(one)}`)
  return all.join('\n').slice(0, LOOKED_AT)
}

/** Returns the text of an article that the page carries for search engines; the empty text where there is none. */
export function articleIn({ scripts }: PageFacts): string {
  for (const script of scripts) {
    if (!/ld\+json/i.test(script.getAttribute('type') ?? '')) continue
    const data = textOf(script).slice(0, 1_000_000)
    const [begin] = /"articleBody"\s*:\s*"/.exec(data) ?? []
    const text = begin === undefined ? '' : stringAt(data, data.indexOf(begin) + begin.length)
    if (text.trim() !== '') return withoutEntities(text).trim()
  }
  return ''
}

/** Returns the string of JSON that begins at a position, as far as it is there. */
function stringAt(data: string, from: number): string {
  let end = data.indexOf('"', from)
  while (end !== -1 && /(?:^|[^\\])(?:\\\\)*\\$/.test(data.slice(Math.max(from, end - 50), end)))
    end = data.indexOf('"', end + 1)
  return unquoted(data.slice(from, end === -1 ? data.length : end))
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '', b: '', f: '' }

/** Returns the text of a string in JSON. */
function unquoted(text: string): string {
  return text.replace(/\\(?:u([0-9a-f]{4})|(.))/gis, (_whole, hex, letter) =>
    hex === undefined ? (ESCAPED[letter] ?? letter) : String.fromCharCode(Number.parseInt(hex, 16)),
  )
}
