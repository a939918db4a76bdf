import {
  asText,
  ELEMENT,
  elementsIn,
  inOneLine,
  isWithin,
  NO_SCRIPT,
  nameOf,
  type PageDocument,
  type PageElement,
  type PageNode,
  pastNode,
  RAW,
  raw,
  remove,
  renamed,
  replace,
  roleOf,
  TEXT,
  textOf,
  withNoScript,
} from './page-tree.ts'

/** Elements that say nothing to a reader. */
const NOISE: ReadonlySet<string> = new Set([
  ...['SCRIPT', 'STYLE', 'TEMPLATE', 'EMBED', 'CANVAS', 'SVG', 'HEAD', 'TITLE', 'LINK', 'META', 'BASE', 'DATALIST'],
  ...['RP', 'PARAM', 'AREA', 'NOFRAMES'],
])
/** Elements around the text that lead to other pages. */
const AROUND: ReadonlySet<string> = new Set(['NAV', 'FOOTER', 'ASIDE'])
const AROUND_ROLES: ReadonlySet<string> = new Set([
  ...['navigation', 'banner', 'search', 'complementary', 'dialog', 'menu', 'menubar'],
])
const HIDDEN_STYLE =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0*\.?0+\s*(?:;|$)|font-size\s*:\s*0)/i

interface Tidying {
  readonly document: PageDocument
  /** Leave in what is around the text. */
  readonly around: boolean
  /** Returns the words of the whole page in one line, with those that are left out. */
  words(this: void): string
  /** The ids of elements that a control opens. */
  readonly panels: ReadonlySet<string>
  readonly tables: PageElement[]
  /** Cells that may still be added so that tables have one for each place. */
  cells: number
}

/** `hidden`: characters that a reader does not see until a script shows them. */
export interface Tidied {
  readonly hidden: number
  readonly leftAround: boolean
}

/**
 * Takes out of a page what a reader without scripts does not see, and puts what Markdown has no form for into elements
 * that it has one for. `around`: what is around the text stays.
 */
export function tidyPage(document: PageDocument, around = false): Tidied {
  const root = document.documentElement
  let words: string | undefined
  const tidying: Tidying = {
    ...{ document, around, cells: MOST_CELLS, tables: [], panels: panelsOf(root) },
    words: () => (words ??= inOneLine(textOf(root))),
  }
  let [hidden, leftAround] = [0, false]
  for (let node = root.firstChild; node !== null; ) {
    const past = pastNode(node, root)
    if (node.nodeType !== ELEMENT) {
      node = past
      continue
    }
    const element = node as PageElement
    const reason = reasonToLeaveOut(element, tidying)
    if (reason === 'hidden') hidden += inOneLine(textOf(element)).length
    if (reason === 'around') leftAround = true
    const left = reason === undefined ? tidied(element, tidying) : remove(element)
    node = left?.firstChild ?? past
  }
  for (const rows of tidying.tables.map(rowsOf)) if (hasSpans(rows)) fillGrid(rows, tidying)
  return { hidden, leftAround }
}

function panelsOf(root: PageElement): ReadonlySet<string> {
  const controls = [...elementsIn(root, 'button'), ...elementsIn(root, 'a'), ...elementsIn(root, 'div')]
  return new Set(controls.flatMap((one) => one.getAttribute('aria-controls')?.trim().split(/\s+/) ?? []))
}

function reasonToLeaveOut(element: PageElement, tidying: Tidying): 'noise' | 'around' | 'hidden' | undefined {
  const name = nameOf(element)
  if (NOISE.has(name) && !isShadow(element)) return 'noise'
  if (isHidden(element, name, tidying.panels)) return 'hidden'
  if (tidying.around) return undefined
  const role = roleOf(element)
  if (AROUND_ROLES.has(role)) return 'around'
  const part = role === 'contentinfo' ? 'FOOTER' : name
  return AROUND.has(part) && !isPartOfText(element, part) ? 'around' : undefined
}

