/**
 * Tokens of a text, rather too many than too few: what they may cost is held before a call. Measured with the
 * tokenizers that are public (`o200k_base`, `cl100k_base` and that of Claude 2): each script has the weight by the one
 * that makes the most tokens of it. The result for English is half as much again as the real number, for other scripts
 * up to twice.
 *
 * Weights are twelfths of a token, so that sums are whole numbers.
 */
const WHOLE = 12

const [LOWER, UPPER, DIGIT, MARK, SPACE] = [4, 9, 12, 8, 4]
/** Added for a letter beside a digit, or a capital behind a small letter: hashes have more tokens than words. */
const CHANGE = 6

/** Ranges of code points by their last, each with the weight of a character; undefined: a token for each byte. */
const SCRIPTS: readonly (readonly [last: number, weight: number | undefined])[] = [
  [0x24f, 20], // Latin with marks
  [0x36f, undefined],
  [0x3ff, 16], // Greek
  [0x52f, 12], // Cyrillic
  [0x58f, undefined],
  [0x6ff, 15], // Hebrew, Arabic
  [0x8ff, undefined],
  [0xdff, 28], // Devanagari to Sinhala
  [0xe7f, 24], // Thai
  [0xfff, undefined],
  [0x10ff, 24], // Myanmar, Georgian
  [0x1dff, undefined],
  [0x1eff, 33], // Latin, for Vietnamese
  [0x1fff, undefined],
  [0x25ff, 24], // punctuation, arrows, mathematics, boxes
  [0x2fff, undefined],
  [0x9fff, 24], // Kana and Han
  [0xabff, undefined],
  [0xd7ff, 24], // Hangul
  [0xfeff, undefined],
  [0xffef, 24], // fullwidth forms
  [0x1cfff, undefined],
  [0x1ffff, 36], // letters of mathematics, emoji
]

type Kind = 'lower' | 'upper' | 'digit' | 'wide' | 'other'

/** Returns the tokens of a text. */
export function tokensIn(text: string): number {
  let weight = 0
  let before: Kind = 'other'
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code < 0x80) {
      const kind = kindOf(code)
      weight += code === 0x20 && !joinsWords(before) ? WHOLE : (ASCII[code] ?? WHOLE)
      if (changes(before, kind)) weight += CHANGE
      before = kind
      continue
    }
    const point = text.codePointAt(at) ?? code
    if (point > 0xffff) at++
    weight += weightOf(point)
    before = 'wide'
  }
  return Math.ceil(weight / WHOLE)
}

const ASCII = Uint8Array.from({ length: 0x80 }, (_, code) => {
  const kind = kindOf(code)
  if (kind === 'lower') return LOWER
  if (kind === 'upper') return UPPER
  if (kind === 'digit') return DIGIT
  return code === 0x20 || code === 0x0a ? SPACE : MARK
})

function kindOf(code: number): Kind {
  if (code >= 0x61 && code <= 0x7a) return 'lower'
  if (code >= 0x41 && code <= 0x5a) return 'upper'
  return code >= 0x30 && code <= 0x39 ? 'digit' : 'other'
}

/** A space is one token with the word that follows; beside digits and many scripts it is one by itself. */
function joinsWords(before: Kind): boolean {
  return before !== 'digit' && before !== 'wide'
}

function changes(before: Kind, now: Kind): boolean {
  if (before === now || before === 'other' || before === 'wide' || now === 'other') return false
  // A capital at the beginning of a word is no change.
  return !(before === 'upper' && now === 'lower')
}

function weightOf(point: number): number {
  const [, weight] = SCRIPTS.find(([last]) => point <= last) ?? []
  return weight ?? bytesOf(point) * WHOLE
}

/** Returns the bytes of a character in UTF-8: no tokenizer makes more tokens of it. Half a pair is sent as U+FFFD. */
function bytesOf(point: number): number {
  if (point < 0x800) return 2
  return point < 0x10000 ? 3 : 4
}
