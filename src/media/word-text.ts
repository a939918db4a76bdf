import {
  type Attributes,
  attribute,
  type PartReader,
  type Relation,
  relationId,
  type TextSink,
  TRACKED,
  type ZipParts,
} from './office-parts.ts'

/** The level of a list: the form of its numbers, as `%1.%2)`, and the kind of each. */
interface ListLevel {
  start: number
  format: string
  text: string
}

interface Style {
  /** 1 is the highest heading. */
  readonly heading?: number
  readonly list?: string
}

interface WordParts {
  readonly styles: ReadonlyMap<string, Style>
  readonly lists: ReadonlyMap<string, readonly ListLevel[]>
}

/** Writes the text of a .docx: its words, then footnotes, comments, and what stands above and below each page. */
export async function readWord(zip: ZipParts, main: string, sink: TextSink): Promise<void> {
  const relations = await zip.relations(main)
  const ofType = (type: string): string[] =>
    [...relations.values()].filter((one) => !one.isOutside && one.type.endsWith(`/${type}`)).map(({ target }) => target)
  const parts: WordParts = {
    styles: await readStyles(zip, ofType('styles')[0] ?? ''),
    lists: await readLists(zip, ofType('numbering')[0] ?? ''),
  }
  const tracked = (): void => {
    sink.note = TRACKED
  }
  await zip.read(main, new WordReader(sink, parts, relations, tracked), { until: sink })
  const notes = [...ofType('footnotes'), ...ofType('endnotes'), ...ofType('comments')]
  for (const part of notes)
    await zip.read(part, new WordReader(sink, parts, await zip.relations(part), tracked), { until: sink })
  const seen = new Set<string>()
  const edges = { line: (words: string): void => void seen.add(words) }
  for (const part of [...ofType('header'), ...ofType('footer')])
    await zip.read(part, new WordReader(edges, parts, new Map(), tracked), { until: sink })
  seen.delete('')
  if (seen.size > 0) sink.line('')
  for (const words of seen) sink.line(`[on each page] ${words}`)
}

async function readStyles(zip: ZipParts, part: string): Promise<Map<string, Style>> {
  const styles = new Map<string, Style>()
  let id = ''
  const add = (style: Style): void => void styles.set(id, { ...styles.get(id), ...style })
  await zip.read(part, {
    open: {
      style(attributes) {
        id = attribute(attributes, 'styleId') ?? ''
      },
      name(attributes) {
        const value = valOf(attributes)
        if (/^title$/i.test(value)) add({ heading: 1 })
        else if (/^heading [1-9]$/i.test(value)) add({ heading: Number(value.at(-1)) })
      },
      outlineLvl: (attributes) => add({ heading: Number(valOf(attributes)) + 1 }),
      numId: (attributes) => add({ list: valOf(attributes) }),
    },
  })
  return styles
}

function valOf(attributes: Attributes): string {
  return attribute(attributes, 'val') ?? ''
}

async function readLists(zip: ZipParts, part: string): Promise<Map<string, readonly ListLevel[]>> {
  const abstract = new Map<string, ListLevel[]>()
  const lists = new Map<string, readonly ListLevel[]>()
  let [levels, num]: [ListLevel[], string] = [[], '']
  let level: ListLevel = { start: 1, format: 'decimal', text: '' }
  await zip.read(part, {
    open: {
      abstractNum(attributes) {
        levels = []
        abstract.set(attribute(attributes, 'abstractNumId') ?? '', levels)
      },
      lvl() {
        level = { start: 1, format: 'decimal', text: '' }
        levels.push(level)
      },
      num(attributes) {
        num = attribute(attributes, 'numId') ?? ''
      },
      abstractNumId: (attributes) => void lists.set(num, abstract.get(valOf(attributes)) ?? []),
      start(attributes) {
        level.start = Number(valOf(attributes))
      },
      numFmt(attributes) {
        level.format = valOf(attributes)
      },
      lvlText(attributes) {
        level.text = valOf(attributes)
      },
    },
  })
  return lists
}