/** Browsers show such a template in the place of what is around it, also without scripts. */
function isShadow(element: PageElement): boolean {
  return /^(?:open|closed)$/i.test(element.getAttribute('shadowrootmode')?.trim() ?? '')
}

function isHidden(element: PageElement, name: string, panels: ReadonlySet<string> = NO_PANELS): boolean {
  const hidden = element.getAttribute('hidden')
  if (hidden !== null && hidden.trim().toLowerCase() !== 'until-found') return true
  if (name === 'DIALOG' && element.getAttribute('open') === null) return true
  if (HIDDEN_STYLE.test(element.getAttribute('style') ?? '')) return true
  if (element.getAttribute('aria-hidden') !== 'true') return false
  // Others are marks that stand twice, or mean nothing: a reader sees the text of an accordion, and a formula.
  const isPanel = panels.has(element.getAttribute('id') ?? '') || /^(?:region|tabpanel)$/.test(roleOf(element))
  return !isPanel && !isAnswer(element, name) && !(name === 'IMG' && element.getAttribute('alt'))
}

/** Returns true for a block right behind a question, a heading, or what opens it. */
function isAnswer(element: PageElement, name: string): boolean {
  if (!/^(?:DIV|SECTION|P|DD|UL|OL|ARTICLE)$/.test(name)) return false
  let before = element.previousSibling
  while (before !== null && before.nodeType !== ELEMENT) before = before.previousSibling
  if (before === null) return false
  const opens = (before as PageElement).getAttribute('aria-expanded') !== null
  return opens || /^(?:H[1-6]|DT)$/.test(nameOf(before)) || /[?？]\s*$/.test(textOf(before))
}

const NO_PANELS: ReadonlySet<string> = new Set()

/**
 * The author of a quotation stands in its footer, the hours and address of a shop in that of the page, and what is
 * beside an article may be a remark in it.
 */
function isPartOfText(element: PageElement, name: string): boolean {
  if (name === 'FOOTER') return isWithin(element, ['BLOCKQUOTE']) || (isMostlyWords(element) && !isCopyright(element))
  return name === 'ASIDE' && isWithin(element, ['MAIN', 'ARTICLE']) && isMostlyWords(element)
}

/** Addresses to call or write to are words; links to other pages and what is left out anyway are none. */
function isMostlyWords(element: PageElement): boolean {
  const lengthOf = (one: PageElement): number => inOneLine(textOf(one)).length
  const left = ['nav', 'script', 'style'].flatMap((name) => elementsIn(element, name))
  const links = elementsIn(element, 'a').filter(
    (link) => !/^\s*(?:tel|mailto):/i.test(link.getAttribute('href') ?? '') && !isWithin(link, ['NAV']),
  )
  const sum = (all: readonly PageElement[]): number => all.reduce((length, one) => length + lengthOf(one), 0)
  return 2 * sum(links) < lengthOf(element) - sum(left)
}

function isCopyright(element: PageElement): boolean {
  return /^(?:©|\(c\)|copyright\b).{0,99}$/i.test(inOneLine(textOf(element)))
}

/** Returns the element whose children come next; undefined where they need no looking at. */
function tidied(element: PageElement, tidying: Tidying): PageElement | undefined {
  const rule = RULES[nameOf(element)]
  return rule === undefined ? element : rule(element, tidying)
}

type Rule = (element: PageElement, tidying: Tidying) => PageElement | undefined

const asBlock: Rule = (element) => renamed(element, 'div')
const asParagraph: Rule = (element) => renamed(element, 'p')

