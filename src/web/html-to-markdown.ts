// @ts-expect-error The package declares its types under another name.
import domino from '@mixmark-io/domino'
import TurndownService from 'turndown'
import { ordinal } from '../core/ordinal.ts'
import { parseUrl } from '../core/parse-url.ts'
import { articleIn, type PageFacts, readFacts, whatIsMissing } from './page-facts.ts'
import {
  elementsIn,
  inOneLine,
  isWithin,
  type PageDocument,
  type PageElement,
  RAW,
  textOf,
  withNoScript,
} from './page-tree.ts'
import type { Converted } from './plain-text.ts'
import { type Tidied, tidyPage } from './tidy-page.ts'

const { createDocument } = domino as { createDocument(html: string, force: true): PageDocument }

/** Characters of a page that is not left for where it leads readers without scripts. */
const ENOUGH = 500
/** Characters below which a page is looked through for more than its text. */
const LITTLE = 200

/**
 * Returns a page as Markdown, without what a reader does not see, its links absolute from `base`. It may take long or
 * throw for a page that was made to; the worker around it has the limits.
 */
export function htmlToMarkdown(html: string, base: string): Converted {
  const page = readPage(html, base)
  const { facts, tidied, words } = page
  const whole = words === '' && tidied.leftAround ? readPage(html, base, true) : page
  const markdown = toMarkdown(whole.document, facts.base)
  const missing = whatIsMissing(facts, whole.words, tidied.hidden)
  const title = facts.title || headingIn(whole.document)
  return {
    ...(title === '' ? {} : { title }),
    ...refreshOf(facts, words),
    ...(markdown.length < LITTLE ? completed(facts, { markdown, missing }) : withReason(markdown, missing)),
  }
}

interface ReadPage {
  readonly document: PageDocument
  readonly facts: PageFacts
  readonly tidied: Tidied
  readonly words: string
}

function readPage(html: string, base: string, around = false): ReadPage {
  const document = createDocument(withNoScript(html), true)
  const facts = readFacts(document, base)
  const tidied = tidyPage(document, around)
  return { document, facts, tidied, words: inOneLine(textOf(document.documentElement)) }
}

function headingIn(document: PageDocument): string {
  const [heading] = elementsIn(document, 'h1')
  return heading === undefined ? '' : inOneLine(textOf(heading))
}

function refreshOf({ refresh }: PageFacts, words: string): Pick<Converted, 'refresh'> {
  if (refresh === undefined || (refresh.unscripted && words.length > ENOUGH)) return {}
  return { refresh: { seconds: refresh.seconds, url: refresh.url } }
}

function withReason(markdown: string, missing: string | undefined): Pick<Converted, 'markdown' | 'missing'> {
  return missing === undefined ? { markdown } : { markdown, missing }
}

/** A page with next to no text may carry it for search engines, or say at least what it is. */
function completed(
  facts: PageFacts,
  { markdown, missing }: { readonly markdown: string; readonly missing: string | undefined },
): Pick<Converted, 'markdown' | 'missing'> {
  const article = articleIn(facts)
  if (article.length > LITTLE) return withReason(`${markdown}\n\n${article}`.trim(), FOR_ENGINES)
  const isShell = markdown === '' || missing !== undefined
  return withReason(isShell ? `${markdown}\n\n${facts.description}`.trim() : markdown, missing)
}

const FOR_ENGINES = 'This page shows its text by scripts; what follows is the text that it carries for search engines.'

