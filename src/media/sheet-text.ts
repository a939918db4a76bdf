import { format } from 'numfmt'
import {
  type Attributes,
  FormedText,
  isOn,
  type PartReader,
  readDrawn,
  relationId,
  struckThrough,
  type TextForm,
  type TextSink,
  type ZipParts,
} from './office-parts.ts'

/** Writes the text of a .xlsx: each sheet by its name, each row with what its cells show. */
export async function readSheets(zip: ZipParts, main: string, sink: TextSink): Promise<void> {
  const relations = await zip.relations(main)
  const partOf = (type: string): string =>
    [...relations.values()].find((one) => one.type.endsWith(`/${type}`))?.target ?? ''
  const sheets: { readonly name: string; readonly id: string; readonly state: string }[] = []
  let from1904 = false
  await zip.read(main, {
    open: {
      workbookPr({ date1904 = '' }) {
        from1904 = /^(?:1|true)$/.test(date1904)
      },
      sheet(attributes) {
        const { name = '', state = 'visible' } = attributes
        sheets.push({ name, id: relationId(attributes) ?? '', state })
      },
    },
  })
  const styles = await readStyles(zip, partOf('styles'))
  const strings = await readStrings(zip, partOf('sharedStrings'))
  for (const { name, id, state } of sheets) {
    sink.line('')
    sink.line(`Sheet “${name}”${state === 'visible' ? '' : ' (hidden)'}:`)
    const part = relations.get(id)?.target ?? ''
    const beside = await readBeside(zip, part, sink)
    const reader = new SheetReader(sink, { strings, styles, from1904 }, beside)
    await zip.read(part, reader, { until: sink })
    for (const [place, words] of beside) sink.line(`${place}:${words}`)
    await readDrawn(zip, await zip.relations(part), sink)
  }
}

/** Characters of the addresses and notes of a sheet; of more only the first are kept. */
const MOST_BESIDE = 1_000_000

/** Returns the words that belong to cells but stand elsewhere, by their places: addresses behind them, and notes. */
async function readBeside(zip: ZipParts, part: string, until: TextSink): Promise<Map<string, string>> {
  const beside = new Map<string, string>()
  let kept = 0
  const add = (place: string, words: string): void => {
    kept += words.length
    if (place !== '' && words !== '' && kept <= MOST_BESIDE) beside.set(place, `${beside.get(place) ?? ''} (${words})`)
  }
  const relations = await zip.relations(part)
  const all = [...relations.values()]
  // They stand behind all cells.
  if (all.some(({ type, isOutside }) => isOutside && type.endsWith('/hyperlink'))) {
    const hyperlink = (attributes: Attributes): void => {
      const { target = '', isOutside = false } = relations.get(relationId(attributes) ?? '') ?? {}
      if (isOutside) add(/^[A-Z]+\d+/.exec(attributes.ref ?? '')?.[0] ?? '', target)
    }
    await zip.read(part, { open: { hyperlink } }, { until })
  }
  let [place, note, inText] = ['', '', false]
  const notes: PartReader = {
    skip: PRONUNCIATION,
    open: {
      comment({ ref = '' }) {
        place = ref
        note = ''
      },
      t() {
        inText = true
      },
    },
    text(words) {
      if (inText && kept + note.length < MOST_BESIDE) note += words
    },
    close: {
      t() {
        inText = false
      },
      comment: () => add(place, note.trim() === '' ? '' : `note: ${inCell(note.trim())}`),
    },
  }
  for (const { type, target } of all) if (type.endsWith('/comments')) await zip.read(target, notes, { until })
  return beside
}

/** Characters of all texts that cells share; of more only the first are kept. */
const MOST_SHARED = 16_000_000

async function readStrings(zip: ZipParts, part: string): Promise<readonly string[]> {
  const strings: string[] = []
  let [text, inText, kept] = [new FormedText(), false, 0]
  let form: TextForm = ''
  await zip.read(part, {
    skip: PRONUNCIATION,
    open: {
      si() {
        text = new FormedText()
        form = ''
      },
      r() {
        form = ''
      },
      strike(attributes) {
        if (isOn(attributes)) form = 'struck'
      },
      vertAlign({ val }) {
        if (val === 'superscript' && form === '') form = 'raised'
      },
      t() {
        inText = true
      },
    },
    text(words) {
      if (inText && kept < MOST_SHARED) text.add(words, form)
    },
    close: {
      t() {
        inText = false
      },
      si() {
        kept += text.text.length
        strings.push(text.text)
      },
    },
  })
  return strings
}

/** It stands beside the characters that are read so. */
const PRONUNCIATION = new Set(['rPh'])