interface Paragraph {
  text: string
  style: string
  list: string | undefined
  level: number
  heading: number | undefined
}

interface Lines {
  line(words: string): void
}

/** Characters, so that one of gigabytes fills no memory. */
const LONGEST_PARAGRAPH = 2_000_000

/** Reads the words of a part in their order, those in a table row by row. */
class WordReader implements PartReader {
  /** Nobody reads them: a second form of the same picture, what was deleted and what was moved elsewhere. */
  readonly skip = new Set(['Fallback', 'moveFrom', 'del'])
  readonly #out: Lines
  readonly #styles: WordParts['styles']
  readonly #relations: ReadonlyMap<string, Relation>
  readonly #tracked: () => void
  readonly #counters: ListCounters
  readonly #paragraphs: Paragraph[] = []
  readonly #cells: string[][] = []
  readonly #rows: string[][] = []
  #inRun = false
  #inText = false
  #isHidden = false
  #link: { readonly target: string; readonly from: number } | undefined
  /** Stands before the next paragraph that has words. */
  #mark = ''

  /** `tracked` is called for each change that is proposed in the part. */
  constructor(
    out: Lines,
    { styles, lists }: WordParts,
    relations: ReadonlyMap<string, Relation>,
    tracked: (this: void) => void,
  ) {
    this.#out = out
    this.#tracked = tracked
    this.#styles = styles
    this.#relations = relations
    this.#counters = new ListCounters(lists)
  }

  readonly open: NonNullable<PartReader['open']> = {
    p: () => void this.#paragraphs.push({ text: '', style: '', list: undefined, level: 0, heading: undefined }),
    tbl: () => this.#put(''),
    tr: () => void this.#rows.push([]),
    tc: () => void this.#cells.push([]),
    r: () => this.#setRun(true),
    t: () => {
      this.#inText = true
    },
    hyperlink: (attributes) => {
      const { target = '', isOutside = false } = this.#relations.get(relationId(attributes) ?? '') ?? {}
      this.#link = isOutside ? { target, from: this.#paragraphs.at(-1)?.text.length ?? 0 } : undefined
    },
    // The same element is a place of the paragraph's ruler.
    tab: () => this.#inRun && this.#add('\t'),
    br: () => this.#add('\n'),
    cr: () => this.#add('\n'),
    noBreakHyphen: () => this.#add('-'),
    vanish: (attributes) => {
      if (this.#inRun) this.#isHidden = !/^(?:0|false)$/.test(valOf(attributes))
    },
    footnoteReference: (attributes) => this.#add(`[^${attribute(attributes, 'id')}]`),
    endnoteReference: (attributes) => this.#add(`[^${attribute(attributes, 'id')}]`),
    docPr: (attributes) => {
      const words = attribute(attributes, 'descr')?.trim()
      if (words) this.#add(`[picture: ${words}]`)
    },
    footnote: (attributes) => this.#setMark(`[^${attribute(attributes, 'id')}]: `),
    endnote: (attributes) => this.#setMark(`[^${attribute(attributes, 'id')}]: `),
    comment: (attributes) => this.#setMark(`[comment of ${attribute(attributes, 'author') ?? 'somebody'}] `),
    pStyle: (attributes) => this.#form({ style: valOf(attributes) }),
    numId: (attributes) => this.#form({ list: valOf(attributes) }),
    ilvl: (attributes) => this.#form({ level: Math.min(Number(valOf(attributes)) || 0, 8) }),
    outlineLvl: (attributes) => this.#form({ heading: Number(valOf(attributes)) + 1 }),
    ins: () => this.#tracked(),
    del: () => this.#tracked(),
    moveFrom: () => this.#tracked(),
    moveTo: () => this.#tracked(),
  }

  readonly close: NonNullable<PartReader['close']> = {
    t: () => {
      this.#inText = false
    },
    r: () => this.#setRun(false),
    hyperlink: () => {
      const said = this.#paragraphs.at(-1)?.text.slice(this.#link?.from) ?? ''
      if (this.#link !== undefined && !said.includes(this.#link.target)) this.#add(` (${this.#link.target})`)
      this.#link = undefined
    },
    p: () => {
      const paragraph = this.#paragraphs.pop()
      if (paragraph !== undefined) this.#put(this.#lineOf(paragraph))
    },
    tc: () => void this.#rows.at(-1)?.push((this.#cells.pop() ?? []).join(' ')),
    tr: () => this.#put((this.#rows.pop() ?? []).join(' | ')),
    tbl: () => this.#put(''),
  }

  readonly text = (words: string): void => {
    if (this.#inText) this.#add(words)
  }

  #setRun(inRun: boolean): void {
    this.#inRun = inRun
    this.#isHidden = false
  }

  #setMark(mark: string): void {
    this.#mark = mark
  }

  #form(form: Partial<Paragraph>): void {
    const paragraph = this.#paragraphs.at(-1)
    if (paragraph !== undefined) Object.assign(paragraph, form)
  }

