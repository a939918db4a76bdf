import { decodeWestern } from '../core/read-text.ts'

export interface Converted {
  readonly title?: string
  readonly markdown: string
  /** The address to which the page leads on by itself, after so many seconds. */
  readonly refresh?: { readonly seconds: number; readonly url: string }
  /** The reason, in a sentence, why there is less to read than a browser would show. */
  readonly missing?: string
}

/** Elements whose content is no text. */
const SILENT = ['script', 'style', 'noscript', 'template', 'svg', 'head', 'title', 'nav', 'textarea', 'iframe']
/** The names of the characters from U+00A0 to U+00FF, in their order. */
const LATIN =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml'
const ENTITIES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(LATIN.split(' ').map((name, at) => [name, String.fromCharCode(0xa0 + at)])),
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', shy: '', AMP: '&', LT: '<', GT: '>', QUOT: '"' },
  ...{ ndash: '–', mdash: '—', lsquo: '‘', rsquo: '’', sbquo: '‚', ldquo: '“', rdquo: '”', bdquo: '„', hellip: '…' },
  ...{ bull: '•', prime: '′', trade: '™', euro: '€', rarr: '→', larr: '←', minus: '−', le: '≤', ge: '≥', ne: '≠' },
  ...{ ensp: ' ', emsp: ' ', thinsp: ' ', zwnj: '', zwj: '', lrm: '', rlm: '', infin: '∞', oelig: 'œ', OElig: 'Œ' },
}
const LONGEST_TITLE = 500

/**
 * Returns the words of a page in one pass, whatever its tags are: its cost grows with its length and with nothing else.
 */
export function plainText(html: string): string {
  const lower = html.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
  const parts: string[] = []
  for (let at = 0; at < html.length; ) {
    const open = html.indexOf('<', at)
    const end = open === -1 ? html.length : open
    parts.push(html.slice(at, end))
    const next = pastTag(lower, end)
    parts.push(next === end ? html.slice(end, end + 1) : ' ')
    at = Math.max(next, end + 1)
  }
  const lines = parts
    .join('')
    .replace(/ [^\S\n]+|[^\S\n ][^\S\n]*/g, ' ')
    .replace(/ ?\n\s*/g, '\n')
  return withoutEntities(lines).trim()
}

/** Returns the position after the tag that begins at `open`, and after all of a silent one; `open` if it is none. */
function pastTag(lower: string, open: number): number {
  if (lower.startsWith('<!--', open)) return past(lower, '-->', open)
  if (!/[a-z/!?]/.test(lower.charAt(open + 1))) return open
  const silent = SILENT.find(
    (name) => lower.startsWith(name, open + 1) && !/[a-z]/.test(lower.charAt(open + 1 + name.length)),
  )
  return silent === undefined ? past(lower, '>', open) : past(lower, '>', past(lower, `</${silent}`, open) - 1)
}

function past(text: string, end: string, from: number): number {
  const at = text.indexOf(end, from)
  return at === -1 ? text.length : at + end.length
}

/** Returns the title of a page, if it has one. */
export function titleOf(html: string): string | undefined {
  const begin = html.slice(0, 100_000)
  const [, words] = /<title[^>]{0,200}>([^<]{1,2000})/i.exec(begin) ?? []
  const title = withoutEntities(words ?? '')
    .replace(/\s+/g, ' ')
    .trim()
  return title === '' ? undefined : title.slice(0, LONGEST_TITLE)
}

/** Returns a page as text without form, with its title. */
export function plainPage(html: string): Converted {
  const title = titleOf(html)
  return { ...(title === undefined ? {} : { title }), markdown: plainText(html) }
}

/** Returns a text with the characters that its entities stand for. */
export function withoutEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z][a-z0-9]{1,7}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? (ENTITIES[name] ?? whole) : whole
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
    // Pages name the characters of windows-1252 by their bytes.
    if (code >= 0x80 && code <= 0x9f) return decodeWestern(Uint8Array.of(code))
    const isCharacter = code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
    return isCharacter ? String.fromCodePoint(code) : whole
  })
}
