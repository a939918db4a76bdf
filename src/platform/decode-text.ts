import type { Clock } from '../core/clock.ts'
import { decodeWestern, encodingOf, type ReadText, readText } from '../core/read-text.ts'
import { builtFile, runChild } from './run-child.ts'

export interface DecodedText extends ReadText {
  /** The words alone speak for this encoding, and another one would fit nearly as well. */
  readonly guess: boolean
}

export interface Decoding {
  /** Names of encodings that something beside the bytes says, the surest first. */
  readonly names?: readonly (string | undefined)[]
  /** The bytes are a beginning: a character that is cut at their end is left out. */
  readonly stream?: boolean
  readonly clock: Clock
  readonly signal: AbortSignal
}

/**
 * Returns bytes of a text as text: in the encoding of its mark, else of a name that is one, else UTF-16 or UTF-8 where
 * the bytes are that, else in the encoding that a detector finds. The detector runs in a process of its own, for its
 * statistics take 44 MB. Without an answer of it the text is taken for western.
 */
export async function decodeText(
  bytes: Uint8Array,
  { names = [], stream = false, clock, signal }: Decoding,
): Promise<DecodedText> {
  const said = readText(bytes, [...names, encodingWithoutMark(bytes)], stream)
  if (!said.damaged) return { ...said, guess: false }
  if (said.encoding !== 'utf-8' || isNearlyUtf8(said.text)) return { ...said, guess: false }
  const sample = sampleOf(bytes)
  const { encoding, guess } = choose(sample, await detect(sample, { clock, signal }))
  return { ...readText(bytes, [encoding], stream), guess }
}

/** Returns the encoding that the form of bytes shows by itself, without a mark: UTF-16, or one of seven bits. */
export function encodingWithoutMark(bytes: Uint8Array): string | undefined {
  const head = bytes.subarray(0, SAMPLE_BYTES)
  if (head.includes(0)) return utf16Of(head)
  // The Japanese encoding for mail changes its characters by escape sequences.
  return Buffer.from(head).includes('\x1b$B') ? 'iso-2022-jp' : undefined
}

/** Characters that no text has, and those that stand for nothing. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what no text has
const NO_TEXT = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f\u007f\ufffd\p{Cn}\p{Co}]/u
const ASCII = /[\t\n\r -~]/g
/** At least one of so many characters of a text is a space, a digit, a line end or another one of ASCII. */
const ONE_ASCII_IN = 20

function utf16Of(head: Uint8Array): string | undefined {
  const even = head.subarray(0, head.length - (head.length % 2))
  const read = ['utf-16le', 'utf-16be'].map((encoding) => {
    const text = new TextDecoder(encoding).decode(even, { stream: true })
    return { encoding, length: text.length, ascii: NO_TEXT.test(text) ? 0 : (text.match(ASCII)?.length ?? 0) }
  })
  const [best] = read.toSorted((one, other) => other.ascii - one.ascii)
  return best !== undefined && best.ascii > 0 && best.ascii * ONE_ASCII_IN >= best.length ? best.encoding : undefined
}

/** A text of UTF-8 in which a byte is broken has many sound characters; one of another encoding has hardly any. */
function isNearlyUtf8(text: string): boolean {
  const broken = text.match(/\ufffd/g)?.length ?? 0
  const sound = (text.match(/[^\0-\x7f]/gu)?.length ?? 0) - broken
  return sound >= (broken === 1 ? 1 : 2 * broken)
}

interface Candidate {
  readonly encoding: string
  readonly confidence: number
}

const SAMPLE_BYTES = 65_536
const LINE_END = 0x0a
const HEAP_MB = 256
const WITHIN_MS = 30_000

/** The names that the detector has for what the standard calls otherwise. */
const STANDARD_NAMES: Readonly<Record<string, string>> = {
  ...{ cp932: 'shift_jis', cp949: 'euc-kr', big5hkscs: 'big5', cp874: 'windows-874', iso2022_jp_2: 'iso-2022-jp' },
  ...{ maccyrillic: 'x-mac-cyrillic', macroman: 'macintosh' },
}