  #add(words: string): void {
    const paragraph = this.#paragraphs.at(-1)
    const isTaken = paragraph !== undefined && !this.#isHidden && paragraph.text.length < LONGEST_PARAGRAPH
    if (isTaken) paragraph.text += words
  }

  #put(words: string): void {
    const cell = this.#cells.at(-1)
    if (cell === undefined) this.#out.line(words)
    else if (words !== '') cell.push(words.replaceAll('\n', ' '))
  }

  #lineOf({ text, style, list, level, heading }: Paragraph): string {
    if (text.trim() === '') return ''
    const said = this.#mark + text.trim()
    this.#mark = ''
    const { heading: ofStyle, list: listOfStyle } = this.#styles.get(style) ?? {}
    const rank = heading ?? ofStyle
    const number = this.#counters.next(list ?? listOfStyle, level)
    if (rank !== undefined && rank <= 9) return `${'#'.repeat(rank)} ${number === '- ' ? '' : number}${said}`
    return number === '' ? said : `${'  '.repeat(level)}${number}${said}`
  }
}

/** Counts the items of lists. */
class ListCounters {
  readonly #lists: ReadonlyMap<string, readonly ListLevel[]>
  readonly #counts = new Map<string, number[]>()

  constructor(lists: ReadonlyMap<string, readonly ListLevel[]>) {
    this.#lists = lists
  }

  /** Returns what stands before the next item; nothing for a paragraph of no list. */
  next(list: string | undefined, at: number): string {
    if (list === undefined || list === '0') return ''
    const levels = this.#lists.get(list) ?? []
    const level = levels[at]
    if (level === undefined || level.format === 'bullet') return '- '
    if (level.format === 'none') return ''
    const counts = (this.#counts.get(list) ?? []).slice(0, at + 1)
    counts[at] = (counts[at] ?? level.start - 1) + 1
    this.#counts.set(list, counts)
    const written = level.text.replace(/%([1-9])/g, (_all, no) => {
      const { start = 1, format = 'decimal' } = levels[Number(no) - 1] ?? {}
      return ordinal(counts[Number(no) - 1] ?? start, format)
    })
    return written === '' ? '' : `${written} `
  }
}

const ROMAN: readonly (readonly [number, string])[] = [
  ...([
    [1000, 'm'],
    [900, 'cm'],
    [500, 'd'],
    [400, 'cd'],
    [100, 'c'],
    [90, 'xc'],
    [50, 'l'],
    [40, 'xl'],
  ] as const),
  ...([
    [10, 'x'],
    [9, 'ix'],
    [5, 'v'],
    [4, 'iv'],
    [1, 'i'],
  ] as const),
]

function ordinal(count: number, format: string): string {
  const small = format.startsWith('upper') ? ordinal(count, format.replace('upper', 'lower')).toUpperCase() : ''
  if (small !== '') return small
  if (format === 'lowerLetter' && count > 0) return String.fromCharCode(97 + ((count - 1) % 26))
  if (format !== 'lowerRoman' || count > 3_999) return String(count)
  let [left, written] = [count, '']
  for (const [value, letters] of ROMAN) {
    while (left >= value) {
      left -= value
      written += letters
    }
  }
  return written
}
