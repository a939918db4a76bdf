import { ordinal } from '../core/ordinal.ts'
import {
  type Attributes,
  attribute,
  FormedText,
  formulaReader,
  isLockedOpenDocument,
  type PartReader,
  type Relation,
  readBook,
  readDrawn,
  relationId,
  type TextForm,
  TextSink,
  TRACKED,
  ZipParts,
} from './office-parts.ts'
import { readRtf } from './rtf-text.ts'
import { readSheets } from './sheet-text.ts'
import { readWord } from './word-text.ts'

/** The outcome of reading a document. */
export type OfficeText =
  | { readonly kind: 'text'; readonly text: string; readonly isCut: boolean; readonly note: string }
  | { readonly kind: 'unread'; readonly reason: string }
  /** It is an archive of other files. */
  | { readonly kind: 'names'; readonly names: readonly string[] }

const LOCKED: OfficeText = { kind: 'unread', reason: 'a document that only a password opens' }

/** Returns the text of a document of an office program, with its structure in marks. Throws for one that is damaged. */
export async function readOffice(bytes: Uint8Array, longest: number, isLate: () => boolean): Promise<OfficeText> {
  const sink = new TextSink(longest, isLate)
  if (Buffer.from(bytes.subarray(0, 5)).toString('latin1') === '{\\rtf') {
    readRtf(bytes, sink)
    return { kind: 'text', text: sink.text.trim(), isCut: sink.isCut, note: sink.note }
  }
  const zip = new ZipParts(bytes)
  const read = await readerOf(zip)
  if (typeof read !== 'function') return read
  if (zip.isEncrypted) return LOCKED
  await read(sink).catch((error: unknown) => {
    // The text in front of a damaged part is better than nothing.
    if (sink.text.trim() === '') throw error
    sink.isCut = true
  })
  return { kind: 'text', text: sink.text.trim(), isCut: sink.isCut, note: sink.note }
}

/** The kinds of other documents, each by a part that it has. */
const NOT_READ: readonly (readonly [RegExp, string])[] = [
  [/^xl\/workbook\.bin$/, 'a binary workbook (.xlsb), which cannot be read here; saved as .xlsx it can'],
  [
    /^Index\/.*\.iwa$|^index\.(?:apxl|xml)\.gz$/,
    'a document of Pages, Numbers or Keynote, which cannot be read here; exported as PDF or to an Office format it can',
  ],
]

async function readerOf(zip: ZipParts): Promise<OfficeText | ((sink: TextSink) => Promise<void>)> {
  const main = await mainPart(zip)
  if (main !== undefined && /(?:^|\/)document\d*\.xml$/.test(main)) return (sink) => readWord(zip, main, sink)
  if (main !== undefined && /(?:^|\/)workbook\d*\.xml$/.test(main)) return (sink) => readSheets(zip, main, sink)
  if (main !== undefined && /(?:^|\/)presentation\d*\.xml$/.test(main)) return (sink) => readSlides(zip, main, sink)
  if (zip.has('META-INF/container.xml')) return (sink) => readBook(zip, sink)
  if (zip.has('content.xml') && zip.has('META-INF/manifest.xml')) {
    if (await isLockedOpenDocument(zip)) return LOCKED
    return (sink) => readOpenDocument(zip, sink)
  }
  const reason = NOT_READ.find(([part]) => zip.names.some((name) => part.test(name)))?.[1]
  return reason === undefined ? { kind: 'names', names: zip.names } : { kind: 'unread', reason }
}

/** Returns the part that the others belong to, which the root of the archive names. */
async function mainPart(zip: ZipParts): Promise<string | undefined> {
  const roots = await zip.relations('')
  return [...roots.values()].find(({ type, isOutside }) => !isOutside && type.endsWith('/officeDocument'))?.target
}