/** Formats that every program knows by their numbers. */
const BUILT_IN: Readonly<Record<number, string>> = {
  ...{ 1: '0', 2: '0.00', 3: '#,##0', 4: '#,##0.00', 9: '0%', 10: '0.00%', 14: 'yyyy-mm-dd', 15: 'yyyy-mm-dd' },
  ...{ 16: 'dd-mmm', 17: 'mmm-yy', 18: 'h:mm', 19: 'h:mm:ss', 20: 'h:mm', 21: 'h:mm:ss', 22: 'yyyy-mm-dd h:mm' },
  ...{ 37: '#,##0', 38: '#,##0', 39: '#,##0.00', 40: '#,##0.00', 45: 'mm:ss', 46: '[h]:mm:ss', 47: 'mm:ss' },
}

/** Dates in the calendars of East Asia, by their numbers alone. */
function builtIn(id: number): string {
  return BUILT_IN[id] ?? ((id >= 27 && id <= 36) || (id >= 50 && id <= 58) ? 'yyyy-mm-dd' : '')
}

/** Characters of a format, of which the program itself takes no more. */
const LONGEST_FORMAT = 255

interface CellStyle {
  readonly format: string
  readonly isStruck: boolean
}

/** Returns the styles of cells by their numbers. */
async function readStyles(zip: ZipParts, part: string): Promise<readonly CellStyle[]> {
  const own = new Map<number, string>()
  const struck: boolean[] = []
  const styles: CellStyle[] = []
  let inside: 'fonts' | 'cells' | undefined
  const enter = (where: typeof inside) => (): void => {
    inside = where
  }
  await zip.read(part, {
    open: {
      numFmt: ({ numFmtId, formatCode = '' }) => void own.set(Number(numFmtId), formatCode.slice(0, LONGEST_FORMAT)),
      fonts: enter('fonts'),
      font() {
        if (inside === 'fonts') struck.push(false)
      },
      strike(attributes) {
        if (inside === 'fonts') struck[struck.length - 1] = isOn(attributes)
      },
      cellXfs: enter('cells'),
      xf({ numFmtId, fontId }) {
        const format = own.get(Number(numFmtId)) ?? builtIn(Number(numFmtId))
        if (inside === 'cells') styles.push({ format, isStruck: struck[Number(fontId)] ?? false })
      },
    },
    close: { fonts: enter(undefined), cellXfs: enter(undefined) },
  })
  return styles
}

interface Book {
  readonly strings: readonly string[]
  readonly styles: readonly CellStyle[]
  readonly from1904: boolean
}

/** Cells that are left empty between two others of a row; a cell behind more of them is named by its place. */
const MOST_EMPTY = 16

interface Cell {
  readonly place: string
  readonly type: string
  readonly style: number
  value: string
  formula: string
}

/** Writes each row of a sheet that has something in it. */
class SheetReader implements PartReader {
  readonly skip = PRONUNCIATION
  readonly #sink: TextSink
  readonly #book: Book
  readonly #beside: Map<string, string>
  #row = ''
  #no = 0
  #isHidden = false
  /** The number of the last row that is in the text. */
  #shown = 0
  #column = -1
  #inside: 'value' | 'formula' | undefined
  #cell: Cell = { place: '', type: '', style: 0, value: '', formula: '' }

  /** The words `beside` cells are taken out as they are shown. */
  constructor(sink: TextSink, book: Book, beside: Map<string, string>) {
    this.#sink = sink
    this.#book = book
    this.#beside = beside
  }

  readonly open: NonNullable<PartReader['open']> = {
    row: ({ r, hidden = '' }) => {
      this.#row = ''
      this.#column = -1
      this.#no = Number(r) || this.#no + 1
      this.#isHidden = /^(?:1|true)$/.test(hidden)
    },
    c: ({ r: place = '', t: type = 'n', s: style = '0' }) => {
      this.#cell = { place, type, style: Number(style), value: '', formula: '' }
    },
    v: () => this.#enter('value'),
    t: () => this.#enter('value'),
    f: () => this.#enter('formula'),
  }