const RULES: Readonly<Record<string, Rule>> = {
  ...{ DETAILS: asBlock, DIALOG: asBlock, SEARCH: asBlock, OBJECT: asBlock, ASIDE: asBlock, NAV: asBlock },
  ...{ SUMMARY: asParagraph, LEGEND: asParagraph, CAPTION: asParagraph, FRAMESET: asBlock },
  BUTTON: button,
  INPUT: input,
  SELECT: select,
  TEXTAREA: (element) => asText(element, ` ${textOf(element)} `),
  PROGRESS: gauge,
  METER: gauge,
  [NO_SCRIPT]: noScript,
  IFRAME: frame,
  TEMPLATE: shadow,
  FRAME: (element) => linked(element, element.getAttribute('title') ?? element.getAttribute('name') ?? 'frame'),
  IMG: picture,
  VIDEO: (element) => recording(element, 'video'),
  AUDIO: (element) => recording(element, 'audio'),
  PRE: code,
  TABLE: table,
  MATH: (element) => raw(element, ` $${inOneLine(formulaOf(element))}$ `),
  RT: (element) => surrounded(element, '(', ')'),
  Q: (element) => surrounded(element, '“', '”'),
  A: anchor,
}

/** Words on a control that does something here, which is nothing to read; a question or a heading is. */
function button(element: PageElement): PageElement | undefined {
  const opens = element.getAttribute('aria-expanded') !== null || element.getAttribute('aria-controls') !== null
  if (isWithin(element, LABELLED)) return surrounded(element, ' ', ' ')
  if (opens) return renamed(element, 'p')
  return isControl(textOf(element)) ? remove(element) : surrounded(element, ' ', ' ')
}

const LABELLED = ['H1', 'H2', 'H3', 'H4', 'H5', 'H6', 'DT', 'TH', 'TD', 'LI', 'SUMMARY', 'CAPTION', 'LEGEND']

/** Returns true for a single short word, as `Copy` and `Share`. */
function isControl(label: string): boolean {
  return /^[^\s?？]{0,15}$/.test(inOneLine(label))
}

function input(element: PageElement): PageElement | undefined {
  const type = element.getAttribute('type')?.trim().toLowerCase() ?? 'text'
  const value = element.getAttribute('value') ?? ''
  if (type === 'checkbox' || type === 'radio')
    return raw(element, element.getAttribute('checked') === null ? '[ ] ' : '[x] ')
  if (/^(?:hidden|password|file|color|range)$/.test(type)) return remove(element)
  if (/^(?:submit|button|reset)$/.test(type) && isControl(value)) return remove(element)
  return asText(element, ` ${type === 'image' ? (element.getAttribute('alt') ?? '') : value} `)
}

const MOST_OPTIONS = 20

/** A reader sees the option that is selected, and can look at the others. */
function select(element: PageElement): PageElement | undefined {
  const options = elementsIn(element, 'option').filter((option) => !isHidden(option, 'OPTION'))
  const words = (option: PageElement): string => inOneLine(option.getAttribute('label') || textOf(option)).slice(0, 200)
  const chosen = options.filter((option) => option.getAttribute('selected') !== null)
  const shown = chosen.length > 0 ? chosen : options.slice(0, 1)
  const others = options.filter((option) => !shown.includes(option)).map(words)
  const left = others.length - MOST_OPTIONS
  const list = [...others.slice(0, MOST_OPTIONS), ...(left > 0 ? [`${left} more`] : [])].join(', ')
  return asText(element, ` ${shown.map(words).join(', ')}${list === '' ? '' : ` (or: ${list})`} `)
}

function gauge(element: PageElement): PageElement | undefined {
  const [value, most] = ['value', 'max'].map((name) => element.getAttribute(name))
  if (inOneLine(textOf(element)) !== '') return surrounded(element, ' ', ' ')
  return asText(element, value ? ` ${value}${most ? ` of ${most}` : ''} ` : '')
}

/** Words without scripts stand beside what the script would show; what is there already is not said again. */
function noScript(element: PageElement, { words }: Tidying): PageElement | undefined {
  const own = inOneLine(textOf(element))
  const pictures = elementsIn(element, 'img')
  for (const one of pictures) if (standsBeside(element, one)) remove(one)
  if (own !== '' && words().indexOf(own) !== words().lastIndexOf(own)) return remove(element)
  return own === '' && elementsIn(element, 'img').length === 0 ? remove(element) : renamed(element, 'div')
}

