import { isFoundByItself, type Run, Style, type StyledText, spellsOut } from '../../shared/document.ts'
import type { Passage } from '../../shared/lay-out-blocks.ts'
import type { Marks, Part } from '../../shared/split-text.ts'

/** Stands at the start of each quoted line until the text is escaped: a private-use character, no answer has it. */
export const QUOTE_SIGN = '\uE000'
/** Stands in the same way for the full stop behind a number that Discord would count anew. */
export const STOP_SIGN = '\uE001'
const QUOTE = '> '
/** Nothing to see: keeps the marks of two neighbouring runs, and three backticks of a text, apart. */
const GAP = '\u200B'

/** Discord counts the raw message, marks and escapes included. */
export const discordMarks: Marks = {
  measure: (text, inCode) => (inCode ? fenced(text) : escapeText(text)).length,
  runOverhead: (run, text = '') => openMark(run, text).length + closeMark(run, text).length + GAP.length + CODE_PADDING,
  passageOverhead: (passage) => {
    if (passage.kind === 'code') return fenceOf(passage).length + '\n```'.length
    return passage.quoted ? QUOTE.length : 0
  },
}

/** Most that a code span adds to its text besides its marks. */
const CODE_PADDING = 4

/** One part in Discord's Markdown (Discord help centre, "Markdown Text 101"; docs, "Message Formatting"). */
export function renderMarkdown(part: Part): string {
  return part.map((passage, index) => (index === 0 ? '' : passage.gap) + renderPassage(passage)).join('')
}

/** The part without markup. An address that hides behind a label stands behind it, if all of them find room. */
export function renderPlain(part: Part, limit: number): string {
  const join = (textOf: (body: StyledText) => string) =>
    part
      .map(({ gap, body }, index) => (index === 0 ? '' : gap) + textOf(body))
      .join('')
      .replaceAll(QUOTE_SIGN, QUOTE)
      .replaceAll(STOP_SIGN, '.')
  const bare = join((body) => body.text)
  const full = join(withAddresses)
  return full.length <= limit ? full : bare
}

function renderPassage(passage: Passage): string {
  if (passage.kind === 'code') return `${fenceOf(passage)}${fenced(passage.body.text)}\n\`\`\``
  const text = renderText(passage.body)
  // A quote that was cut in the middle of a line continues as one.
  return passage.quoted && !passage.body.text.startsWith(QUOTE_SIGN) ? QUOTE + text : text
}

function fenceOf({ language }: Passage): string {
  return `\`\`\`${language}\n`
}

function fenced(text: string): string {
  return text.replace(/`(?=`)/g, `\`${GAP}`)
}

function renderText({ text, runs }: StyledText): string {
  let markdown = ''
  let at = 0
  for (const run of runs) {
    markdown += escapeText(text.slice(at, run.start), startsLine(text, at))
    if (run.start === at && at > 0) markdown += GAP
    const content = text.slice(run.start, run.end)
    markdown += run.style === 0 && isFoundByItself(text, run) ? content : renderRun(run, content)
    at = run.end
  }
  return markdown + escapeText(text.slice(at), startsLine(text, at))
}

/** Italics do not work with a space at their inner side. */
function renderRun(run: Run, text: string): string {
  const words = (run.style & Style.italic) !== 0 && !isCode(run) ? text.trim() : text
  if (words === '') return text
  const before = text.slice(0, text.indexOf(words))
  const after = text.slice(before.length + words.length)
  return before + openMark(run, words) + contentOf(run, words) + closeMark(run, words) + after
}

function startsLine(text: string, at: number): boolean {
  return at === 0 || text[at - 1] === '\n'
}

function contentOf(run: Run, text: string): string {
  if (isCode(run)) return codeText(text)
  return text === run.href ? text : escapeText(text)
}

function openMark(run: Run, text: string): string {
  if (isCode(run)) return '``'
  if (run.href === undefined) return styleMarks(run.style)
  if (text === run.href) return `${styleMarks(run.style)}${linkable(text) ? '<' : ''}`
  return (hides(run.href, text) ? '[' : '') + styleMarks(run.style)
}

function closeMark(run: Run, text: string): string {
  if (isCode(run)) return '``'
  const marks = [...styleMarks(run.style)].reverse().join('')
  if (run.href === undefined) return marks
  if (text === run.href) return `${linkable(text) ? '>' : ''}${marks}`
  if (hides(run.href, text)) return `${marks}](<${run.href}>)`
  return spellsOut(text, run.href) ? marks : `${marks} (${run.href})`
}

/** Discord hides no address behind a label that looks like another one. */
function hides(href: string, label: string): boolean {
  return linkable(href) && !label.includes('://')
}

/** The marks of bold, italic and strike read the same from both sides. */
function styleMarks(style: number): string {
  const bold = (style & Style.bold) !== 0 ? '**' : ''
  const italic = (style & Style.italic) !== 0 ? '*' : ''
  return ((style & Style.strike) !== 0 ? '~~' : '') + bold + italic
}

/** A link excludes code, for its address is worth more. */
function isCode({ style, href }: Run): boolean {
  return (style & Style.code) !== 0 && href === undefined
}

/** Only web addresses can hide behind a label. */
function linkable(href: string): boolean {
  return /^https?:\/\//i.test(href)
}

function codeText(text: string): string {
  const apart = fenced(text)
  const pad = apart.includes('`') ? ' ' : ''
  return `${pad}${apart}${pad}`
}

/**
 * Matches text that Discord would read as markup: at the start of a line headings, small text, quotes and bullets;
 * anywhere marks, brackets, spoilers, mentions, and names of emoji within words. Addresses stay whole, because a
 * backslash in one breaks it, and so do the keys `*` of emoji.
 */
const SPECIAL =
  /^(?<before>\uE000? *)(?<sign>#{1,3}|-#|>{1,3}|-)(?=\s)|(?<kept>https?:\/\/[^\s<`]+|(?<=[a-z0-9])_(?=[a-z0-9])|\*(?=[\uFE0F\u20E3]))|[\uE000\uE001\\*_~`[\]]|\|\||<(?=[@#:at/]|https?:|id:)|(?<=\w):(?!(?:direct|group|channel):)(?=(?:(?!\d+:)\w[\w+-]*|100|1234):)/gim

/** Escapes a stretch of a text; what it begins with is markup only at the start of a line. */
function escapeText(text: string, startsLine = true): string {
  if (!/[\\*_~`[\]|<#>:\uE000\uE001-]/.test(text)) return text
  return text.replace(SPECIAL, (mark: string, ...rest) => {
    const { before, sign, kept } = rest.at(-1) as Record<'before' | 'sign' | 'kept', string | undefined>
    if (kept !== undefined) return kept
    if (sign === undefined) return escapeMark(mark)
    return !startsLine && rest.at(-3) === 0 ? mark : `${(before ?? '').replace(QUOTE_SIGN, QUOTE)}\\${sign}`
  })
}

function escapeMark(mark: string): string {
  if (mark === QUOTE_SIGN) return QUOTE
  if (mark === STOP_SIGN) return '\\.'
  return mark === '||' ? '\\|\\|' : `\\${mark}`
}

/** Runs that share one address get it once, behind the last of them. */
function withAddresses({ text, runs }: StyledText): string {
  let plain = ''
  let at = 0
  for (const [index, run] of runs.entries()) {
    const next = runs[index + 1]
    if (run.href === undefined || (next?.href === run.href && next.start === run.end)) continue
    plain += text.slice(at, run.end)
    if (!spellsOut(text.slice(run.start, run.end), run.href)) plain += ` (${run.href})`
    at = run.end
  }
  return plain + text.slice(at)
}
