/** The bytes at the beginning of a text that say whether it is one. */
const HEAD = 2_048
/** The bytes at the beginning of a page in which it may name its encoding. Browsers look at its first kilobyte. */
const DECLARED = 8_192
const MARKS: readonly (readonly [string, readonly number[]])[] = [
  ['utf-8', [0xef, 0xbb, 0xbf]],
  ['utf-16le', [0xff, 0xfe]],
  ['utf-16be', [0xfe, 0xff]],
]
/** The characters of windows-1252 from 0x80 on, which Node 20 decodes as if they were control characters. */
const WESTERN = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

export interface ReadText {
  readonly text: string
  /** The name that the standard of encodings has for it: `utf-8`. */
  readonly encoding: string
  /** Some bytes stand for no character of the encoding; the text has U+FFFD in their place. */
  readonly damaged: boolean
}

/**
 * Returns bytes as text, without the mark at their beginning: in the encoding of the mark, else the first of these
 * names that is one, else UTF-8. `stream`: the bytes are a beginning, and a character that is cut at its end is left
 * out.
 */
export function readText(bytes: Uint8Array, names: readonly (string | undefined)[] = [], stream = false): ReadText {
  const encoding = [markOf(bytes), ...names].map(encodingOf).find((one) => one !== undefined) ?? 'utf-8'
  if (encoding === 'windows-1252') return { text: decodeWestern(bytes), encoding, damaged: false }
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream }), encoding, damaged: false }
  } catch {
    return { text: new TextDecoder(encoding).decode(bytes, { stream }), encoding, damaged: true }
  }
}

/** `page`: HTML; `xml`: XML, as feeds and XHTML are; `text` names its encoding nowhere. */
export type TextKind = 'page' | 'xml' | 'text'

/** `guessed`: nothing names an encoding, and the bytes are no UTF-8. */
export type DeclaredText = ReadText & { readonly guessed?: true }

/**
 * Returns a text from the web in the encoding that browsers would read it in: that of its mark, else of the header,
 * else of its own words. One whose bytes it cannot be gives way to the next. A text that names none is UTF-8, or else
 * western and `guessed`: a detector may know better. `stream`: as for `readText`.
 */
export function readDeclared(
  bytes: Uint8Array,
  { header, kind, stream = false }: { readonly header: string; readonly kind: TextKind; readonly stream?: boolean },
): DeclaredText {
  const mark = markOf(bytes)
  const names = mark === undefined ? [asBrowsersDo(charsetIn(header)), declaredIn(bytes, kind)] : [mark]
  const declared = names.filter((name) => name !== undefined)
  const [first = readText(bytes, [], stream), ...others] = declared.map((name) => readText(bytes, [name], stream))
  if (!first.damaged) return first
  if (declared.length > 0) return others.find(({ damaged }) => !damaged) ?? first
  return { ...readText(bytes, ['windows-1252'], stream), guessed: true }
}

/** Returns the encoding by a name in a header or a page; its users mean another than some of the names say. */
function asBrowsersDo(name: string | undefined): string | undefined {
  return name?.trim().toLowerCase() === 'x-user-defined' ? 'windows-1252' : encodingOf(name)
}

/** Returns the encoding that the words at the beginning of a text name, as the standards of HTML and XML say. */
function declaredIn(bytes: Uint8Array, kind: TextKind): string | undefined {
  if (kind === 'text') return undefined
  const wide = UTF_16_BEGINNINGS.find(([, beginning]) => beginning.every((byte, at) => bytes[at] === byte))
  if (wide !== undefined) return wide[0]
  const text = Buffer.from(bytes.subarray(0, DECLARED)).toString('latin1')
  const [, prologue] = /^\s*<\?xml[^>]{0,400}?\sencoding\s*=\s*["']([^"']{1,40})["']/.exec(text) ?? []
  const inProlog = narrow(asBrowsersDo(prologue))
  return kind === 'xml' ? (inProlog ?? metaIn(text)) : (metaIn(text) ?? inProlog)
}