async function detect(
  input: Uint8Array,
  run: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<readonly Candidate[]> {
  try {
    const bounds = { heapMb: HEAP_MB, mostBytes: SAMPLE_BYTES, withinMs: WITHIN_MS }
    const written = await runChild(builtFile('document-child.js'), {
      ...{ args: ['charset'], input },
      ...{ ...bounds, ...run },
    })
    return written
      .toString('latin1')
      .split('\n')
      .flatMap((line) => {
        const [name = '', confidence = ''] = line.split(' ')
        const encoding = STANDARD_NAMES[name.toLowerCase()] ?? name.replace(/^iso(?=8859)/, 'iso-').toLowerCase()
        return encodingOf(encoding) === undefined ? [] : [{ encoding, confidence: Number(confidence) }]
      })
  } catch {
    return []
  }
}

/** Returns the first lines of a text that are not ASCII alone: the others say nothing about its encoding. */
function sampleOf(bytes: Uint8Array): Uint8Array {
  // The detector takes a text that begins with a signature for that format.
  const sample: Uint8Array[] = [Uint8Array.of(LINE_END)]
  let size = 0
  let at = bytes.findIndex((byte) => byte > 0x7f)
  while (at !== -1 && size < SAMPLE_BYTES) {
    const begin = bytes.lastIndexOf(LINE_END, at) + 1
    const end = bytes.indexOf(LINE_END, at)
    const line = bytes.subarray(begin, end === -1 ? undefined : end + 1).subarray(0, SAMPLE_BYTES)
    sample.push(line)
    size += line.length
    at = end === -1 ? -1 : nextBeyondAscii(bytes, end)
  }
  return Buffer.concat(sample)
}

function nextBeyondAscii(bytes: Uint8Array, from: number): number {
  const found = bytes.subarray(from).findIndex((byte) => byte > 0x7f)
  return found === -1 ? -1 : from + found
}

const WESTERN = 'windows-1252'
/** The encodings of Latin letters: of a few of them each fits as well. */
const LATIN = /^(?:windows-125[0247]|iso-8859-(?:2|16)|macintosh)$/
/** Quotes, dashes, currencies and the like: the letters of another encoding are not only these. */
const MARKS =
  /^[ -~\s\u20ac\u201a\u201e\u2026\u2020\u2021\u2030\u2039\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u2122\u203a\xa0£§©«®°±µ·»¼½¾×÷]*$/
/** Those, and western letters: where these fit nearly as well as those of the middle of Europe, they are meant. */
const LETTERS =
  /^[ -~\s\u20ac\u201a\u201e\u2026\u2039\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u2122\u203a\xa0£§©«®°±µ·»¼½¾×÷¡¿À-ÏÑ-ÖØ-Üß-ïñ-öø-üÿ\u0152\u0153]*$/
const AREAS = /(?<=m)[²³](?![a-z])/g
/** Icelandic begins a word with this letter alone; it is the Turkish ş, which stands anywhere. */
const TURKISH = /[a-zöüçýð]þ|Þ[a-z]*[ýð]/
const SURE = 0.1
/** An encoding that fits at least so well beside the best one makes it a guess. */
const NEARLY = 0.4
const NEARLY_WESTERN = 0.5

interface Chosen {
  readonly encoding: string
  readonly guess: boolean
}

function choose(bytes: Uint8Array, found: readonly Candidate[]): Chosen {
  const western = decodeWestern(bytes).replace(AREAS, '')
  if (MARKS.test(western)) return { encoding: WESTERN, guess: false }
  const read = found.map((one) => ({ ...one, text: readText(bytes, [one.encoding]).text }))
  const candidates = read.filter(({ text }) => !isPatchwork(text))
  const [best] = candidates
  if (best === undefined) return { encoding: WESTERN, guess: true }
  const { encoding, confidence, text } = best
  if (confidence >= SURE) return { encoding, guess: false }
  const ofWestern = candidates.find((one) => one.encoding === WESTERN)?.confidence ?? 0
  const isWestern = LATIN.test(encoding) && ofWestern >= NEARLY_WESTERN * confidence && LETTERS.test(western)
  const rivals = candidates.filter((one) => one.confidence >= NEARLY * confidence)
  const isDisputed = rivals.some((one) => one.text !== text)
  if (isWestern) return { encoding: WESTERN, guess: isDisputed }
  if (encoding === WESTERN && TURKISH.test(western)) return { encoding: 'windows-1254', guess: true }
  return { encoding, guess: isDisputed }
}

const OTHER = '\\p{Script=Greek}\\p{Script=Cyrillic}\\p{Script=Hebrew}\\p{Script=Arabic}\\p{Script=Thai}'
const OTHER_LETTERS = new RegExp(`[${OTHER}]+`, 'gu')
const SEAMS = new RegExp(`\\p{Script=Latin}[${OTHER}]|[${OTHER}]\\p{Script=Latin}`, 'gu')

/** Returns true for a text whose words are put together of two alphabets, which comes of a wrong encoding. */
function isPatchwork(text: string): boolean {
  const parts = text.match(OTHER_LETTERS) ?? []
  if (parts.length === 0) return false
  const seams = text.match(SEAMS)?.length ?? 0
  return 2 * seams > parts.length || (/[a-z]{2}/.test(text) && parts.every(({ length }) => length === 1))
}
