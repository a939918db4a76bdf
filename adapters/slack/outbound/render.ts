import { type Run, Style, type StyledText, spellsOut } from '../../shared/document.ts'
import type { Passage } from '../../shared/lay-out-blocks.ts'
import type { Marks, Part } from '../../shared/split-text.ts'
import { escapedLength, escapeMarks, escapeText, escapeUrl, GAP } from './escape.ts'

/** From outermost to innermost. */
const STYLE_MARKS = [
  [Style.bold, '*'],
  [Style.italic, '_'],
  [Style.strike, '~'],
  [Style.code, '`'],
] as const

const FENCE = '```'
const QUOTE = '> '
/** Keeps three backticks inside a code block from ending it. */
const SPLIT_FENCE = '``\u200B`'

/**
 * Counts escapes and marks, never too few: the platform counts the raw text. Each line break outside code is counted as
 * if the line were quoted.
 */
export const mrkdwnMarks: Marks = {
  measure(text, inCode) {
    const length = escapedLength(text, inCode)
    return inCode ? length + count(text, /```/g) : length + count(text, /\n/g) * QUOTE.length
  },
  runOverhead: ({ style, href }, text = '') => {
    const marks = 2 * (marksOf(style).length + GAP.length)
    return href === undefined ? marks : marks + (standsForItself(text, href) ? 0 : escapeUrl(href).length) + 3
  },
  passageOverhead: ({ kind, quoted }) => (kind === 'code' ? 2 * (FENCE.length + 1) : quoted ? QUOTE.length : 0),
}

/** One part as mrkdwn (Slack's own markup; it has no headings, tables or nesting to speak of). */
export function renderMrkdwn(part: Part): string {
  return part.map((passage, index) => (index === 0 ? '' : passage.gap) + renderPassage(passage)).join('')
}

/** The part without markup; an address that hides behind a label stands behind it. */
export function renderPlain(part: Part): string {
  return part.map((passage, index) => (index === 0 ? '' : passage.gap) + plainBody(passage.body)).join('')
}

function renderPassage({ kind, body, quoted }: Passage): string {
  if (kind === 'code') return `${FENCE}\n${escapeText(body.text.replaceAll(FENCE, SPLIT_FENCE))}\n${FENCE}`
  const text = renderBody(body)
  return quoted ? `${QUOTE}${text.replaceAll('\n', `\n${QUOTE}`)}` : text
}

function renderBody({ text, runs }: StyledText): string {
  const ends = runs.map((run) => marksOf(run.style)).join('')
  let mrkdwn = ''
  let at = 0
  let markedUntil = -1
  for (const run of runs) {
    mrkdwn += escapeMarks(text.slice(at, run.start), ends, startsLine(text, at))
    const marks = canBeMarked(text, run) ? marksOf(styleOf(run)) : ''
    const inside = text.slice(run.start, run.end)
    const isApart = run.start > markedUntil || inside.trimStart() !== inside
    mrkdwn += renderRun(text, run, marks, isApart)
    if (marks !== '' && inside.trimEnd() === inside) markedUntil = run.end
    at = run.end
  }
  return mrkdwn + escapeMarks(text.slice(at), ends, startsLine(text, at))
}

function startsLine(text: string, at: number): boolean {
  return at === 0 || text[at - 1] === '\n'
}

/** Letters and digits of words whose parts are seldom marked. */
const LATIN_WORD = /[\p{sc=Latin}\p{N}_]/u
const WORD = /[\p{L}\p{N}_*~`]/u

/**
 * Marks work only on one line and between words. Within a word of Latin letters, words go out without them; elsewhere,
 * and around code, an invisible space stands beside the mark.
 */
function canBeMarked(text: string, { start, end, style }: Run): boolean {
  const inside = text.slice(start, end)
  if (inside.includes('\n') || inside.trim() === '') return false
  if ((style & Style.code) !== 0) return true
  const splits = (outer = '', inner = '') => LATIN_WORD.test(outer) && LATIN_WORD.test(inner)
  return !splits(text[start - 1], text[start]) && !splits(text[end], text[end - 1])
}

function renderRun(text: string, { start, end, style, href }: Run, marks: string, isApart: boolean): string {
  const inside = text.slice(start, end)
  const words = inside.trim()
  const before = inside.slice(0, inside.length - inside.trimStart().length)
  const after = inside.slice(before.length + words.length)
  const isCode = (style & Style.code) !== 0 && href === undefined
  // A mark within the words would end theirs, and they are worth more than it.
  const usable = isCode || href !== undefined ? marks : [...marks].filter((mark) => !words.includes(mark)).join('')
  const shown =
    href !== undefined
      ? renderLink(words, href)
      : isCode
        ? escapeText(words.replaceAll('`', '\u02CB'))
        : escapeMarks(words)
  if (usable === '') return before + shown + after
  const gapBefore = before === '' && (!isApart || WORD.test(text[start - 1] ?? '')) ? GAP : ''
  const gapAfter = after === '' && WORD.test(text[end] ?? '') ? GAP : ''
  return `${before}${gapBefore}${usable}${shown}${[...usable].reverse().join('')}${gapAfter}${after}`
}

/** A link excludes code, for its address is worth more. */
function styleOf({ style, href }: Run): number {
  return href === undefined ? style : style & ~Style.code
}

function renderLink(label: string, href: string): string {
  const url = escapeUrl(href)
  if (label === '') return ''
  return standsForItself(label, href) ? `<${url}>` : `<${url}|${escapeText(label.replaceAll('\n', ' '))}>`
}

/** The address is its own label, and nothing in it has to be written otherwise there. */
function standsForItself(label: string, href: string): boolean {
  return label === href && !/[|<>\s]/.test(href)
}

function marksOf(style: number): string {
  return STYLE_MARKS.map(([bit, mark]) => ((style & bit) === 0 ? '' : mark)).join('')
}

function plainBody({ text, runs }: StyledText): string {
  let plain = ''
  let at = 0
  for (const { start, end, href } of runs) {
    const label = text.slice(start, end)
    plain += text.slice(at, start) + label + (href === undefined || spellsOut(label, href) ? '' : ` (${href})`)
    at = end
  }
  return plain + text.slice(at)
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