/** Returns true where a picture that a script would load stands around the element: with the same words or address. */
function standsBeside(element: PageElement, picture: PageElement): boolean {
  const around = [element.parentNode, element.parentNode?.parentNode].flatMap((one) => (one ? [one] : []))
  const own = [picture.getAttribute('alt') ?? '', addressOf(picture)]
  return around
    .filter((one) => one.children.length <= 20)
    .flatMap((one) => elementsIn(one, 'img'))
    .some(
      (other) =>
        !isWithin(other, [NO_SCRIPT]) &&
        [other.getAttribute('alt') ?? '', addressOf(other)].some((words) => words !== '' && own.includes(words)),
    )
}

/** A frame with its page in it is a part of this one; another is named where it has a name. */
function frame(element: PageElement): PageElement | undefined {
  const page = element.getAttribute('srcdoc')
  if (page === null) {
    const title = element.getAttribute('title') || element.getAttribute('aria-label')
    return title ? linked(element, title) : remove(element)
  }
  if (isWithin(element, ['X-FRAME'])) return remove(element)
  const own = element.ownerDocument.createElement('x-frame')
  const block = element.ownerDocument.createElement('div')
  block.innerHTML = withNoScript(page)
  own.appendChild(block)
  replace(element, own)
  return own
}

/** The nodes beside the template go into its slots; those without one stay behind it. */
function shadow(element: PageElement): PageElement | undefined {
  const block = element.ownerDocument.createElement('div')
  const { content } = element
  for (let node = content?.firstChild; node; node = content?.firstChild) block.appendChild(node)
  const slots = new Map(elementsIn(block, 'slot').map((slot) => [slot.getAttribute('name') ?? '', slot]))
  const filled = new Set<PageElement>()
  for (let node = element.parentNode?.firstChild ?? null; node !== null && slots.size > 0; ) {
    const next = node.nextSibling
    const slot = node === element ? undefined : slots.get(slotOf(node))
    if (slot !== undefined) {
      // Its own words stand in where there is no node for it.
      while (!filled.has(slot) && slot.firstChild !== null) slot.removeChild(slot.firstChild)
      filled.add(slot)
      slot.appendChild(node)
    }
    node = next
  }
  replace(element, block)
  return block
}

function slotOf(node: PageNode): string {
  return node.nodeType === ELEMENT ? ((node as PageElement).getAttribute('slot') ?? '') : ''
}

/** Names under which pages keep the address of a picture until a script loads it, the best first. */
const LAZY = ['data-src', 'data-original', 'data-lazy-src', 'data-lazy', 'data-original-src', 'data-url']