async function readSlides(zip: ZipParts, main: string, sink: TextSink): Promise<void> {
  const relations = await zip.relations(main)
  const slides: string[] = []
  await zip.read(main, {
    open: {
      sldId: (attributes) => void slides.push(relations.get(relationId(attributes) ?? '')?.target ?? ''),
    },
  })
  for (const [index, slide] of slides.entries()) {
    if (sink.isFull) {
      sink.isCut = true
      return
    }
    const own = await zip.relations(slide)
    sink.line('')
    await zip.read(slide, new SlideReader(sink, own, index + 1), { until: sink })
    await readDrawn(zip, own, sink)
    const notes = [...own.values()].find(({ type }) => type.endsWith('/notesSlide'))?.target
    if (notes === undefined) continue
    const said = new TextSink(sink.text.length + NOTES)
    await zip.read(notes, new SlideReader(said, await zip.relations(notes)), { until: said })
    if (said.text.trim() !== '') sink.line(`Notes: ${said.text.trim()}`)
  }
}

/** Characters of the notes of one slide. */
const NOTES = 20_000
/** Fields that say no more than where a slide stands, and the picture of the slide above its notes. */
const OF_THE_PAGE = /^(?:sldNum|dt|ftr|hdr|sldImg)$/

const SLIDE_NUMBERS: Readonly<Record<string, string>> = {
  ...{ alphaLc: 'lowerLetter', alphaUc: 'upperLetter', romanLc: 'lowerRoman', romanUc: 'upperRoman' },
}

/** Reads a slide with its number, or the notes of one, which have none. */
class SlideReader implements PartReader {
  /** A second form of the same picture. */
  readonly skip = new Set(['Fallback'])
  readonly #sink: TextSink
  readonly #relations: ReadonlyMap<string, Relation>
  readonly #number: number | undefined
  #paragraph = new FormedText()
  #form: TextForm = ''
  #inText = false
  #isTitle = false
  #isLeftOut = false
  #level = 0
  #numbering: { readonly type: string; readonly start: number } | undefined
  /** The numbers of the last items, by their levels. */
  #counts: number[] = []
  #row: string[] = []
  #cell: string[] | undefined
  #link: string | undefined

  constructor(sink: TextSink, relations: ReadonlyMap<string, Relation>, number?: number) {
    this.#sink = sink
    this.#relations = relations
    this.#number = number
  }

  readonly #formula = formulaReader(() => this.#paragraph)