/** `<?` and `<!` in UTF-16 without a mark. */
const UTF_16_BEGINNINGS: readonly (readonly [string, readonly number[]])[] = [
  ['utf-16le', [0x3c, 0, 0x3f, 0]],
  ['utf-16be', [0, 0x3c, 0, 0x3f]],
  ['utf-16le', [0x3c, 0, 0x21, 0]],
  ['utf-16be', [0, 0x3c, 0, 0x21]],
]

/** Words that can be read as ASCII are in no encoding of two bytes a character, whatever they say. */
function narrow(encoding: string | undefined): string | undefined {
  return encoding?.startsWith('utf-16') ? 'utf-8' : encoding
}

const TAG_OR_COMMENT = /<!--.*?-->|<!-->|<(meta)(?=[\s/])|<\/?[a-z]|<[!/?][^>]*>/gis
const ATTRIBUTE = /[\s/]*([^\s/>=]+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*)?))?/y

/** Returns the encoding of the first `meta` element that names one. Those in comments and attributes are none. */
function metaIn(text: string): string | undefined {
  TAG_OR_COMMENT.lastIndex = 0
  for (let tag = TAG_OR_COMMENT.exec(text); tag !== null; tag = TAG_OR_COMMENT.exec(text)) {
    if (tag[0].endsWith('>')) continue
    const attributes = attributesAt(text, TAG_OR_COMMENT.lastIndex)
    TAG_OR_COMMENT.lastIndex = ATTRIBUTE.lastIndex
    const encoding = tag[1] === undefined ? undefined : metaEncoding(attributes)
    if (encoding !== undefined) return encoding
  }
  return undefined
}

/** Returns the attributes of a tag from the position behind its name, and leaves `ATTRIBUTE` behind them. */
function attributesAt(text: string, from: number): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  let end = from
  ATTRIBUTE.lastIndex = from
  for (let one = ATTRIBUTE.exec(text); one !== null; one = ATTRIBUTE.exec(text)) {
    const [, name = '', double, single, bare] = one
    const key = name.toLowerCase()
    if (!found.has(key)) found.set(key, double ?? single ?? bare ?? '')
    end = ATTRIBUTE.lastIndex
  }
  ATTRIBUTE.lastIndex = end
  return found
}

function metaEncoding(attributes: ReadonlyMap<string, string>): string | undefined {
  const own = attributes.get('charset')
  if (own !== undefined) return narrow(asBrowsersDo(own))
  if (attributes.get('http-equiv')?.trim().toLowerCase() !== 'content-type') return undefined
  const [, quoted, bare] = /charset\s*=\s*(?:["']([^"']*)["']|([^\s;"']+))/i.exec(attributes.get('content') ?? '') ?? []
  return narrow(asBrowsersDo(quoted ?? bare))
}

/** Returns bytes of windows-1252 as text; this is what others mean by ISO-8859-1 and by ASCII too. */
export function decodeWestern(bytes: Uint8Array): string {
  const text = new TextDecoder('windows-1252').decode(bytes)
  return text.replace(/[\u0080-\u009f]/g, (code) => WESTERN.charAt(code.charCodeAt(0) - 0x80))
}

/** Returns the encoding of that name in the standard; undefined for a name that is none. */
export function encodingOf(name: string | undefined): string | undefined {
  try {
    return name === undefined ? undefined : new TextDecoder(name).encoding
  } catch {
    return undefined
  }
}

/** Returns the encoding that a header names, or the beginning of a page or of XML. */
export function charsetIn(words: string | Uint8Array): string | undefined {
  const text = typeof words === 'string' ? words : Buffer.from(words.subarray(0, HEAD)).toString('latin1')
  return /(?:charset|encoding)\s*=\s*(?:["']\s*)?([\w.:-]{1,40})/i.exec(text)?.[1]
}

/** Returns true for bytes that no text has. */
export function isBinary(bytes: Uint8Array): boolean {
  return markOf(bytes) === undefined && bytes.subarray(0, HEAD).includes(0)
}

function markOf(bytes: Uint8Array): string | undefined {
  return MARKS.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))?.[0]
}
