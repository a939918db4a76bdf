import { decodeWestern, encodingOf } from '../core/read-text.ts'
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
import { readSheets } from './sheet-text.ts'
import { addressIn, CHECKED, LONGEST_CODE, readWord, UNCHECKED } from './word-text.ts'

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
    new RtfReader(Buffer.from(bytes).toString('latin1'), sink)
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
    this.#paragraph = new FormedText()
    this.#level = 0
    if (said === '' || this.#isLeftOut) return
    const line = said.replaceAll('\n', ' ')
    if (this.#cell !== undefined) this.#cell.push(line)
    else if (this.#number === undefined) this.#sink.line(said)
    else this.#sink.line(this.#isTitle ? `# ${line}` : `${'  '.repeat(level)}- ${line}`)
  }
}

async function readOpenDocument(zip: ZipParts, sink: TextSink): Promise<void> {
  const reader = new OpenDocumentReader(sink)
  await zip.read('styles.xml', { open: reader.styles })
  await zip.read('content.xml', reader, { until: sink })
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
  #lists = 0
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
    list: () => void this.#lists++,
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
    list: () => void this.#lists--,
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
    else this.#put(this.#lists > 0 ? `${'  '.repeat(Math.min(this.#lists, 9) - 1)}- ${said}` : said)
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

/** Groups that hold no words of the text. */
const NO_WORDS =
  /^(?:fonttbl|colortbl|stylesheet|info|pict|object|themedata|colorschememapping|datastore|latentstyles|rsidtbl|generator|listtable|listoverridetable|xmlnstbl|header[lrf]?|footer[lrf]?|filetbl|revtbl|nonshppict|shpinst)$/
const WORDS_OF: Readonly<Record<string, string>> = {
  ...{ par: '\n', line: '\n', sect: '\n', page: '\n', row: '\n', cell: ' | ', tab: '\t', emdash: '—', endash: '–' },
  ...{ bullet: '•', lquote: '‘', rquote: '’', ldblquote: '“', rdblquote: '”', '~': '\u00a0', _: '-' },
}
/** Words that give those behind them a form, and that take it from them. */
const RTF_FORMS: Readonly<Record<string, TextForm>> = {
  ...{ strike: 'struck', striked: 'struck', super: 'raised', nosupersub: '', sub: '', plain: '' },
}
/** Character sets of fonts, by their numbers. */
const FONT_SETS: Readonly<Record<string, string>> = {
  ...{
    0: 'windows-1252',
    128: 'shift_jis',
    129: 'euc-kr',
    134: 'gbk',
    136: 'big5',
    161: 'windows-1253',
    162: 'windows-1254',
  },
  ...{ 177: 'windows-1255', 178: 'windows-1256', 186: 'windows-1257', 204: 'windows-1251', 238: 'windows-1250' },
}

/** A link or a box of a form: the code of it, and where the words for it begin. */
interface RtfField {
  code: string
  from: number
  isChecked: boolean | undefined
}

interface RtfGroup {
  readonly isHidden: boolean
  readonly form: TextForm
  readonly field: RtfField | undefined
  /** It is the code of its field. */
  readonly isCode: boolean
  /** Characters behind one of Unicode that stand for it in older programs. */
  readonly fallback: number
  readonly encoding: string
}

const RTF_TOKEN = /\\([a-zA-Z]+)(-?\d+)? ?|\\'([\da-fA-F]{2})|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)/g

/** Reads a document in RTF, whose marks are words behind a backslash. */
class RtfReader {
  readonly #sink: TextSink
  readonly #fonts: ReadonlyMap<string, string>
  readonly #first: RtfGroup
  readonly #groups: RtfGroup[] = []
  #group: RtfGroup
  #text = new FormedText()
  /** Characters that stand for the one before them. */
  #left = 0
  #bytes: number[] = []

  constructor(rtf: string, sink: TextSink) {
    const page = /\\ansicpg(\d+)/.exec(rtf.slice(0, 1_000))?.[1] ?? '1252'
    const fonts = rtf.slice(0, FONT_TABLE).matchAll(/\\f(\d{1,6})[^{};]{0,200}?\\fcharset(\d{1,3})/g)
    this.#sink = sink
    this.#fonts = new Map([...fonts].map(([, font = '', set = '']) => [font, set]))
    const encoding = encodingOf(`windows-${page}`) ?? pageNamed(page)
    this.#first = { isHidden: false, form: '', field: undefined, isCode: false, fallback: 1, encoding }
    this.#group = this.#first
    for (const [, word, value, hex, symbol, brace, plain] of rtf.matchAll(RTF_TOKEN)) {
      if (sink.isFull) break
      if (hex !== undefined) this.#byte(hex)
      else if (word !== undefined) this.#control(word, value)
      else if (plain !== undefined) this.#plain(plain)
      else if (brace !== undefined) this.#brace(brace)
      else this.#symbol(symbol ?? '')
    }
    this.#flush()
    sink.line(this.#text.text)
  }

  #control(word: string, value: string | undefined): void {
    if (word === 'u') {
      this.#add(String.fromCharCode(Number(value) & 0xffff))
      this.#left = this.#group.fallback
    } else if (word === 'uc') this.#group = { ...this.#group, fallback: Number(value ?? 1) }
    else if (word === 'f') {
      this.#flush()
      this.#group = { ...this.#group, encoding: FONT_SETS[this.#fonts.get(value ?? '') ?? ''] ?? this.#first.encoding }
    } else if (NO_WORDS.test(word)) this.#hide()
    else if (Object.hasOwn(WORDS_OF, word)) this.#add(WORDS_OF[word] ?? '')
    else if (Object.hasOwn(RTF_FORMS, word)) this.#setForm(word, value === '0')
    else this.#fieldControl(word, value)
    if (this.#text.text.includes('\n')) this.#writeLines()
  }

  #setForm(word: string, isOff: boolean): void {
    this.#flush()
    const isKept = this.#group.form === 'struck' && /^(?:no)?su/.test(word)
    if (!isKept) this.#group = { ...this.#group, form: isOff ? '' : (RTF_FORMS[word] ?? '') }
  }

  #fieldControl(word: string, value: string | undefined): void {
    const { field } = this.#group
    if (word === 'field') this.#group = { ...this.#group, field: { code: '', from: 0, isChecked: undefined } }
    else if (word === 'fldinst') this.#group = { ...this.#group, isHidden: true, isCode: true }
    else if (word === 'fldrslt' && field !== undefined) field.from = this.#text.text.length
    // 25 is a box that nobody has touched: it is as it came.
    else if (word === 'ffres' && field !== undefined && value !== '25') field.isChecked = value === '1'
    else if (word === 'ffdefres' && field !== undefined) field.isChecked ??= value === '1'
  }

  #endField({ code, from, isChecked }: RtfField): void {
    const address = addressIn(code)
    if (/^\s*FORMCHECKBOX/.test(code)) this.#add(isChecked ? CHECKED : UNCHECKED)
    else if (address !== '' && !this.#text.text.slice(from).includes(address)) this.#add(` (${address})`)
  }

  #byte(hex: string): void {
    if (this.#left > 0) this.#left--
    else if (!this.#group.isHidden) this.#bytes.push(Number.parseInt(hex, 16))
  }

  #plain(words: string): void {
    const left = this.#left
    this.#left = Math.max(left - words.length, 0)
    if (left < words.length) this.#add(words.slice(left))
  }

  #brace(brace: string): void {
    this.#flush()
    if (brace === '{') {
      this.#groups.push(this.#group)
      return
    }
    const { field } = this.#group
    this.#group = this.#groups.pop() ?? this.#first
    if (field !== undefined && field !== this.#group.field) this.#endField(field)
  }

  #symbol(symbol: string): void {
    if (symbol === '*') this.#hide()
    else this.#add(WORDS_OF[symbol] ?? (/[\\{}]/.test(symbol) ? symbol : ''))
  }

  #hide(): void {
    this.#group = { ...this.#group, isHidden: true }
  }

  #add(words: string): void {
    this.#flush()
    const { isHidden, isCode, field, form } = this.#group
    if (!isHidden) this.#text.add(words, form)
    else if (isCode && field !== undefined && field.code.length < LONGEST_CODE) field.code += words
  }

  /** Bytes of one character may be written apart. */
  #flush(): void {
    if (this.#bytes.length === 0) return
    const [{ encoding, form }, bytes] = [this.#group, Uint8Array.from(this.#bytes)]
    this.#bytes = []
    const words = encoding === 'windows-1252' ? decodeWestern(bytes) : new TextDecoder(encoding).decode(bytes)
    this.#text.add(words, form)
  }

  #writeLines(): void {
    const lines = this.#text.text.split('\n')
    this.#text = new FormedText(lines.pop() ?? '')
    for (const line of lines) this.#sink.line(line.replace(/[ |]+$/, ''))
  }
}

/** Characters at the beginning in which the fonts stand. */
const FONT_TABLE = 200_000

function pageNamed(page: string): string {
  return { 932: 'shift_jis', 936: 'gbk', 949: 'euc-kr', 950: 'big5', 866: 'ibm866' }[page] ?? 'windows-1252'
}
