import { isUtf8 } from 'node:buffer'
import { cutText } from '../core/cut-text.ts'
import type { HookedCall } from '../core/operate-hooks.ts'
import { charsetIn, encodingOf, readText } from '../core/read-text.ts'

/** Characters of a call that the model is shown; the rest is cut off. */
const MOST_SHOWN = 32_000
const MOST_EVENT = 200
/** Bytes of a text that are decoded: far more than are shown, in any encoding and with each of them escaped. */
const LOOKED_AT = 1024 * 1024
/** Fields of a form that are shown; platforms send some thirty. */
const MOST_FIELDS = 1_000
/** Characters of a name of a field or of a file. */
const MOST_NAME = 200

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no text has
const NO_TEXT = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f]/g
/** A body of which more characters than one in so many are of no text is none. */
const ONE_IN = 20
/** The same for bytes that no charset has: a short text in an unknown charset may have several. */
const DAMAGED_IN = 3
/** The first bytes, as hexadecimal digits, of what is sent by mistake, and of pictures that cameras send. */
const KINDS: Readonly<Record<string, string>> = {
  ...{ '1f8b': 'gzip', '504b0304': 'zip', '28b52ffd': 'Zstandard', '425a68': 'bzip2' },
  ...{ '7801': 'zlib', '785e': 'zlib', '789c': 'zlib', '78da': 'zlib' },
  ...{ '89504e47': 'PNG', ffd8ff: 'JPEG', '47494638': 'GIF', '25504446': 'PDF' },
}

/** Words, and what has to be said about them. */
interface Words {
  readonly text: string
  /** The encoding whose bytes these are not all; absent where nothing was damaged. */
  readonly damaged?: string | undefined
  /** There are more of them, which nobody has decoded. */
  readonly more?: boolean
}

/** Returns a call as data for the model: its words by the charset and the form in which they came. */
export function wordsOf({ body, event, contentType = '' }: Omit<HookedCall, 'name'>): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length)
  const { text, damaged, more } =
    formWords(bytes, contentType) ?? partWords(bytes, contentType) ?? read(bytes, contentType)
  const kind = event === undefined ? '' : `event: ${cutText(event, MOST_EVENT)}\n`
  const note = damaged === undefined ? '' : `(some bytes are no ${damaged.toUpperCase()} and are shown as \uFFFD)\n`
  const whole = `${kind}${note}${text.trim() === '' ? '(no content)' : text}`
  if (whole.length <= MOST_SHOWN) return whole
  const cut = cutText(whole, MOST_SHOWN)
  return `${cut}\n(cut: ${cut.length} of ${more ? 'more than ' : ''}${whole.length} characters)`
}

/** Reads bytes as a text, and names what is none by its length. */
function read(bytes: Buffer, contentType: string, more = bytes.length > LOOKED_AT): Words {
  const { text, encoding, damaged } = readText(bytes.subarray(0, LOOKED_AT), [charsetOf(bytes, contentType)], more)
  // Programs in C send the zero behind their texts.
  let end = text.length
  while (text.charCodeAt(end - 1) === 0) end--
  const sent = text.slice(0, end)
  const head = sent.slice(0, MOST_SHOWN)
  const controls = head.match(NO_TEXT)?.length ?? 0
  const bad = head.match(/\uFFFD/g)?.length ?? 0
  if (controls * ONE_IN > head.length || (controls + bad) * DAMAGED_IN > head.length)
    return { text: `(a body of ${bytes.length} bytes that is no text${kindOf(bytes)})` }
  const clean = sent.replace(NO_TEXT, '\uFFFD')
  return { text: clean, damaged: damaged || clean !== sent ? encoding : undefined, more }
}

function kindOf(bytes: Buffer): string {
  const first = bytes.subarray(0, 4).toString('hex')
  const kind = Object.entries(KINDS).find(([mark]) => first.startsWith(mark))
  return kind === undefined ? '' : `: ${kind[1]}`
}

/** Returns the name of the encoding, by the header, or by what XML and UTF-16 are without one. */
function charsetOf(bytes: Buffer, contentType: string): string | undefined {
  const named = charsetIn(contentType)
  // Some libraries name ISO-8859-1 beside whatever they send, and hardly any text of it is UTF-8 by chance.
  if (encodingOf(named) === 'windows-1252' && isUtf8(bytes)) return undefined
  if (encodingOf(named) !== undefined) return named
  const [first, second, third, fourth] = bytes
  if (first === 0 && third === 0 && second !== 0 && fourth !== 0) return 'utf-16be'
  if (second === 0 && fourth === 0 && first !== 0 && third !== 0) return 'utf-16le'
  return /^\s*<\?xml/.test(bytes.subarray(0, 100).toString('latin1')) ? charsetIn(bytes) : undefined
}