function addressOf(picture: PageElement): string {
  const lazy = LAZY.map((name) => picture.getAttribute(name)?.trim() ?? '').find((one) => one !== '')
  const src = picture.getAttribute('src')?.trim() ?? ''
  const isPlaceholder = src === '' || /^(?:data:|about:|#)/i.test(src)
  const sets = ['srcset', 'data-srcset'].map(
    (name) =>
      picture
        .getAttribute(name)
        ?.trim()
        .split(/[\s,]+/)[0] ?? '',
  )
  return lazy ?? (isPlaceholder ? (sets.find((one) => one !== '' && !one.startsWith('data:')) ?? '') : src)
}

function picture(element: PageElement): PageElement | undefined {
  const tex = /(?:math|tex|latex|equation)/i.test(element.getAttribute('class') ?? '') && element.getAttribute('alt')
  if (tex) {
    // The same formula may stand there as elements.
    return element.previousSibling?.nodeName === RAW
      ? remove(element)
      : raw(element, ` $${inOneLine(unwrapped(tex))}$ `)
  }
  element.setAttribute('src', addressOf(element))
  return undefined
}

/** A recording is its name, with the addresses of it and of its words. */
function recording(element: PageElement, kind: 'video' | 'audio'): PageElement | undefined {
  const { ownerDocument: document } = element
  const names = ['title', 'aria-label'].map((name) => element.getAttribute(name)?.trim() ?? '')
  const source = element.getAttribute('src') ?? elementsIn(element, 'source')[0]?.getAttribute('src')
  const paragraph = document.createElement('p')
  const add = (words: string, address: string | null | undefined): void => {
    if (paragraph.firstChild !== null) paragraph.appendChild(document.createTextNode(' '))
    paragraph.appendChild(linkTo(document, words, address))
  }
  add(`${kind}: ${names.find((one) => one !== '') ?? 'untitled'}`, source)
  for (const track of elementsIn(element, 'track').slice(0, 10))
    add(`${track.getAttribute('kind') ?? 'subtitles'}: ${trackName(track)}`, track.getAttribute('src'))
  const isNamed = source || names.some((one) => one !== '') || elementsIn(element, 'track').length > 0
  if (!isNamed) return remove(element)
  replace(element, paragraph)
  return undefined
}

function trackName(track: PageElement): string {
  return track.getAttribute('label') || track.getAttribute('srclang') || 'untitled'
}

function linked(element: PageElement, words: string): PageElement | undefined {
  const paragraph = element.ownerDocument.createElement('p')
  paragraph.appendChild(linkTo(element.ownerDocument, `frame: ${words}`, element.getAttribute('src')))
  replace(element, paragraph)
  return undefined
}

function linkTo(document: PageDocument, words: string, address: string | null | undefined): PageElement {
  const link = document.createElement('a')
  if (address) link.setAttribute('href', address)
  link.appendChild(document.createTextNode(words))
  return link
}

/** Marks behind a heading or a footnote that only lead to where they stand. */
function anchor(element: PageElement): PageElement | undefined {
  const isHere = element.getAttribute('href')?.trim().startsWith('#')
  return isHere &&
    /^(?:\s|[¶#§🔗∞⁋↩↑^]|\ufe0e|\ufe0f)*$/u.test(textOf(element)) &&
    elementsIn(element, 'img').length === 0
    ? remove(element)
    : element
}

const LINE_CLASS = /(?:^|\s)(?:[\w-]+-)?line(?:\s|$)/
const LINE_ELEMENTS: ReadonlySet<string> = new Set(['DIV', 'P', 'LI', 'TR'])
/** Classes of the numbers beside lines of code. */
const NUMBERS_CLASS = /(?:line-?no|line-?num|linenumber|lnum|gutter|hljs-ln-n|blob-num|\blnt\b|\bln\b)/i
const LANGUAGE = /(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?|sourceCode)[-:\s]+([\w+#-]{1,30})/

/** Code is the text of its lines, whatever a highlighter has put around them. */
function code(element: PageElement): undefined {
  const { ownerDocument: document } = element
  const language = languageOf(element)
  const inner = document.createElement('code')
  if (language !== undefined) inner.setAttribute('class', `language-${language}`)
  inner.appendChild(document.createTextNode(linesOf(element)))
  const block = document.createElement('pre')
  block.appendChild(inner)
  replace(element, block)
}

function languageOf(element: PageElement): string | undefined {
  const inner = elementsIn(element, 'code').slice(0, 1)
  const around = [element.parentNode, element.parentNode?.parentNode].flatMap((one) => (one ? [one] : []))
  for (const one of [...inner, element, ...around]) {
    const named = ['data-lang', 'data-language']
      .map((name) => one.getAttribute?.(name) ?? '')
      .find((word) => word !== '')
    const found = named ?? LANGUAGE.exec(one.getAttribute?.('class') ?? '')?.[1]
    if (found !== undefined && /^[\w+#-]{1,30}$/.test(found)) return found.toLowerCase()
  }
  return undefined
}

function linesOf(element: PageElement): string {
  let text = ''
  for (let node = element.firstChild; node !== null; ) {
    const past = pastNode(node, element)
    if (node.nodeType === TEXT) text += textOf(node)
    const isLeft = node.nodeType !== ELEMENT || isNoCode(node as PageElement)
    if (!isLeft && beginsLine(node as PageElement, text)) text += '\n'
    if (nameOf(node) === 'BR') text += '\n'
    node = isLeft ? past : (node.firstChild ?? past)
  }
  return text.replace(/^\n/, '')
}

function isNoCode(element: PageElement): boolean {
  const name = nameOf(element)
  if (NOISE.has(name) || name === 'BUTTON' || isHidden(element, name)) return true
  const isNumbers = NUMBERS_CLASS.test(element.getAttribute('class') ?? '') || element.getAttribute('data-line-number')
  return Boolean(isNumbers) && /^[\s\d]*$/.test(textOf(element))
}

function beginsLine(element: PageElement, text: string): boolean {
  if (text === '' || !isLine(element)) return false
  const before = element.previousSibling
  const isBehindLine = before?.nodeType === ELEMENT && isLine(before as PageElement)
  if (!isBehindLine) return !text.endsWith('\n')
  const last = elementsIn(before as PageElement, 'br').length > 0
  return !last && !textOf(before as PageElement).endsWith('\n')
}

function isLine(element: PageElement): boolean {
  return LINE_ELEMENTS.has(nameOf(element)) || LINE_CLASS.test(element.getAttribute('class') ?? '')
}

/** Cells that are added on a page. */
const MOST_CELLS = 10_000
const MOST_COLUMNS = 100

/** A table becomes a grid once nothing hidden is left in it, and a table of code its lines. */
function table(element: PageElement, tidying: Tidying): PageElement | undefined {
  const rows = rowsOf(element)
  if (isCode(rows)) return codeTable(element, rows)
  tidying.tables.push(element)
  return element
}

function hasSpans(rows: readonly PageElement[]): boolean {
  return rows.some((row) => cellsOf(row).some((cell) => spanOf(cell, 'colspan') + spanOf(cell, 'rowspan') > 2))
}

function rowsOf(element: PageElement): readonly PageElement[] {
  return Array.from(element.children).flatMap((part) => {
    if (nameOf(part) === 'TR') return [part]
    if (!/^T(?:HEAD|BODY|FOOT)$/.test(nameOf(part))) return []
    return Array.from(part.children).filter((one) => nameOf(one) === 'TR')
  })
}

function cellsOf(row: PageElement): readonly PageElement[] {
  return Array.from(row.children).filter((one) => /^T[HD]$/.test(nameOf(one)))
}

function spanOf(cell: PageElement, name: 'colspan' | 'rowspan'): number {
  const span = Number.parseInt(cell.getAttribute(name) ?? '1', 10)
  return span >= 1 ? Math.min(span, name === 'colspan' ? MOST_COLUMNS : 10_000) : 1
}

/** A cell that spans this row too, in the column of its place in a list, and the rows it spans further down. */
interface Spanning {
  readonly cell: PageElement
  readonly rows: number
}

type Columns = readonly (Spanning | undefined)[]

/** A cell that spans several rows stands in each of them. */
function fillGrid(rows: readonly PageElement[], tidying: Tidying): void {
  let above: Columns = []
  for (const row of rows) above = fillRow(row, above, tidying)
}

function fillRow(row: PageElement, above: Columns, tidying: Tidying): Columns {
  const next: (Spanning | undefined)[] = []
  let column = 0
  const takeAbove = (before: PageElement | null): void => {
    for (let held = above[column]; held !== undefined && held.rows > 0; held = above[++column]) {
      next[column] = { cell: held.cell, rows: held.rows - 1 }
      addCell(row, before, held.cell, tidying)
    }
  }
  const cells = cellsOf(row)
  for (const cell of cells) {
    takeAbove(cell)
    const [columns, rows] = [spanOf(cell, 'colspan'), spanOf(cell, 'rowspan') - 1]
    // A heading above several columns is one of each; a row that is one cell says it once.
    const repeated = nameOf(cell) === 'TH' && cells.length > 1 ? cell : undefined
    for (let at = 1; at < columns; at++) addCell(row, cell.nextSibling, repeated, tidying)
    for (let at = 0; at < columns; at++, column++) next[column] = { cell, rows }
  }
  takeAbove(null)
  return next
}

/** Adds a cell with the words of another, or without any. */
function addCell(row: PageElement, before: PageNode | null, like: PageElement | undefined, tidying: Tidying): void {
  if (tidying.cells-- <= 0) return
  const cell = tidying.document.createElement(like === undefined ? 'td' : nameOf(like))
  const words = inOneLine(like === undefined ? '' : textOf(like))
  if (words !== '' && words.length <= 200) cell.appendChild(tidying.document.createTextNode(words))
  row.insertBefore(cell, before)
}

const CODE_CLASS = /(?:^|[\s_-])(?:code|blob-code\S*|hljs-ln-code|line-content)(?:\s|$)/

/** Returns true for rows in which a cell of numbers stands beside one of code. */
function isCode(rows: readonly PageElement[]): boolean {
  const [first] = rows
  const cells = first === undefined ? [] : cellsOf(first)
  return cells.length > 1 && cells.some(isNumbers) && cells.some(holdsCode)
}

function isNumbers(cell: PageElement): boolean {
  return /^[\s\d]*$/.test(textOf(cell))
}

function holdsCode(cell: PageElement): boolean {
  if (isNumbers(cell)) return false
  return elementsIn(cell, 'pre').length > 0 || CODE_CLASS.test(cell.getAttribute('class') ?? '')
}

function codeTable(element: PageElement, rows: readonly PageElement[]): undefined {
  const { ownerDocument: document } = element
  const language = languageOf(element)
  const block = document.createElement('pre')
  if (language !== undefined) block.setAttribute('data-lang', language)
  const lines = rows.flatMap((row) =>
    cellsOf(row)
      .filter((cell) => !isNumbers(cell))
      .map(linesOf),
  )
  block.appendChild(document.createTextNode(lines.map((line) => line.replace(/\n$/, '')).join('\n')))
  replace(element, block)
  code(block)
}

/** Returns a formula as its author wrote it, or in a form that can be read. */
function formulaOf(element: PageElement): string {
  const own = element.getAttribute('alttext')
  const [source] = elementsIn(element, 'annotation').filter((one) => /tex/i.test(one.getAttribute('encoding') ?? ''))
  return unwrapped(own || (source === undefined ? '' : textOf(source)) || linear(element))
}

/** Takes off the mark of the size in which a formula is set. */
function unwrapped(tex: string): string {
  return tex.replace(/^\s*\{\\(?:display|text)style\s+(.*)\}\s*$/s, '$1')
}

function linear(element: PageElement): string {
  const parts = Array.from(element.children).filter((one) => !isHidden(one, nameOf(one)))
  const name = nameOf(element)
  if (element.children.length === 0) return inOneLine(textOf(element))
  if (name === 'ANNOTATION' || name === 'ANNOTATION-XML') return ''
  const [first = '', second = '', third = ''] = parts.map(linear)
  const whole = (words: string): string => (/^[\p{L}\p{N}.]*$/u.test(words) ? words : `(${words})`)
  if (name === 'MFRAC') return `${whole(first)}/${whole(second)}`
  if (name === 'MSUP' || name === 'MOVER') return `${whole(first)}^${whole(second)}`
  if (name === 'MSUB' || name === 'MUNDER') return `${whole(first)}_${whole(second)}`
  if (name === 'MSUBSUP' || name === 'MUNDEROVER') return `${whole(first)}_${whole(second)}^${whole(third)}`
  if (name === 'MROOT') return `root(${first}, ${second})`
  const words = parts.map(linear).join(name === 'MTR' ? ', ' : name === 'MTABLE' ? '; ' : '')
  return name === 'MSQRT' ? `sqrt(${words})` : words
}

function surrounded(element: PageElement, before: string, after: string): PageElement {
  const inline = renamed(element, 'span')
  inline.insertBefore(element.ownerDocument.createTextNode(before), inline.firstChild)
  inline.appendChild(element.ownerDocument.createTextNode(after))
  return inline
}
