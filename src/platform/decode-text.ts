import { isAscii } from 'node:buffer'
import type { Clock } from '../core/clock.ts'
import {
  CONSOLE,
  decodeWestern,
  encodingNamed,
  encodingOf,
  isDamagedText,
  isSoundUtf8,
  type ReadText,
  readText,
} from '../core/read-text.ts'
import { builtFile, runChild } from './run-child.ts'

export interface DecodedText extends ReadText {
  /** The words alone speak for this encoding, and another one would fit nearly as well. */
  readonly guess: boolean
}

interface Run {
  readonly clock: Clock
  readonly signal: AbortSignal
}

export interface Decoding extends Run {
  /** Names of encodings that something beside the bytes says, the surest first. */
  readonly names?: readonly (string | undefined)[]
  /** The bytes are a beginning: a character that is cut at their end is left out. */
  readonly stream?: boolean
  /** Default: `detectApart`. */
  readonly detect?: (sample: Uint8Array, run: Run) => Promise<readonly Candidate[]>
}

/**
 * Returns bytes of a text as text: in the encoding of its mark, else of a name that is one, else UTF-16 or UTF-8 where
 * the bytes are that, else in the encoding that a detector finds in a sample. Without an answer of it the text is taken
 * for western. Only the last step goes through the whole text: it may be large, and all else waits for it.
 */
export async function decodeText(
  bytes: Uint8Array,
  { names = [], stream = false, detect = detectApart, clock, signal }: Decoding,
): Promise<DecodedText> {
  const named = encodingNamed(bytes, [...names, encodingWithoutMark(bytes)])
  if (named !== undefined && named !== 'utf-8') return { ...readText(bytes, [named], stream), guess: false }
  const sample = isSoundUtf8(bytes, stream) ? undefined : sampleOf(bytes)
  if (sample === undefined || isNearlyUtf8(sample)) return { ...readText(bytes, ['utf-8'], stream), guess: false }
  const found = await detect(sample, { clock, signal })
  const { encoding, guess } = choose(sample, found)
  return { ...readText(bytes, [encoding], stream), guess }
}

