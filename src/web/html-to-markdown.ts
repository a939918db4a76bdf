import TurndownService from 'turndown'
import { parseUrl } from '../core/parse-url.ts'

/** The parts of an element that are read here: the library brings a document of its own, which has no types. */
interface Element {
  readonly nodeName: string
  readonly textContent: string | null
  readonly parentNode: Element | null
  readonly children: ArrayLike<Element>
  getAttribute(name: string): string | null
}

export interface Converted {
  readonly title?: string
  readonly markdown: string
}

/** Elements that say nothing to a reader, and those around the text that lead to other pages. */
const NOISE: ReadonlySet<string> = new Set([
  ...['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE', 'IFRAME', 'OBJECT', 'EMBED', 'CANVAS', 'SVG', 'MATH', 'HEAD', 'TITLE'],
  ...['NAV', 'FOOTER', 'ASIDE', 'DIALOG', 'BUTTON', 'INPUT', 'SELECT', 'TEXTAREA', 'AUDIO', 'VIDEO', 'LINK', 'META'],
])
const NOISE_ROLES: ReadonlySet<string> = new Set([
  ...['navigation', 'banner', 'contentinfo', 'search', 'complementary', 'dialog', 'alert', 'menu', 'menubar'],
])
const HIDDEN_STYLE =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0*\.?0+\s*(?:;|$)|font-size\s*:\s*0)/i

/**
 * Returns a page as Markdown, without what a reader does not see, its links absolute from `base`. It may take long or
 * throw for a page that was made to; the worker around it has the limits.
 */
export function htmlToMarkdown(html: string, base: string): Converted {
  let title: string | undefined
  const service = new TurndownService({
    ...{ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-', hr: '---', emDelimiter: '*' },
  })
  service.addRule('row', { filter: 'tr', replacement: (content, node) => row(content, node as unknown as Element) })
  service.addRule('rows', { filter: ['thead', 'tbody', 'tfoot'], replacement: (content) => content })
  service.addRule('cell', { filter: ['th', 'td'], replacement: cell })
  service.addRule('table', { filter: 'table', replacement: (content) => `\n\n${content.trim()}\n\n` })
  service.addRule('picture', {
    filter: 'img',
    replacement: (_content, node) => picture(node as unknown as Element, base),
  })
  service.addRule('link', {
    filter: (node) => node.nodeName === 'A' && node.getAttribute('href') !== null,
    replacement: (content, node) => link(content, node as unknown as Element, base),
  })
  service.addRule('unseen', { filter: (node) => isUnseen(node as unknown as Element), replacement: () => '' })
  // A title within the text of the page, as in a drawing, is another element's.
  service.addRule('title', {
    filter: (node) => node.nodeName === 'TITLE',
    replacement(_content, node) {
      title ??= inOneLine((node as unknown as Element).textContent ?? '')
      return ''
    },
  })
  const markdown = service.turndown(html).trim()
  return title ? { title, markdown } : { markdown }
}

function isUnseen(node: Element): boolean {
  const name = node.nodeName.toUpperCase()
  if (name === 'TITLE') return false
  if (NOISE.has(name) || NOISE_ROLES.has(node.getAttribute('role')?.toLowerCase() ?? '')) return true
  if (node.getAttribute('hidden') !== null || node.getAttribute('aria-hidden') === 'true') return true
  return HIDDEN_STYLE.test(node.getAttribute('style') ?? '')
}

function link(content: string, node: Element, base: string): string {
  const words = inOneLine(content)
  const address = absolute(node.getAttribute('href') ?? '', base)
  if (words === '' || address === undefined) return words
  return words === address ? `<${address}>` : `[${words}](${address})`
}

/** A picture is its description: it cannot be seen here. */
function picture(node: Element, base: string): string {
  const words = inOneLine(node.getAttribute('alt') ?? '').replace(/[[\]]/g, '')
  const address = absolute(node.getAttribute('src') ?? '', base)
  if (words === '' || address === undefined) return words
  return `![${words}](${address})`
}

function absolute(address: string, base: string): string | undefined {
  const url = parseUrl(address, base)
  if (url === undefined || !/^(https?|mailto|tel):$/.test(url.protocol)) return undefined
  return url.href.replaceAll('(', '%28').replaceAll(')', '%29')
}

/** A cell with paragraphs in it belongs to a table that lays out a page: it is text like any other. */
function cell(content: string): string {
  const words = content.trim()
  return words.includes('\n\n') ? `\n\n${words}\n\n` : ` ${inOneLine(words)} |`
}

function row(cells: string, node: Element): string {
  if (cells.replaceAll('|', '').trim() === '') return ''
  if (cells.includes('\n')) return `\n\n${cells.trim().replace(/ \|$/gm, '')}\n\n`
  const first = node.parentNode?.children[0] === node && isFirstPart(node.parentNode)
  const line = `|${cells}\n`
  return first ? `${line}|${' --- |'.repeat(Math.max(1, node.children.length))}\n` : line
}

function isFirstPart(part: Element): boolean {
  if (part.nodeName === 'TABLE') return true
  const parts = Array.from(part.parentNode?.children ?? []).filter(({ nodeName }) =>
    /^(THEAD|TBODY|TR)$/.test(nodeName),
  )
  return parts[0] === part
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