function toMarkdown(document: PageDocument, base: string): string {
  const service = new TurndownService({
    ...{ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', hr: '---', emDelimiter: '*' },
  })
  addRules(service, base)
  const root = document.documentElement
  for (const list of elementsIn(document, 'ol')) markItems(list)
  // The library works on a copy otherwise, which would take twice the memory.
  Object.defineProperty(root, 'cloneNode', { value: () => root })
  // Soft hyphens are for whoever sets lines.
  return service
    .turndown(root as unknown as TurndownService.Node)
    .replaceAll('\u00ad', '')
    .trim()
}

type Rule = (content: string, element: PageElement) => string

function addRules(service: TurndownService, base: string): void {
  const add = (name: string, filter: TurndownService.Filter, rule: Rule): void => {
    service.addRule(name, { filter, replacement: (content, node) => rule(content, node as unknown as PageElement) })
  }
  add('row', 'tr', row)
  add('rows', ['thead', 'tbody', 'tfoot'], (content) => content)
  add('cell', ['th', 'td'], cell)
  add('table', 'table', (content) => `\n\n${content.trim()}\n\n`)
  add('picture', 'img', (_content, element) => picture(element, base))
  add('link', 'a', (content, element) => link(content, element, base))
  add(
    'heading of a link',
    (node) => /^H[1-6]$/.test(node.nodeName) && isWithinLink(node as unknown as PageElement),
    (content) => `\n\n${content}\n\n`,
  )
  add('item', (node) => node.nodeName === 'LI' && node.parentNode?.nodeName === 'OL', item)
  add('term', 'dt', (content) => `\n\n**${inOneLine(content).replaceAll('**', '')}**\n`)
  add('meaning', 'dd', (content) => `\n: ${content.trim().replace(/\n/g, '\n  ')}\n`)
  add('deleted', (node) => /^(?:DEL|S|STRIKE)$/.test(node.nodeName), marked('~~'))
  add('raised', 'sup', (content, element) => smallText(content, element, RAISED))
  add('lowered', 'sub', (content, element) => smallText(content, element, LOWERED))
  add(
    'raw',
    (node) => node.nodeName === RAW,
    (_content, element) => textOf(element).trim(),
  )
}

/** The library knows decimals that count up: each item has the mark that a reader sees before it. */
function markItems(list: PageElement): void {
  const items = Array.from(list.children).filter((one) => one.nodeName === 'LI')
  const step = list.getAttribute('reversed') === null ? 1 : -1
  const named = LIST_STYLE.exec(list.getAttribute('style') ?? '')?.[1]?.toLowerCase()
  const style = named ?? list.getAttribute('type')?.trim() ?? ''
  let number = numberIn(list, 'start') ?? (step === 1 ? 1 : items.length)
  for (const one of items) {
    number = numberIn(one, 'value') ?? number
    one.setAttribute('data-mark', `${markOf(number, style)}.  `)
    number += step
  }
}

const LIST_STYLE = /list-style(?:-type)?\s*:[^;]*?\b((?:lower|upper)-(?:alpha|latin|roman)|decimal)\b/i

function numberIn(element: PageElement, name: 'start' | 'value'): number | undefined {
  const number = Number.parseInt(element.getAttribute(name) ?? '', 10)
  return Number.isSafeInteger(number) ? number : undefined
}

/** Returns the mark for a number in a style of HTML or of its style sheets. */
function markOf(number: number, style: string): string {
  const kind = /^a$|alpha|latin/i.test(style) ? 'Letter' : /^i$|roman/i.test(style) ? 'Roman' : undefined
  return kind === undefined
    ? String(number)
    : ordinal(number, `${/^[AI]$|^upper/.test(style) ? 'upper' : 'lower'}${kind}`, 'ab')
}

function item(content: string, element: PageElement): string {
  const mark = element.getAttribute('data-mark') ?? ''
  const isParagraph = content.endsWith('\n')
  const words = `${content.replace(/^\n+|\n+$/g, '')}${isParagraph ? '\n' : ''}`
  return `${mark}${words.replaceAll('\n', `\n${' '.repeat(mark.length)}`)}${element.nextSibling === null ? '' : '\n'}`
}

function marked(mark: string): Rule {
  return (content) => (content.trim() === '' ? '' : `${mark}${content.trim()}${mark}`)
}

interface Height {
  readonly mark: string
  readonly from: string
  readonly to: string
}

const RAISED: Height = { mark: '^', from: '0123456789+-−=()n', to: '⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾ⁿ' }
const LOWERED: Height = { mark: '_', from: '0123456789+-−=()', to: '₀₁₂₃₄₅₆₇₈₉₊₋₋₌₍₎' }
/** Letters that are raised in writing and mean nothing by it: `1st`, `Mme`, `™`. */
const PLAIN_RAISED = /^(?:st|nd|rd|th|er|re|e|ère|ème|os?|as?|º|ª|®|©|™|TM|SM)$/i

function smallText(content: string, element: PageElement, { mark, from, to }: Height): string {
  const words = element.children.length === 0 ? inOneLine(textOf(element)) : content.trim()
  const [reference] = elementsIn(element, 'a')
  // The number of a footnote is a mark, whether it leads there or not.
  if (reference !== undefined) return `[${inOneLine(textOf(element)).replace(/^\[|\]$/g, '')}]`
  if (words === '' || (mark === '^' && PLAIN_RAISED.test(words))) return words
  const small = [...words].map((one) => (from.includes(one) ? ([...to][[...from].indexOf(one)] ?? '') : ''))
  if (!small.includes('')) return small.join('')
  return /^[\p{L}\p{N}]+$/u.test(words) ? `${mark}${words}` : `${mark}(${words})`
}

/** A link may be a card with a heading and other blocks: they stay apart in its words, and so do two cards. */
function link(content: string, node: PageElement, base: string): string {
  const parts = content.split(/\n\s*\n/).map(inOneLine)
  const words = parts.filter((part) => part !== '').join(' – ')
  const href = node.getAttribute('href')
  const address = href === null ? undefined : absolute(href, base)
  if (href === null) return content
  if (words === '' || address === undefined) return words
  const shown = words === address ? `<${address}>` : `[${words}](${address})`
  const isCard = parts.length > 1 && HEADINGS.some((name) => elementsIn(node, name).length > 0)
  return isCard && !isWithin(node, IN_A_LINE) ? `\n\n${shown}\n\n` : shown
}

const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']
const IN_A_LINE = ['TD', 'TH', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6']

/** Returns true within an element that leads somewhere; a name for a place is none. */
function isWithinLink(element: PageElement): boolean {
  for (let at = element.parentNode; at !== null; at = at.parentNode)
    if (at.nodeName === 'A' && at.getAttribute('href') !== null) return true
  return false
}

/** A picture is its description: it cannot be seen here. */
function picture(node: PageElement, base: string): string {
  const words = inOneLine(node.getAttribute('alt') ?? '').replace(/[[\]]/g, '')
  const src = node.getAttribute('src')
  const address = src ? absolute(src, base) : undefined
  if (words === '' || address === undefined) return words
  return `![${words}](${address})`
}

function absolute(address: string, base: string): string | undefined {
  const url = parseUrl(address, base)
  if (url === undefined || !/^(https?|mailto|tel):$/.test(url.protocol)) return undefined
  return url.href.replaceAll('(', '%28').replaceAll(')', '%29')
}

/** A cell with paragraphs or another table in it belongs to a table that lays out a page: it is text like any other. */
function cell(content: string, element: PageElement): string {
  const words = content.trim()
  return words.includes('\n\n') || elementsIn(element, 'table').length > 0
    ? `\n\n${words}\n\n`
    : ` ${inOneLine(words).replace(/(?<!\\)\|/g, '\\|')} |`
}

function row(cells: string, node: PageElement): string {
  if (cells.replaceAll('|', '').trim() === '') return ''
  if (cells.includes('\n')) return `\n\n${cells.trim().replace(/^([^|\n].*?)(?<!\\) \|$/gm, '$1')}\n\n`
  const first = node.parentNode?.children[0] === node && isFirstPart(node.parentNode)
  const line = `|${cells}\n`
  return first ? `${line}|${' --- |'.repeat(Math.max(1, node.children.length))}\n` : line
}

function isFirstPart(part: PageElement): boolean {
  if (part.nodeName === 'TABLE') return true
  const parts = Array.from(part.parentNode?.children ?? []).filter(({ nodeName }) =>
    /^(THEAD|TBODY|TR)$/.test(nodeName),
  )
  return parts[0] === part
}
