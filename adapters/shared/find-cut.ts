/** The kind of cut a reader sees at an offset; finer than a line only if needed. */
export type CutKind = 'paragraph' | 'line' | 'sentence' | 'word'

/** Enough to hold any emoji sequence or letter with its marks; longer ones are not worth looking for. */
const GRAPHEME_WINDOW = 256

let graphemes: Intl.Segmenter | undefined

/**
 * The last offset in (`least`, `most`] where a cut of this kind falls, or 0. The white space at the cut stands behind
 * it. Cost is linear in the distance looked at.
 */
export function findCut(text: string, kind: CutKind, least: number, most: number): number {
  switch (kind) {
    case 'paragraph':
      return above(text.lastIndexOf('\n\n', most), least)
    case 'line':
      return above(text.lastIndexOf('\n', most), least)
    case 'sentence':
      return lastWhere(text, least, most, endsSentence)
    case 'word':
      return lastWhere(text, least, most, endsWord)
  }
}

/**
 * The last offset up to `most` between two graphemes, and always at least one: never inside a surrogate pair, and
 * inside an emoji sequence or a letter with marks only where that alone is longer than the window.
 */
export function cutInsideWord(text: string, most: number): number {
  const from = Math.max(0, most - GRAPHEME_WINDOW)
  const start = isLowSurrogate(text, from) ? from + 1 : from
  graphemes ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' })
  const around = graphemes.segment(text.slice(start, most + GRAPHEME_WINDOW)).containing(most - start)
  const cut = start + (around?.index ?? most - start)
  if (cut > start) return cut
  const whole = isLowSurrogate(text, most) ? most - 1 : most
  return whole > 0 ? whole : Math.min(text.length, 2)
}

function above(found: number, least: number): number {
  return found > least ? found : 0
}

function lastWhere(text: string, least: number, most: number, ends: (text: string, at: number) => boolean): number {
  for (let at = Math.min(most, text.length - 1); at > least; at--) {
    if (ends(text, at)) return at
  }
  return 0
}

function endsWord(text: string, at: number): boolean {
  return isSpace(text.charCodeAt(at)) && !isSpace(text.charCodeAt(at - 1))
}

/** Behind a full stop (and what closes a quotation after it) stands a space; ideographic stops need none. */
function endsSentence(text: string, at: number): boolean {
  const before = text[at - 1] ?? ''
  if ('。！？'.includes(before)) return true
  if (!isSpace(text.charCodeAt(at))) return false
  return '.!?…:;'.includes(before) || ('"\')”’»]'.includes(before) && '.!?…'.includes(text[at - 2] ?? ' '))
}

/** Spaces a line may be broken at; a no-break space is none. */
function isSpace(code: number): boolean {
  return (
    code === 0x20 ||
    code === 0x0a ||
    code === 0x09 ||
    code === 0x3000 ||
    (code >= 0x2000 && code <= 0x200b && code !== 0x2007)
  )
}

function isLowSurrogate(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00
}
