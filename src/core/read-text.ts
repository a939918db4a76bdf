import { isUtf8 } from 'node:buffer'

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
const WESTERN = tableOf('€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ')
/** The name of the encoding in which the command line of western Windows writes; the engine does not know it. */
export const CONSOLE = 'ibm850'
const CONSOLE_CHARACTERS = tableOf(
  'ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0',
)

/** Returns the codes of all bytes, with these characters for those from 0x80 on. */
function tableOf(characters: string): Uint16Array {
  return Uint16Array.from({ length: 256 }, (_, byte) =>
    byte >= 0x80 && byte - 0x80 < characters.length ? characters.charCodeAt(byte - 0x80) : byte,
  )
}

export interface ReadText {
  readonly text: string
  /** The name that the standard of encodings has for it: `utf-8`. */
  readonly encoding: string
  /** Some bytes stand for no character of the encoding; the text has U+FFFD in their place. */
  readonly damaged: boolean
}

/**
 * Returns bytes as text, without the mark at their beginning and the zeros that a crash leaves in a file: in the
 * encoding of the mark, else the first of these names that is one, else UTF-8. `stream`: the bytes are a beginning, and
 * a character that is cut at its end is left out.
 */
export function readText(bytes: Uint8Array, names: readonly (string | undefined)[] = [], stream = false): ReadText {
  const read = decodeIn(encodingNamed(bytes, names) ?? 'utf-8', bytes, stream)
  return read.text.includes('\0') ? { ...read, text: read.text.replaceAll('\0', '') } : read
}

function decodeIn(encoding: string, bytes: Uint8Array, stream: boolean): ReadText {
  if (encoding === 'windows-1252') return { text: decodeWestern(bytes), encoding, damaged: false }
  if (encoding === CONSOLE) return { text: decodeBy(CONSOLE_CHARACTERS, bytes), encoding, damaged: false }
  if (encoding === 'utf-8') {
    // To try it strictly first would be a second pass over a damaged text.
    return { text: new TextDecoder().decode(bytes, { stream }), encoding, damaged: !isSoundUtf8(bytes, stream) }
  }
  try {
    return { text: new TextDecoder(encoding, { fatal: true }).decode(bytes, { stream }), encoding, damaged: false }
  } catch {
    return { text: new TextDecoder(encoding).decode(bytes, { stream }), encoding, damaged: true }
  }
}

/** Returns the encoding of the mark of a text, else of the first of these names that is one. */
export function encodingNamed(bytes: Uint8Array, names: readonly (string | undefined)[]): string | undefined {
  const read = [markOf(bytes), ...names].map((name) => (name === CONSOLE ? name : encodingOf(name)))
  return read.find((one) => one !== undefined)
}

/** Returns true for UTF-8. `stream`: its last character may be cut. */
export function isSoundUtf8(bytes: Uint8Array, stream: boolean): boolean {
  if (isUtf8(bytes)) return true
  const cut = stream ? bytes.subarray(-3).findLastIndex((byte) => byte >= 0xc0 && byte < 0xf8) : -1
  return cut !== -1 && isUtf8(bytes.subarray(0, Math.max(0, bytes.length - 3) + cut))
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
  const [declared, other] = [...new Set(names.filter((name) => name !== undefined))]
  if (declared === undefined && !isSoundUtf8(bytes, stream))
    return { ...readText(bytes, ['windows-1252'], stream), guessed: true }
  const first = readText(bytes, [declared], stream)
  const second = first.damaged && other !== undefined ? readText(bytes, [other], stream) : first
  return second.damaged ? first : second
}

/** Returns the encoding by a name in a header or a page; its users mean another than some of the names say. */
function asBrowsersDo(name: string | undefined): string | undefined {
  return name?.trim().toLowerCase() === 'x-user-defined' ? 'windows-1252' : encodingOf(name)
}

/** Returns the encoding that the words at the beginning of a text name, as the standards of HTML and XML say. */
export function declaredIn(bytes: Uint8Array, kind: TextKind): string | undefined {
  if (kind === 'text') return undefined
  const wide = UTF_16_BEGINNINGS.find(([, beginning]) => beginning.every((byte, at) => bytes[at] === byte))
  if (wide !== undefined) return wide[0]
  const text = latin1(bytes.subarray(0, DECLARED))
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
  const text = latin1(bytes)
  return /[\u0080-\u009f]/.test(text) ? decodeBy(WESTERN, bytes) : text
}

/** Returns bytes that are a character each. This pass takes a tenth of the time of a replacement by a pattern. */
function decodeBy(table: Uint16Array, bytes: Uint8Array): string {
  const codes = new Uint16Array(bytes.length)
  for (let at = 0; at < bytes.length; at++) codes[at] = table[bytes[at] ?? 0] ?? 0
  return Buffer.from(codes.buffer).toString('utf16le')
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
  const text = typeof words === 'string' ? words : latin1(words.subarray(0, HEAD))
  return /(?:charset|encoding)\s*=\s*(?:["']\s*)?([\w.:-]{1,40})/i.exec(text)?.[1]
}

/** Returns true for bytes that no text has. */
export function isBinary(bytes: Uint8Array): boolean {
  return markOf(bytes) === undefined && bytes.subarray(0, HEAD).includes(0) && !isDamagedText(bytes)
}

/** Bytes of a longer file that say whether it is text: to look at all of it would hold up everything else. */
export const LOOKED_AT = 1_000_000
/** A file that is no text shows it in its first bytes, and the others need no looking at. */
const FIRST = 65_536

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no text has
const CONTROLS = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]+/g

/**
 * Returns true for a text with a few control characters, as a crash or a program that draws on a terminal leaves them.
 * In packed data every tenth byte is one. In another encoding than UTF-8 fewer of them are believed.
 */
export function isDamagedText(bytes: Uint8Array): boolean {
  return [FIRST, LOOKED_AT].every((length) => {
    const head = bytes.subarray(0, length)
    const sound = isSoundUtf8(head, length < bytes.length)
    const text = latin1(head.subarray(0, head.findLastIndex((byte) => byte !== 0) + 1))
    const gaps = text.match(CONTROLS) ?? []
    const rest = text.length - gaps.join('').length
    if (rest === 0) return false
    return sound ? 8 * gaps.length <= rest && gaps.length <= 1 + rest / 32 : gaps.length <= rest / 256
  })
}

/** Bytes before the header of a PDF that its readers pass over. */
const BEFORE_PDF = 1_024
const PDF_HEADER = /%PDF-\d\.\d[ \t]*(?:[\r\n%]|$)/
const PDF_END = /startxref\s+\d+\s+%%EOF[\s\0]*$/

/**
 * Returns true for a PDF: its header is a whole line, behind nothing or what its readers pass over, as line ends, a
 * mark or the head of a message. A text that shows such a line behind others is no PDF, unless it also ends as one.
 */
export function isPdf(bytes: Uint8Array): boolean {
  const head = latin1(bytes.subarray(0, BEFORE_PDF + 16))
  const at = head.search(PDF_HEADER)
  if (at === -1 || at > BEFORE_PDF) return false
  const isFirst = /^(?:\xef\xbb\xbf)?[\s\0]*$/.test(head.slice(0, at))
  return isFirst || PDF_END.test(latin1(bytes.subarray(-BEFORE_PDF))) || !isDamagedText(bytes)
}

function latin1(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
}

function markOf(bytes: Uint8Array): string | undefined {
  return MARKS.find(([, mark]) => mark.every((byte, at) => bytes[at] === byte))?.[0]
}