type Field = readonly [name: string, value: Words]

function fieldWords(fields: readonly Field[], left: boolean): Words {
  const lines = fields.map(([name, { text }]) => `${cutText(name, MOST_NAME)}: ${text}`)
  if (left) lines.push(`(the first ${MOST_FIELDS} fields)`)
  const more = left || fields.some(([, value]) => value.more)
  return { text: lines.join('\n'), more, damaged: fields.find(([, { damaged }]) => damaged)?.[1].damaged }
}

/**
 * Returns the fields of a form, or the one `payload` that stands for the whole call. Undefined for what is no form,
 * whatever its type says: `curl -d` says it of every body.
 */
function formWords(bytes: Buffer, contentType: string): Words | undefined {
  if (!/^\s*application\/x-www-form-urlencoded\b/i.test(contentType)) return undefined
  const more = bytes.length > LOOKED_AT
  const raw = bytes
    .subarray(0, LOOKED_AT)
    .toString('latin1')
    .replace(/^\u00ef\u00bb\u00bf|\r?\n$/g, '')
  if (!/^[\w.*+%$@!~()-][\w.*+%$@!~()[\]-]*=/.test(raw) || /[ \t\r\n]/.test(raw)) return undefined
  const decoded = (part: string): Words => read(unescaped(part), contentType, more)
  const pairs = raw.split('&', MOST_FIELDS + 1)
  const fields = pairs.slice(0, MOST_FIELDS).map((pair): Field => {
    const [name = ''] = pair.split('=', 1)
    return [decoded(name).text, decoded(pair.slice(name.length + 1))]
  })
  const [first, second] = fields
  if (first?.[0] === 'payload' && second === undefined) return first[1]
  return fieldWords(fields, pairs.length > MOST_FIELDS)
}

const [PERCENT, PLUS, SPACE] = [0x25, 0x2b, 0x20]

/** Returns the bytes that a part of a form stands for; a percent character without digits stands for itself. */
function unescaped(part: string): Buffer {
  const bytes = Buffer.from(part, 'latin1')
  let length = 0
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] ?? 0
    const code = byte === PERCENT ? digit(bytes[at + 1]) * 16 + digit(bytes[at + 2]) : Number.NaN
    bytes[length++] = Number.isNaN(code) ? (byte === PLUS ? SPACE : byte) : code
    if (!Number.isNaN(code)) at += 2
  }
  return bytes.subarray(0, length)
}

/** Returns the value of a hexadecimal digit. */
function digit(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const small = code | 0x20
  return small >= 0x61 && small <= 0x66 ? small - 0x57 : Number.NaN
}

/** Returns the fields and files of a body in parts; undefined for a body that has none. */
function partWords(bytes: Buffer, contentType: string): Words | undefined {
  if (!/^\s*multipart\//i.test(contentType)) return undefined
  const raw = bytes.toString('latin1')
  const [, quoted, plain] = /boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;,"]{1,200}))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain ?? /^--([^\r\n]{1,200})\r?\n/.exec(raw)?.[1]
  if (boundary === undefined) return undefined
  const parts = raw.split(`--${boundary}`, MOST_FIELDS + 2).slice(1)
  const fields = parts.slice(0, MOST_FIELDS).flatMap(partOf)
  return fields.length === 0 ? undefined : fieldWords(fields, parts.length > MOST_FIELDS)
}

/** Returns a part as a field; nothing for the end of the body. */
function partOf(part: string): readonly Field[] {
  const [whole, head] = /^\r?\n([\s\S]{0,4000}?)\r?\n\r?\n/.exec(part) ?? []
  if (whole === undefined || head === undefined) return []
  const said = (what: RegExp): string | undefined => {
    const [, value] = what.exec(head) ?? []
    return value === undefined ? undefined : readText(Buffer.from(value, 'latin1')).text
  }
  const name = said(/\bname="([^"\r\n]*)"/i) ?? said(/\bname=([^\s;"]+)/i) ?? '(no name)'
  const file = said(/\bfilename="([^"\r\n]*)"/i) ?? said(/\bfilename=([^\s;"]+)/i)
  const bytes = Buffer.from(part.slice(whole.length).replace(/\r?\n$/, ''), 'latin1')
  const words = read(bytes, said(/^content-type:([^\r\n]*)/im) ?? '')
  return [[file === undefined ? name : `${name} (file ${cutText(file, MOST_NAME)})`, words]]
}