  readonly close: NonNullable<PartReader['close']> = {
    v: () => this.#enter(undefined),
    t: () => this.#enter(undefined),
    f: () => this.#enter(undefined),
    c: () => {
      // Many cells may show the same long text.
      if (this.#row.length < this.#sink.room) this.#endCell()
    },
    row: () => this.#endRow(),
  }

  readonly text = (words: string): void => {
    if (this.#inside !== undefined) this.#cell[this.#inside] += words
  }

  #enter(inside: 'value' | 'formula' | undefined): void {
    this.#inside = inside
  }

  /** A row behind others that are left out is named by its number. */
  #endRow(): void {
    if (this.#row.trim() === '') return
    const isNext = this.#no === this.#shown + 1
    const name = isNext && !this.#isHidden ? '' : `row ${this.#no}${this.#isHidden ? ' (hidden)' : ''}: `
    this.#sink.line(name + this.#row)
    this.#shown = this.#no
  }

  #endCell(): void {
    const { place } = this.#cell
    const column = place === '' ? this.#column + 1 : columnOf(place)
    const said = inCell(shownOf(this.#cell, this.#book))
    const own = this.#book.styles[this.#cell.style]?.isStruck ? struckThrough(said) : said
    const shown = `${own}${this.#beside.get(place) ?? ''}`.trim()
    this.#beside.delete(place)
    // Without places each cell counts, with them those that say something.
    if (shown === '' && place !== '') return
    const empty = Math.max(column - this.#column - 1, 0)
    const isFar = empty > MOST_EMPTY
    const between = ' | '.repeat(isFar ? (this.#row === '' ? 0 : 1) : empty + (this.#column < 0 ? 0 : 1))
    this.#row += `${between}${isFar ? `${place}: ` : ''}${shown}`
    this.#column = column
  }
}

/** Returns a text as one line of a cell, its characters that XML cannot hold, as `_x000D_`, in their own form. */
function inCell(text: string): string {
  const characters = text.includes('_x') ? text.replace(/_x([0-9a-f]{4})_/gi, (_all, hex) => characterOf(hex)) : text
  return characters.replace(/\s*[\r\n]\s*/g, ' / ')
}

function characterOf(hex: string): string {
  const code = Number.parseInt(hex, 16)
  return code >= 32 || /\s/.test(String.fromCharCode(code)) ? String.fromCharCode(code) : ''
}

/** Returns the number of a column by the letters of a place, from 0 on. */
function columnOf(place: string): number {
  let column = 0
  for (const letter of /^[A-Z]{1,3}/.exec(place)?.[0] ?? 'A') column = 26 * column + letter.charCodeAt(0) - 64
  return column - 1
}

/** A cell that shows a word in place of the address that stands in its formula, as online tables write links. */
const LINK = /^\s*HYPERLINK\(\s*"([^"]{1,2000})"/i

function shownOf({ type, value, style, formula }: Cell, { strings, styles, from1904 }: Book): string {
  // A program that computes nothing leaves the value out.
  if (value === '') return formula === '' ? '' : `=${formula}`
  const [, address] = LINK.exec(formula) ?? []
  if (address !== undefined && address !== value) return `${value} (${address})`
  if (type === 's') return strings[Number(value)] ?? ''
  if (type === 'b') return value === '1' ? 'TRUE' : 'FALSE'
  if (type !== 'n') return value
  const number = Number(value)
  return Number.isFinite(number) ? formatted(number, styles[style]?.format ?? '', from1904) : value
}

/** Returns a number as its cell shows it, but dates as ISO writes them, and large numbers with all their digits. */
export function formatted(number: number, pattern: string, from1904 = false): string {
  if (/^(?:general|standard)?$/i.test(pattern.trim())) return plainNumber(number)
  const bare = pattern.replace(/"[^"]*"?|[\\_*].|\[(?![hms]+\])[^\]]*\]|general|standard/gis, '')
  if (/e[+-]/i.test(bare)) return plainNumber(number)
  if (/[yd]/i.test(bare) || (/m/i.test(bare) && !/[hs[]/i.test(bare))) return dateOf(number, /h/i.test(bare), from1904)
  const shown = inPattern(number, pattern)
  if (!/\S/.test(shown)) return plainNumber(number)
  // Some formats show what is negative by its color alone, which nobody sees here.
  return number < 0 && /\d/.test(shown) && shown === inPattern(-number, pattern) ? `-${shown}` : shown
}

function inPattern(number: number, pattern: string): string {
  try {
    // The place of a currency changes nothing about how its numbers are written here.
    return format(pattern.replace(/\[\$([^\]-]+)-[^\]]*\]/g, '"$1"').replace(/standard/i, 'General'), number).trim()
  } catch {
    return plainNumber(number)
  }
}

const DAY_SECONDS = 86_400
const YEAR_1900 = Date.UTC(1899, 11, 30)
const DAYS_UNTIL_1904 = 1_462
/** The program believes that 1900 was a leap year: days before this one are counted from one day later. */
const FALSE_DAY = 60
/** The last day of the year 9999. */
const LAST_DAY = 2_958_465

function dateOf(serial: number, withTime: boolean, from1904: boolean): string {
  const days = serial + (from1904 ? DAYS_UNTIL_1904 : serial < FALSE_DAY ? 1 : 0)
  if (serial < 0 || days > LAST_DAY + 1) return plainNumber(serial)
  const iso = new Date(YEAR_1900 + Math.round(days * DAY_SECONDS) * 1_000).toISOString()
  const [date, time] = [iso.slice(0, 10), iso.slice(11, 19)]
  return withTime && serial % 1 !== 0 ? `${date} ${time.replace(/:00$/, '')}` : date
}

/** Returns a number without what its binary form adds: 0.3 for 0.1 + 0.2. */
function plainNumber(number: number): string {
  return String(Number(number.toPrecision(15)))
}
