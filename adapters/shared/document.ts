/**
 * A Markdown answer free of any markup: the tree every platform's format starts from. Formatting is kept as runs over
 * plain text instead of nested nodes, so that a cut at any offset is a cut of a string, and no depth of nesting in the
 * source can become depth here.
 */

/** Bits of `Run.style`. */
export const Style = { bold: 1, italic: 2, strike: 4, code: 8 } as const

/** Returns whether a label says its address, so that it need not stand behind it. */
export function spellsOut(label: string, href: string): boolean {
  return label === href || href === `mailto:${label}` || href === `http://${label}`
}

/**
 * Returns whether a run is an address that stands for itself and that a platform finds by itself, for a space or the
 * end of a sentence is around it. `scheme` is the one that the platform adds to a host.
 */
export function isFoundByItself(text: string, { start, end, href }: Run, scheme = ''): boolean {
  const label = text.slice(start, end)
  const isAddress = label === href || (scheme !== '' && scheme + label === href)
  return isAddress && /^[\s(]?$/.test(text[start - 1] ?? '') && /^[\s.,)]?$/.test(text[end] ?? '')
}

/** A styled stretch of a text, `start` inclusive, `end` exclusive, in UTF-16 units. */
export interface Run {
  readonly start: number
  readonly end: number
  /** Bits of `Style`; 0 for a stretch that is only a link. */
  readonly style: number
  /** Already checked: http, https, tg or mailto. */
  readonly href: string | undefined
}

/** `runs` are in order and never overlap; what lies between them is plain. */
export interface StyledText {
  readonly text: string
  readonly runs: readonly Run[]
}

/** `gap`: line breaks between this block and what stands above it in the source, at least 1. */
export type Block =
  | { readonly kind: 'paragraph'; readonly gap: number; readonly body: StyledText }
  | { readonly kind: 'heading'; readonly gap: number; readonly body: StyledText }
  | { readonly kind: 'code'; readonly gap: number; readonly language: string; readonly text: string }
  | { readonly kind: 'quote'; readonly gap: number; readonly blocks: readonly Block[] }
  | ListBlock
  | TableBlock
  | { readonly kind: 'rule'; readonly gap: number }

export interface ListBlock {
  readonly kind: 'list'
  readonly gap: number
  readonly items: readonly ListItem[]
}

export interface ListItem {
  readonly gap: number
  /** Its number with the character behind it; the author's own bullet; `undefined`: any bullet. */
  readonly marker: string | undefined
  readonly blocks: readonly Block[]
}

export interface TableBlock {
  readonly kind: 'table'
  readonly gap: number
  readonly columns: readonly Alignment[]
  /** Cells as text, for a monospace table has no room for formatting. The first row is the header. */
  readonly rows: readonly (readonly string[])[]
}

export type Alignment = 'left' | 'center' | 'right'

export function plainText(text: string): StyledText {
  return { text, runs: [] }
}

/** Cuts a text in two; a run across the cut continues in the second half. */
export function cutText(source: StyledText, at: number): readonly [StyledText, StyledText] {
  const before: Run[] = []
  const after: Run[] = []
  for (const run of source.runs) {
    if (run.start < at) before.push(run.end <= at ? run : moveRun(run, run.start, at))
    if (run.end > at) after.push(moveRun(run, Math.max(run.start, at) - at, run.end - at))
  }
  return [
    { text: source.text.slice(0, at), runs: before },
    { text: source.text.slice(at), runs: after },
  ]
}

/** Puts `first` before the text and `rest` before each of its further lines. */
export function indentText(source: StyledText, first: string, rest: string): StyledText {
  if (first === '' && (rest === '' || !source.text.includes('\n'))) return source
  const shift = lineShifts(source.text, first, rest)
  return {
    text: first + source.text.replaceAll('\n', `\n${rest}`),
    runs: source.runs.map((run) => moveRun(run, shift(run.start), shift(run.end))),
  }
}

/** Maps an offset of the text to its place after the indent; offsets must come in rising order. */
function lineShifts(text: string, first: string, rest: string): (offset: number) => number {
  let by = first.length
  let newline = text.indexOf('\n')
  return (offset) => {
    while (newline !== -1 && newline < offset) {
      by += rest.length
      newline = text.indexOf('\n', newline + 1)
    }
    return offset + by
  }
}

/** Spelled out, for a spread costs several times as much and there is one call for every styled word. */
function moveRun(run: Run, start: number, end: number): Run {
  return { start, end, style: run.style, href: run.href }
}