/** Returns the encoding that the form of bytes shows by itself, without a mark: UTF-16, or one of seven bits. */
export function encodingWithoutMark(bytes: Uint8Array): string | undefined {
  const head = bytes.subarray(0, SAMPLE_BYTES)
  if (head.includes(0)) return isDamagedText(head) ? undefined : utf16Of(head)
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
function isNearlyUtf8(sample: Uint8Array): boolean {
  const { text } = readText(sample)
  const broken = text.match(/\ufffd/g)?.length ?? 0
  const sound = (text.match(/[^\0-\x7f]/gu)?.length ?? 0) - broken
  return sound >= (broken === 1 ? 1 : 2 * broken)
}

export interface Candidate {
  readonly encoding: string
  readonly confidence: number
}

const SAMPLE_BYTES = 65_536
/** Bytes of a sample by which the readings that the detector offers are compared. */
const JUDGED_BYTES = 8_192
const BLOCK_BYTES = 4_096
/** Bytes of a line before its first letter beyond ASCII that belong to a sample. */
const BEFORE = 1_024
const LINE_END = 0x0a
const HEAP_MB = 256
const WITHIN_MS = 30_000

/** The encodings that the engine decodes, by the names of the detector. */
const DETECTED = [
  ...['windows-1250', 'windows-1251', 'windows-1252', 'windows-1253', 'windows-1254', 'windows-1255', 'windows-1256'],
  ...['windows-1257', 'cp874', 'iso-8859-2', 'iso-8859-5', 'iso-8859-16', 'koi8-r'],
  ...['koi8-u', 'cp866', 'mac-cyrillic', 'mac-roman', 'cp932', 'euc-jp', 'gb18030', 'big5-hkscs', 'cp949'],
]
const MOST_ENCODINGS = 8

/** The names that the detector has for what the standard calls otherwise. */
const STANDARD_NAMES: Readonly<Record<string, string>> = {
  ...{ cp932: 'shift_jis', cp949: 'euc-kr', big5hkscs: 'big5', cp874: 'windows-874', iso2022_jp_2: 'iso-2022-jp' },
  ...{ maccyrillic: 'x-mac-cyrillic', macroman: 'macintosh' },
}

/** Returns the encodings that a text may be in, the best first. The statistics of the detector take 44 MB. */
export async function detectEncodings(sample: Uint8Array): Promise<readonly Candidate[]> {
  const { detectAll } = await import('jschardet')
  const found = detectAll(Buffer.from(sample), { detectEncodings: DETECTED, minimumThreshold: 0 })
  return found.slice(0, MOST_ENCODINGS).flatMap(({ encoding: name, confidence }) => {
    if (name === null) return []
    const encoding = STANDARD_NAMES[name.toLowerCase()] ?? name.replace(/^iso(?=8859)/i, 'iso-').toLowerCase()
    return encodingOf(encoding) === undefined ? [] : [{ encoding, confidence }]
  })
}

/** Has a process of its own detect encodings, so that its memory is given back. */
async function detectApart(input: Uint8Array, run: Run): Promise<readonly Candidate[]> {
  try {
    const bounds = { heapMb: HEAP_MB, mostBytes: SAMPLE_BYTES, withinMs: WITHIN_MS }
    const written = await runChild(builtFile('document-child.js'), { args: ['charset'], input, ...bounds, ...run })
    return written
      .toString('latin1')
      .split('\n')
      .flatMap((line) => {
        const [encoding = '', confidence = ''] = line.split(' ')
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
  let left = SAMPLE_BYTES
  for (let at = nextBeyondAscii(bytes, 0); at !== -1 && left > 0; ) {
    const begin = Math.max(bytes.subarray(0, at).lastIndexOf(LINE_END) + 1, at - BEFORE)
    const end = bytes.subarray(at, begin + left).indexOf(LINE_END)
    const line = bytes.subarray(begin, end === -1 ? begin + left : at + end + 1)
    sample.push(line)
    left -= line.length
    at = nextBeyondAscii(bytes, begin + line.length)
  }
  return Buffer.concat(sample)
}

function nextBeyondAscii(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && isAscii(bytes.subarray(at, at + BLOCK_BYTES))) at += BLOCK_BYTES
  const found = bytes.subarray(at, at + BLOCK_BYTES).findIndex((byte) => byte > 0x7f)
  return found === -1 ? -1 : at + found
}

const WESTERN = 'windows-1252'
/** The encodings of Latin letters: of a few of them each fits as well. */
const LATIN = /^(?:windows-125[0247]|iso-8859-(?:2|16)|macintosh)$/
/** Quotes, dashes, currencies and the like: the letters of another encoding are not only these. */
const MARKS =
  /^[ -~\s\u20ac\u201a\u201e\u2026\u2020\u2021\u2030\u2039\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u2122\u203a\xa0£§©ª«®°±µ·º»¼½¾×÷]*$/
/** Those, and western letters: where these fit nearly as well as those of the middle of Europe, they are meant. */
const LETTERS =
  /^[ -~\s\u20ac\u201a\u201e\u2026\u2039\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u2122\u203a\xa0£§©«®°±µ·»¼½¾×÷¡¿À-ÏÑ-ÖØ-Üß-ïñ-öø-üÿ\u0152\u0153]*$/
const AREAS = /(?<=m)[²³](?![a-z])/g
/** Icelandic begins a word with this letter alone; it is the Turkish ş, which stands anywhere. */
const TURKISH = /[a-zöüçýð]þ|Þ[a-z]*[ýð]/
const SURE = 0.1
/** An encoding that fits at least so well beside the best one makes it a guess; less will do for a few characters. */
const NEARLY = 0.4
const NEARLY_BY_FEW = 0.1
const FEW = 8
const NEARLY_WESTERN = 0.5

interface Chosen {
  readonly encoding: string
  readonly guess: boolean
}

/** A text in one of the encodings that it may be in. `flaws`: their number for each of its parts beyond ASCII. */
interface Reading extends Candidate {
  readonly text: string
  readonly flaws: number
}

function choose(sample: Uint8Array, found: readonly Candidate[]): Chosen {
  const bytes = sample.subarray(0, JUDGED_BYTES)
  const western = decodeWestern(bytes).replace(AREAS, '')
  const candidates = found
    .map(({ encoding, confidence }) => readingOf(bytes, encoding, confidence))
    .toSorted((one, other) => other.confidence - one.confidence)
  const [best] = candidates
  const ofWestern = candidates.find((one) => one.encoding === WESTERN)?.confidence ?? 0
  if (MARKS.test(western) && flawsIn(western) === 0) {
    const words = candidates.find(({ text, confidence }) => confidence > ofWestern && IDEOGRAPHS.test(text))
    return { encoding: words?.encoding ?? WESTERN, guess: words !== undefined }
  }
  if ((best?.flaws ?? 1) >= FLAWED && isOfConsole(bytes, western)) return { encoding: CONSOLE, guess: true }
  if (best === undefined) return { encoding: WESTERN, guess: true }
  const { encoding, confidence, text } = best
  const isShort = (western.match(BEYOND_ASCII) ?? []).join('').length < FEW
  if (confidence >= SURE && !isShort) return { encoding, guess: false }
  const isWestern = LATIN.test(encoding) && ofWestern >= NEARLY_WESTERN * confidence && LETTERS.test(western)
  const rivals = candidates.filter((one) => one.confidence >= (isShort ? NEARLY_BY_FEW : NEARLY) * confidence)
  const isDisputed = rivals.some((one) => one.text !== text)
  if (isWestern) return { encoding: WESTERN, guess: isDisputed }
  if (encoding === WESTERN && TURKISH.test(western)) return { encoding: 'windows-1254', guess: true }
  return { encoding, guess: isDisputed }
}

/** A text of which everything beyond ASCII is words of ideographs or syllables. */
const IDEOGRAPHS =
  /^[\0-\x7f]*(?:[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]{2,}(?:[\0-\x7f]+|$))+$/u
/** A word, or a part of a line in a script without spaces. */
const BEYOND_ASCII = /[^\0-\x7f]{1,8}/g
/** So large a share of flaws speaks against an encoding. */
const FLAWED = 0.1
const WEIGHT = 4

function readingOf(bytes: Uint8Array, encoding: string, confidence: number): Reading {
  const { text } = readText(bytes, [encoding], bytes.length === JUDGED_BYTES)
  const flaws = isScattered(text) ? 1 : flawsIn(text)
  return { encoding, text, flaws, confidence: confidence / (1 + WEIGHT * flaws) }
}

const OTHER = '\\p{Script=Greek}\\p{Script=Cyrillic}\\p{Script=Hebrew}\\p{Script=Arabic}\\p{Script=Thai}'
const WORDS = '[\\p{Script=Latin}\\p{Script=Greek}\\p{Script=Cyrillic}]'
/**
 * The flaws of a text that is read in a wrong encoding: symbols and capitals within words, words of two alphabets, and
 * characters that no text has. Apostrophes, dashes and the point of Catalan stand within words.
 */
const FLAWS = new RegExp(
  [
    `(?<=${WORDS})(?!(?<=l)·l)[^\\0-\\x7f\\p{L}\\p{M}\\p{Nd}\\p{Z}\\p{Pd}\u2019\u2026\xad´](?=${WORDS})`,
    '[©®¹²³¼½¾](?=\\p{Ll})|(?<=\\p{L})[\u201a\u201e]',
    '\\p{Ll}(?=[^\\0-\\x7f])(?=\\p{Lu})|(?=[^\\0-\\x7f])\\p{Ll}(?=[A-Z])|(?<=[A-Z])(?=[^\\0-\\x7f])\\p{Lu}(?=[a-z])',
    `\\p{Script=Latin}(?=[${OTHER}])|[${OTHER}](?=\\p{Script=Latin})|(?<=[A-Za-z])\\p{Script=Han}(?=[a-z])`,
    '[\u2200-\u259f](?=\\p{L})|[\\x80-\\x9f\ufffd\\p{Cn}\\p{Co}]',
  ].join('|'),
  'gu',
)

function flawsIn(text: string): number {
  const flaws = text.match(FLAWS)?.length ?? 0
  return flaws === 0 ? 0 : flaws / (text.match(BEYOND_ASCII)?.length ?? 1)
}

const OTHER_LETTERS = new RegExp(`[${OTHER}]+`, 'gu')

/** Returns true where each word of another alphabet is one letter, among words of Latin letters. */
function isScattered(text: string): boolean {
  const parts = text.match(OTHER_LETTERS) ?? []
  return parts.length > 0 && /[a-z]{2}/.test(text) && parts.every(({ length }) => length === 1)
}

/** Letters of western languages beside letters of ASCII. */
const OF_CONSOLE = /[a-z][À-ÖØ-öø-ÿ]|[À-ÖØ-öø-ÿ][a-z]/i
const NOT_OF_CONSOLE = /[^\0-\x7fÀ-ÖØ-öø-ÿ«»¿¡ºª°§\xa0\u2500-\u259f\u25a0]/

function isOfConsole(bytes: Uint8Array, western: string): boolean {
  if (flawsIn(western) < FLAWED) return false
  const { text, flaws } = readingOf(bytes, CONSOLE, 0)
  return flaws < FLAWED && OF_CONSOLE.test(text) && !NOT_OF_CONSOLE.test(text)
}