  readonly open: NonNullable<PartReader['open']> = {
    ...this.#formula.open,
    sld: ({ show = '1' }) => this.#sink.line(`Slide ${this.#number}${/^(?:0|false)$/.test(show) ? ' (hidden)' : ''}:`),
    sp: () => this.#setShape(''),
    ph: ({ type = '' }) => this.#setShape(type),
    tr: () => {
      this.#row = []
    },
    tc: () => {
      this.#cell = []
    },
    pPr: ({ lvl = '0' }) => {
      this.#level = Math.min(Number(lvl) || 0, 8)
    },
    buAutoNum: ({ type = '', startAt = '1' }) => {
      this.#numbering = { type, start: Number(startAt) || 1 }
    },
    t: () => {
      this.#inText = true
    },
    r: () => this.#setForm(''),
    fld: () => this.#setForm(''),
    br: () => this.#paragraph.add('\n'),
    rPr: ({ strike = '', baseline = '' }) => {
      const isRaised = Number.parseInt(baseline, 10) > 0
      this.#setForm(/^(?:sng|dbl)Strike$/.test(strike) ? 'struck' : isRaised ? 'raised' : '')
    },
    hlinkClick: (attributes) => {
      this.#link = this.#relations.get(relationId(attributes) ?? '')?.target
    },
    cNvPr: ({ descr = '' }) => {
      if (descr.trim() !== '' && this.#number !== undefined) this.#sink.line(`[picture: ${descr.trim()}]`)
    },
  }

  readonly close: NonNullable<PartReader['close']> = {
    ...this.#formula.close,
    t: () => {
      this.#inText = false
    },
    r: () => {
      const link = this.#link ?? ''
      if (/^https?:/.test(link) && !this.#paragraph.text.includes(link)) this.#paragraph.add(` (${link})`)
      this.#link = undefined
    },
    p: () => this.#endParagraph(),
    tc: () => {
      this.#row.push((this.#cell ?? []).join(' '))
      this.#cell = undefined
    },
    tr: () => this.#sink.line(this.#row.join(' | ')),
  }

  readonly text = (words: string): void => {
    if (this.#inText) this.#paragraph.add(words, this.#form)
  }

  #setForm(form: TextForm): void {
    this.#form = form
  }

  #setShape(type: string): void {
    this.#isTitle = type === 'title' || type === 'ctrTitle'
    this.#isLeftOut = OF_THE_PAGE.test(type)
  }

  #endParagraph(): void {
    const [said, level] = [this.#paragraph.text.trim(), this.#level]
    const mark = said === '' ? '' : this.#nextMark()
    this.#paragraph = new FormedText()
    this.#level = 0
    this.#numbering = undefined
    if (said === '' || this.#isLeftOut) return
    const line = said.replaceAll('\n', ' ')
    if (this.#cell !== undefined) this.#cell.push(line)
    else if (this.#number === undefined) this.#sink.line(said)
    else this.#sink.line(this.#isTitle ? `# ${line}` : `${'  '.repeat(level)}${mark} ${line}`)
  }

  #nextMark(): string {
    const [numbering, level] = [this.#numbering, this.#level]
    this.#counts = this.#counts.slice(0, level + (numbering === undefined ? 0 : 1))
    if (numbering === undefined) return '-'
    const count = (this.#counts[level] ?? numbering.start - 1) + 1
    this.#counts[level] = count
    const [, kind = '', form = 'Period'] =
      /^(alphaLc|alphaUc|romanLc|romanUc)?.*?(Period|ParenR|ParenBoth|Plain)?$/.exec(numbering.type) ?? []
    const number = ordinal(count, SLIDE_NUMBERS[kind] ?? 'decimal')
    return { Period: `${number}.`, ParenR: `${number})`, ParenBoth: `(${number})`, Plain: number }[form] ?? `${number}.`
  }
}

async function readOpenDocument(zip: ZipParts, sink: TextSink): Promise<void> {
  const reader = new OpenDocumentReader(sink)
  await zip.read('styles.xml', { open: reader.styles })
  await zip.read('content.xml', reader, { until: sink })
}

/** The numbering of a level of a list. `shown`: the levels whose numbers stand with each item. */
interface OpenLevel {
  readonly before: string
  readonly behind: string
  readonly start: number
  readonly shown: number
  readonly format: string
}

const OPEN_NUMBERS: Readonly<Record<string, string>> = {
  ...{ 1: 'decimal', a: 'lowerLetter', A: 'upperLetter', i: 'lowerRoman', I: 'upperRoman' },
}

/** Rows and cells that are only repeated, which fills a sheet to its last row. */
const MOST_REPEATED = 100
const LONGEST_REPEATED = 200

/** Reads the content of a text, sheet or presentation in the format of OpenDocument. */
class OpenDocumentReader implements PartReader {
  readonly skip = new Set(['annotation', 'changed-region', 'deletion'])
  readonly #sink: TextSink
  readonly #texts: { readonly words: FormedText; readonly heading: number }[] = []
  readonly #rows: { readonly cells: string[]; readonly times: number }[] = []
  readonly #cells: { readonly lines: string[]; readonly times: number }[] = []
  readonly #links: string[] = []
  /** The lists around the words, with the number of the last item, and how each level of a style is numbered. */
  readonly #lists: { readonly style: string; count: number }[] = []
  readonly #levels = new Map<string, OpenLevel>()
  #listStyle = ''
  /** The number with which a list of a style ended, which another may continue. */
  readonly #ended = new Map<string, number>()
  #mark = '- '
  #slides = 0
  #inNotes = false
  #inSheets = false
  #style = ''
  readonly #formOf = new Map<string, TextForm>()
  /** The forms of the elements that the words are in. */
  readonly #forms: TextForm[] = []

  constructor(sink: TextSink) {
    this.#sink = sink
  }

  /** The handlers of styles, which also stand in a part of their own. */
  readonly styles: NonNullable<PartReader['open']> = {
    'list-style': (attributes) => {
      this.#listStyle = attribute(attributes, 'name') ?? ''
    },
    'list-level-style-number': (attributes) => {
      const [before, behind] = [attribute(attributes, 'num-prefix') ?? '', attribute(attributes, 'num-suffix') ?? '']
      const [start, shown] = [countOf(attributes, 'start-value'), countOf(attributes, 'display-levels')]
      const format = OPEN_NUMBERS[attribute(attributes, 'num-format') ?? ''] ?? 'none'
      this.#levels.set(`${this.#listStyle} ${countOf(attributes, 'level')}`, { before, behind, start, shown, format })
    },
    style: (attributes) => {
      this.#style = attribute(attributes, 'name') ?? ''
      this.#formOf.set(this.#style, this.#formOf.get(attribute(attributes, 'parent-style-name') ?? '') ?? '')
    },
    'text-properties': (attributes) => {
      const line = attribute(attributes, 'text-line-through-style') ?? attribute(attributes, 'text-line-through-type')
      const isRaised = /^(?:super|[1-9])/.test(attribute(attributes, 'text-position') ?? '')
      if (line !== undefined) this.#formOf.set(this.#style, line === 'none' ? '' : 'struck')
      else if (isRaised) this.#formOf.set(this.#style, 'raised')
    },
  }

  readonly open: NonNullable<PartReader['open']> = {
    ...this.styles,
    // An empty list of changes stands there too.
    'changed-region': () => {
      this.#sink.note = TRACKED
    },
    p: (attributes) => this.#openText(attributes, 0),
    h: (attributes) => this.#openText(attributes, countOf(attributes, 'outline-level')),
    span: (attributes) => this.#openForm(attributes),
    list: (attributes) => this.#openList(attributes),
    'list-item': (attributes) => this.#nextItem(attribute(attributes, 'start-value')),
    spreadsheet: () => {
      this.#inSheets = true
    },
    table: (attributes) => {
      if (this.#cells.length > 0) return
      this.#put('')
      if (this.#inSheets) this.#put(`Sheet “${attribute(attributes, 'name') ?? ''}”:`)
    },
    'table-row': (attributes) =>
      void this.#rows.push({ cells: [], times: countOf(attributes, 'number-rows-repeated') }),
    'table-cell': (attributes) => this.#openCell(attributes),
    'covered-table-cell': (attributes) => this.#openCell(attributes),
    page: () => {
      this.#put('')
      this.#put(`Slide ${++this.#slides}:`)
    },
    notes: () => {
      this.#inNotes = true
    },
    s: (attributes) => this.#add(' '.repeat(Math.min(countOf(attributes, 'c'), MOST_REPEATED))),
    tab: () => this.#add('\t'),
    'line-break': () => this.#add('\n'),
    'note-citation': () => this.#add('['),
    a: (attributes) => void this.#links.push(attribute(attributes, 'href') ?? ''),
  }

  readonly close: NonNullable<PartReader['close']> = {
    p: () => this.#endText(),
    h: () => this.#endText(),
    span: () => void this.#forms.pop(),
    list: () => {
      const { style = '', count = 0 } = this.#lists.pop() ?? {}
      this.#ended.set(`${style} ${this.#lists.length}`, count)
    },
    'table-cell': () => this.#endCell(),
    'covered-table-cell': () => this.#endCell(),
    'table-row': () => this.#endRow(),
    notes: () => {
      this.#inNotes = false
    },
    'note-citation': () => this.#add('] '),
    a: () => {
      const link = this.#links.pop() ?? ''
      if (/^https?:/.test(link) && !this.#texts.at(-1)?.words.text.includes(link)) this.#add(` (${link})`)
    },
  }

  readonly text = (words: string): void => this.#add(words, this.#forms.at(-1))

  #openForm(attributes: Attributes): void {
    const own = this.#formOf.get(attribute(attributes, 'style-name') ?? '') || this.#forms.at(-1)
    this.#forms.push(own ?? '')
  }

  #openText(attributes: Attributes, heading: number): void {
    this.#openForm(attributes)
    this.#texts.push({ words: new FormedText(), heading })
  }

  #add(words: string, form?: TextForm): void {
    this.#texts.at(-1)?.words.add(words, form)
  }

  #put(words: string): void {
    const cell = this.#cells.at(-1)
    if (cell !== undefined) cell.lines.push(words)
    else this.#sink.line(words)
  }

  #endText(): void {
    const { words, heading = 0 } = this.#texts.pop() ?? {}
    this.#forms.pop()
    const said = (words?.text ?? '').replace(/[^\S\n]+/g, ' ').trim()
    if (said === '') return
    if (this.#inNotes) this.#put(`Notes: ${said}`)
    else if (heading > 0) this.#put(`${'#'.repeat(Math.min(heading, 9))} ${said}`)
    else
      this.#put(
        this.#lists.length > 0 ? `${'  '.repeat(Math.min(this.#lists.length, 9) - 1)}${this.#mark}${said}` : said,
      )
    // A further paragraph of an item has no mark of its own.
    this.#mark = '  '
  }

  /** A list within an item has the style of the list around it. */
  #openList(attributes: Attributes): void {
    const style = attribute(attributes, 'style-name') ?? this.#lists.at(-1)?.style ?? ''
    const continues = attribute(attributes, 'continue-numbering') === 'true' || attribute(attributes, 'continue-list')
    const start = this.#levels.get(`${style} ${this.#lists.length + 1}`)?.start ?? 1
    const ended = continues ? this.#ended.get(`${style} ${this.#lists.length}`) : undefined
    this.#lists.push({ style, count: ended ?? start - 1 })
  }

  #nextItem(start: string | undefined): void {
    const list = this.#lists.at(-1)
    if (list === undefined) return
    list.count = start === undefined ? list.count + 1 : Number(start) || 1
    const level = this.#levels.get(`${list.style} ${this.#lists.length}`)
    const { before = '', behind = '', shown = 1, format = 'none' } = level ?? {}
    const numbers = this.#lists.slice(-shown).map(({ count }) => ordinal(count, format))
    this.#mark = format === 'none' ? '- ' : `${before}${numbers.join('.')}${behind} `
  }

  #openCell(attributes: Attributes): void {
    this.#openForm(attributes)
    this.#cells.push({ lines: [], times: countOf(attributes, 'number-columns-repeated') })
  }

  /** The empty cells at the end of a row are left out when it ends. */
  #endCell(): void {
    const { lines = [], times = 1 } = this.#cells.pop() ?? {}
    this.#forms.pop()
    const said = lines.join(' ').replaceAll('\n', ' ')
    const shown = said.length > LONGEST_REPEATED ? 1 : Math.min(times, MOST_REPEATED)
    for (let left = shown; left > 0; left--) this.#rows.at(-1)?.cells.push(said)
  }

  #endRow(): void {
    const row = this.#rows.pop()
    const said = (row?.cells ?? []).join(' | ').replace(/[ |]+$/, '')
    if (said === '') return
    for (let left = Math.min(row?.times ?? 1, MOST_REPEATED); left > 0; left--) this.#put(said)
  }
}

function countOf(attributes: Attributes, name: string): number {
  return Number(attribute(attributes, name) ?? 1) || 1
}
