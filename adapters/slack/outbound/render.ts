import { type Run, Style, type StyledText } from '../../shared/document.ts'
import type { Passage } from '../../shared/lay-out-blocks.ts'
import type { Marks } from '../../shared/measure.ts'
import type { Part } from '../../shared/split-text.ts'
import { escapedLength, escapeText, escapeUrl } from './escape.ts'

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
    const length = escapedLength(text)
    return inCode ? length + count(text, /```/g) : length + count(text, /\n/g) * QUOTE.length
  },
  runOverhead: ({ style, href }) => 2 * marksOf(style).length + (href === undefined ? 0 : escapeUrl(href).length + 3),
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
  let mrkdwn = ''
  let at = 0
  let markedUntil = -1
  for (const run of runs) {
    mrkdwn += escapeText(text.slice(at, run.start))
    const marked = run.start > markedUntil && standsAlone(text, run)
    mrkdwn += renderRun(text.slice(run.start, run.end), run, marked ? marksOf(run.style) : '')
    if (marked) markedUntil = run.end
    at = run.end
  }
  return mrkdwn + escapeText(text.slice(at))
}

/**
 * Marks work only between words, on one line, and not right behind other marks; elsewhere they would be shown as
 * they are, so the words go out without them.
 */
function standsAlone(text: string, { start, end }: Run): boolean {
  const inside = text.slice(start, end)
  if (inside.includes('\n') || inside.trim() === '') return false
  return !isWord(text[start - 1]) && !isWord(text[end])
}

function isWord(char: string | undefined): boolean {
  return char !== undefined && /[\p{L}\p{N}_*~`]/u.test(char)
}

function renderRun(inside: string, { style, href }: Run, marks: string): string {
  const words = inside.trim()
  const before = inside.slice(0, inside.length - inside.trimStart().length)
  const after = inside.slice(before.length + words.length)
  const usable = (style & Style.code) !== 0 && words.includes('`') ? marks.replace('`', '') : marks
  const shown = href === undefined ? escapeText(words) : renderLink(words, href)
  return `${before}${usable}${shown}${[...usable].reverse().join('')}${after}`
}

function renderLink(label: string, href: string): string {
  const url = escapeUrl(href)
  if (label === '') return ''
  return label === href ? `<${url}>` : `<${url}|${escapeText(label.replaceAll('\n', ' '))}>`
}

function marksOf(style: number): string {
  return STYLE_MARKS.map(([bit, mark]) => ((style & bit) === 0 ? '' : mark)).join('')
}

function plainBody({ text, runs }: StyledText): string {
  let plain = ''
  let at = 0
  for (const { start, end, href } of runs) {
    const label = text.slice(start, end)
    plain += text.slice(at, start) + label + (href === undefined || href === label ? '' : ` (${href})`)
    at = end
  }
  return plain + text.slice(at)
}

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0
}
