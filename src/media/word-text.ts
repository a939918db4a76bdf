import { ordinal } from '../core/ordinal.ts'
import {
  type Attributes,
  attribute,
  FormedText,
  formulaReader,
  isOn,
  type PartReader,
  type Relation,
  readDrawn,
  relationId,
  type TextForm,
  type TextSink,
  TRACKED,
  type ZipParts,
} from './office-parts.ts'

/** The level of a list: the form of its numbers, as `%1.%2)`, and the kind of each. */
interface ListLevel {
  start: number
  format: string
  text: string
  /** The style whose paragraphs are on this level. */
  style: string
  /** It begins anew behind an item of a higher level. */
  restarts: boolean
  /** The numbers of higher levels are decimal in it, whatever their own form is. */
  isLegal: boolean
}

interface List {
  /** Lists with one definition are counted as one. */
  readonly definition: string
  readonly levels: ListLevel[]
  /** The numbers by which levels of this list begin anew. */
  readonly starts: Map<number, number>
}

interface Style {
  /** 1 is the highest heading. */
  readonly heading?: number
  readonly list?: string
  readonly level?: number
  readonly isStruck?: boolean
  /** The style from which the rest is taken. */
  readonly basedOn?: string
}

interface WordParts {
  readonly styles: ReadonlyMap<string, Style>
  readonly lists: ReadonlyMap<string, List>
}

/** Writes the text of a .docx: its words, then footnotes, comments, and what stands above and below each page. */
export async function readWord(zip: ZipParts, main: string, sink: TextSink): Promise<void> {
  const relations = await zip.relations(main)
  const ofType = (type: string): string[] =>
    [...relations.values()].filter((one) => !one.isOutside && one.type.endsWith(`/${type}`)).map(({ target }) => target)
  const lists = await readLists(zip, ofType('numbering')[0] ?? '')
  const parts: WordParts = { lists, styles: await readStyles(zip, ofType('styles')[0] ?? '', lists) }
  const tracked = (): void => {
    sink.note = TRACKED
  }
  await zip.read(main, new WordReader(sink, parts, relations, tracked), { until: sink })
  await readDrawn(zip, relations, sink)
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

/** Changes of a form hold the form that was there before. */
const FORM_CHANGES = ['pPrChange', 'rPrChange']

async function readStyles(zip: ZipParts, part: string, lists: WordParts['lists']): Promise<Map<string, Style>> {
  const styles = new Map<string, Style>()
  let id = ''
  const add = (style: Style): void => void styles.set(id, { ...styles.get(id), ...style })
  await zip.read(part, {
    skip: new Set(FORM_CHANGES),
    open: {
      style(attributes) {
        id = attribute(attributes, 'styleId') ?? ''
        add({})
      },
      name(attributes) {
        const value = valOf(attributes)
        if (/^title$/i.test(value)) add({ heading: 1 })
        else if (/^heading [1-9]$/i.test(value)) add({ heading: Number(value.at(-1)) })
      },
      basedOn: (attributes) => add({ basedOn: valOf(attributes) }),
      outlineLvl: (attributes) => add({ heading: Number(valOf(attributes)) + 1 }),
      numId: (attributes) => add({ list: valOf(attributes) }),
      ilvl: (attributes) => add({ level: levelOf(attributes) }),
      strike: (attributes) => add({ isStruck: isOn(attributes) }),
      dstrike: (attributes) => add({ isStruck: isOn(attributes) }),
    },
  })
  return new Map([...styles.keys()].map((style) => [style, wholeStyle(style, styles, lists)]))
}

/** Styles that one is based on; a file may name them in a ring. */
const MOST_BASES = 20

/** Returns a style with everything that it takes from others, and its level in a list that names the style. */
function wholeStyle(id: string, styles: ReadonlyMap<string, Style>, lists: WordParts['lists']): Style {
  let whole: Style = {}
  const bases: string[] = []
  for (let at = id; bases.length < MOST_BASES && styles.has(at); at = styles.get(at)?.basedOn ?? '') {
    bases.push(at)
    whole = { ...styles.get(at), ...whole }
  }
  const levels = lists.get(whole.list ?? '')?.levels ?? []
  const linked = bases.map((base) => levels.findIndex((level) => level?.style === base)).find((at) => at >= 0)
  return linked === undefined ? whole : { ...whole, level: linked }
}

function valOf(attributes: Attributes): string {
  return attribute(attributes, 'val') ?? ''
}

const LAST_LEVEL = 8

function levelOf(attributes: Attributes, name = 'val'): number {
  return Math.min(Math.max(Number(attribute(attributes, name)) || 0, 0), LAST_LEVEL)
}

async function readLists(zip: ZipParts, part: string): Promise<Map<string, List>> {
  const definitions = new Map<string, ListLevel[]>()
  /** Definitions by the style that they are for, and the style of those that only name one. */
  const [byStyle, named] = [new Map<string, string>(), new Map<string, string>()]
  const lists = new Map<string, List>()
  let levels: ListLevel[] = []
  let [definition, num, overridden, at] = ['', '', 0, -1]
  const form = (fields: Partial<ListLevel>): void => void Object.assign(levels[at] ?? {}, fields)
  await zip.read(part, {
    open: {
      abstractNum(attributes) {
        definition = attribute(attributes, 'abstractNumId') ?? ''
        levels = []
        definitions.set(definition, levels)
      },
      styleLink: (attributes) => void byStyle.set(valOf(attributes), definition),
      numStyleLink: (attributes) => void named.set(definition, valOf(attributes)),
      // It stands in a definition, or in a list in place of the level of its definition.
      lvl(attributes) {
        at = attribute(attributes, 'ilvl') === undefined ? at + 1 : levelOf(attributes, 'ilvl')
        levels[at] = { start: 1, format: 'decimal', text: '', style: '', restarts: true, isLegal: false }
      },
      num(attributes) {
        num = attribute(attributes, 'numId') ?? ''
      },
      abstractNumId(attributes) {
        const own = valOf(attributes)
        const meant = byStyle.get(named.get(own) ?? '') ?? own
        levels = [...(definitions.get(meant) ?? [])]
        lists.set(num, { definition: meant, levels, starts: new Map() })
      },
      lvlOverride(attributes) {
        overridden = levelOf(attributes, 'ilvl')
      },
      startOverride: (attributes) => void lists.get(num)?.starts.set(overridden, Number(valOf(attributes))),
      start: (attributes) => form({ start: Number(valOf(attributes)) }),
      numFmt: (attributes) => form({ format: valOf(attributes) }),
      lvlText: (attributes) => form({ text: valOf(attributes) }),
      pStyle: (attributes) => form({ style: valOf(attributes) }),
      lvlRestart: (attributes) => form({ restarts: valOf(attributes) !== '0' }),
      isLgl: (attributes) => form({ isLegal: isOn(attributes) }),
    },
  })
  return lists
}

interface Paragraph {
  readonly words: FormedText
  style: string
  list: string | undefined
  level: number | undefined
  heading: number | undefined
}

/** Words behind which an address stands, from a place in their paragraph on. */
interface Link {
  readonly address: string
  readonly in: Paragraph | undefined
  readonly from: number
}

interface Lines {
  line(words: string): void
}

/** The program fills a place by a code: with words that an address is behind, or with the value of a form. */
interface Field {
  code: string
  link?: Link
  /** The number of the choice; of a box 1 where it is checked. */
  value?: number
  readonly choices: string[]
}

/** Characters of the code of a field. */
export const LONGEST_CODE = 5_000
/** Choices of a form at one place. */
const MOST_CHOICES = 100

/** Characters, so that one of gigabytes fills no memory. */
const LONGEST_PARAGRAPH = 2_000_000

/** Reads the words of a part in their order, those in a table row by row. */
class WordReader implements PartReader {
  /** Nobody reads them: a second form of the same picture, what was deleted and what was moved elsewhere. */
  readonly skip = new Set(['Fallback', 'moveFrom', 'del', 'rt', ...FORM_CHANGES])
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
  #form: TextForm = ''
  #font = ''
  readonly #links: Link[] = []
  readonly #fields: Field[] = []
  #inCode = false
  readonly #formula = formulaReader(() => this.#paragraphs.at(-1)?.words)
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
    ...this.#formula.open,
    p: () =>
      void this.#paragraphs.push({
        ...{ words: new FormedText(), style: '', list: undefined, level: undefined, heading: undefined },
      }),
    tbl: () => this.#put(''),
    tr: () => void this.#rows.push([]),
    tc: () => void this.#cells.push([]),
    r: () => this.#setRun(true),
    t: () => {
      this.#inText = true
    },
    hyperlink: (attributes) => {
      const { target = '', isOutside = false } = this.#relations.get(relationId(attributes) ?? '') ?? {}
      this.#links.push(this.#linkTo(isOutside ? target : ''))
    },
    // The same element is a place of the paragraph's ruler.
    tab: () => this.#inRun && this.#add('\t'),
    br: () => this.#add('\n'),
    cr: () => this.#add('\n'),
    noBreakHyphen: () => this.#add('-'),
    vanish: (attributes) => {
      if (this.#inRun) this.#isHidden = isOn(attributes)
    },
    rStyle: (attributes) => this.#strike(this.#styles.get(valOf(attributes))?.isStruck ?? false),
    strike: (attributes) => this.#strike(isOn(attributes)),
    dstrike: (attributes) => isOn(attributes) && this.#strike(true),
    vertAlign: (attributes) => {
      if (this.#inRun && this.#form === '' && valOf(attributes) === 'superscript') this.#form = 'raised'
    },
    rFonts: (attributes) => {
      if (this.#inRun) this.#font = attribute(attributes, 'ascii') ?? ''
    },
    sym: (attributes) => {
      const code = Number.parseInt(attribute(attributes, 'char') ?? '', 16)
      this.#add(signOf(attribute(attributes, 'font') ?? this.#font, code))
    },
    ...this.#fieldsOpen(),
    footnoteReference: (attributes) => this.#add(`[^${attribute(attributes, 'id')}]`),
    endnoteReference: (attributes) => this.#add(`[^${attribute(attributes, 'id')}]`),
    docPr: (attributes) => {
      const words = attribute(attributes, 'descr')?.trim()
      if (words) this.#add(`[picture: ${words}]`)
    },
    footnote: (attributes) => this.#setMark(`[^${attribute(attributes, 'id')}]: `),
    endnote: (attributes) => this.#setMark(`[^${attribute(attributes, 'id')}]: `),
    comment: (attributes) => this.#setMark(`[comment of ${attribute(attributes, 'author') ?? 'somebody'}] `),
    pStyle: (attributes) => this.#set({ style: valOf(attributes) }),
    numId: (attributes) => this.#set({ list: valOf(attributes) }),
    ilvl: (attributes) => this.#set({ level: levelOf(attributes) }),
    outlineLvl: (attributes) => this.#set({ heading: Number(valOf(attributes)) + 1 }),
    ins: () => this.#tracked(),
    del: () => this.#tracked(),
    moveFrom: () => this.#tracked(),
    moveTo: () => this.#tracked(),
  }

  readonly close: NonNullable<PartReader['close']> = {
    ...this.#formula.close,
    t: () => {
      this.#inText = false
    },
    r: () => this.#setRun(false),
    hyperlink: () => this.#endLink(this.#links.pop()),
    fldSimple: () => this.#endLink(this.#fields.pop()?.link),
    instrText: () => {
      this.#inCode = false
    },
    checkBox: () => this.#add((this.#fields.at(-1)?.value ?? 0) > 0 ? CHECKED : UNCHECKED),
    ddList: () => this.#add(this.#fields.at(-1)?.choices[this.#fields.at(-1)?.value ?? 0] ?? ''),
    p: () => {
      const paragraph = this.#paragraphs.pop()
      if (paragraph !== undefined) this.#put(this.#lineOf(paragraph))
    },
    tc: () => void this.#rows.at(-1)?.push((this.#cells.pop() ?? []).join(' ')),
    tr: () => this.#put((this.#rows.pop() ?? []).join(' | ')),
    tbl: () => this.#put(''),
  }

  readonly text = (words: string): void => {
    const field = this.#fields.at(-1)
    if (this.#inText)
      this.#add(
        words.replace(PRIVATE, (sign) => signOf(this.#font, sign.charCodeAt(0)) || sign),
        this.#form,
      )
    else if (this.#inCode && field !== undefined && field.code.length < LONGEST_CODE) field.code += words
  }

  #setRun(inRun: boolean): void {
    this.#inRun = inRun
    this.#isHidden = false
    this.#form = ''
    this.#font = ''
  }

  #strike(isStruck: boolean): void {
    if (this.#inRun) this.#form = isStruck ? 'struck' : ''
  }

  /** A field is its code, from `begin` on, and the words that the program showed for it, behind `separate`. */
  #fieldsOpen(): NonNullable<PartReader['open']> {
    const setValue = (attributes: Attributes): void => {
      const field = this.#fields.at(-1)
      if (field !== undefined) field.value = Number(valOf(attributes)) || Number(isOn(attributes))
    }
    return {
      default: setValue,
      checked: setValue,
      result: setValue,
      listEntry: (attributes) => {
        const { choices = [] } = this.#fields.at(-1) ?? {}
        if (choices.length < MOST_CHOICES) choices.push(valOf(attributes))
      },
      fldChar: (attributes) => {
        const type = attribute(attributes, 'fldCharType')
        const field = this.#fields.at(-1)
        if (type === 'begin') this.#fields.push({ code: '', choices: [] })
        else if (type === 'separate' && field !== undefined) field.link = this.#linkTo(addressIn(field.code))
        else if (type === 'end') this.#endLink(this.#fields.pop()?.link)
      },
      instrText: () => {
        this.#inCode = true
      },
      fldSimple: (attributes) => {
        const code = attribute(attributes, 'instr') ?? ''
        this.#fields.push({ code, link: this.#linkTo(addressIn(code)), choices: [] })
      },
    }
  }

  #linkTo(address: string): Link {
    const paragraph = this.#paragraphs.at(-1)
    return { address, in: paragraph, from: paragraph?.words.text.length ?? 0 }
  }

  #endLink(link: Link | undefined): void {
    if (link === undefined || link.address === '') return
    const paragraph = this.#paragraphs.at(-1)
    const said = paragraph?.words.text.slice(link.in === paragraph ? link.from : 0) ?? ''
    if (!said.includes(link.address)) this.#add(` (${link.address})`)
  }

  #setMark(mark: string): void {
    this.#mark = mark
  }

  #set(form: Partial<Omit<Paragraph, 'words'>>): void {
    const paragraph = this.#paragraphs.at(-1)
    if (paragraph !== undefined) Object.assign(paragraph, form)
  }

  #add(words: string, form?: TextForm): void {
    const paragraph = this.#paragraphs.at(-1)
    if (!this.#isHidden && (paragraph?.words.text.length ?? 0) < LONGEST_PARAGRAPH) paragraph?.words.add(words, form)
  }

  #put(words: string): void {
    const cell = this.#cells.at(-1)
    if (cell === undefined) this.#out.line(words)
    else if (words !== '') cell.push(words.replaceAll('\n', ' '))
  }

  #lineOf({ words: { text }, style, list, level, heading }: Paragraph): string {
    const whole = this.#styles.get(style)
    const [rank, at] = [heading ?? whole?.heading, level ?? whole?.level ?? 0]
    // An item without words is counted too.
    const number = this.#counters.next(list ?? whole?.list, at)
    if (text.trim() === '') return ''
    const said = this.#mark + text.trim()
    this.#mark = ''
    if (rank !== undefined && rank <= 9) return `${'#'.repeat(rank)} ${number === '- ' ? '' : number}${said}`
    return number === '' ? said : `${'  '.repeat(at)}${number}${said}`
  }
}

/** Counts the items of lists. */
class ListCounters {
  readonly #lists: WordParts['lists']
  readonly #counts = new Map<string, readonly (number | undefined)[]>()
  /** The levels that have begun anew, which they do once. */
  readonly #begun = new Set<string>()

  constructor(lists: WordParts['lists']) {
    this.#lists = lists
  }

  /** Returns what stands before the next item; nothing for a paragraph of no list. */
  next(id: string | undefined, at: number): string {
    if (id === undefined || id === '0') return ''
    const list = this.#lists.get(id)
    const level = list?.levels[at]
    if (list === undefined || level === undefined) return '- '
    const counts = this.#count(id, list, at)
    if (level.format === 'bullet') return '- '
    const written = level.text.replace(/%([1-9])/g, (_all, no) => {
      const { start = 1, format = 'decimal' } = list.levels[Number(no) - 1] ?? {}
      return ordinal(counts[Number(no) - 1] ?? start, level.isLegal ? 'decimal' : format)
    })
    return written === '' ? '' : `${written} `
  }

  #count(id: string, { definition, levels, starts }: List, at: number): readonly (number | undefined)[] {
    const before = this.#counts.get(definition) ?? []
    const counts = before.map((count, no) => (no <= at || levels[no]?.restarts === false ? count : undefined))
    const [start, anew] = [levels[at]?.start ?? 1, starts.get(at)]
    const isAnew = anew !== undefined && !this.#begun.has(`${id} ${at}`)
    this.#begun.add(`${id} ${at}`)
    counts[at] = isAnew ? anew : (counts[at] ?? (anew ?? start) - 1) + 1
    this.#counts.set(definition, counts)
    return counts
  }
}

/** Returns the address of a link by the code of its field; nothing for another code, or a place in the document. */
export function addressIn(code: string): string {
  const [found, quoted, bare] = /^\s*HYPERLINK\s+(?:"([^"]*)"|([^\s"\\]\S*))/i.exec(code) ?? []
  const place = /\\l\s+"([^"]*)"/.exec(code.slice(found?.length ?? 0))?.[1]
  const address = (quoted ?? bare ?? '').trim()
  return address === '' || place === undefined ? address : `${address}#${place}`
}

export const UNCHECKED = String.fromCodePoint(0x2610)
export const CHECKED = String.fromCodePoint(0x2612)

/** The characters of fonts that have symbols in place of letters, by the codes that stand for them there. */
const SIGNS: Readonly<Record<string, ReadonlyMap<string, string>>> = {
  wingdings: signs('oq\u00a8x\u00fd\u00fe\u00fb\u00fc\u00df\u00e0\u00e8JL', '☐☐☐☒☒☑✗✓←→→☺☹'),
  'wingdings 2': signs('\u00a3OPQRST', '☐✗✓☒☑☒☒'),
  symbol: signs(
    'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz\u00a3\u00a5\u00ae\u00b0\u00b1\u00b3\u00b4\u00b7\u00b8\u00b9\u00bb\u00d6\u00e5',
    'ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ≤∞→°±≥×•÷≠≈√∑',
  ),
}
/** The codes of such fonts where a document holds them as characters. */
const PRIVATE = /[\uf020-\uf0ff]/g

function signs(codes: string, characters: string): ReadonlyMap<string, string> {
  return new Map([...codes].map((code, at) => [code, [...characters][at] ?? '']))
}

/** Returns the character that a font has for a code; nothing where it is not known. */
function signOf(font: string, code: number): string {
  const found = SIGNS[font.toLowerCase()]
  const own = String.fromCharCode(code & 0xff)
  if (found !== undefined) return found.get(own) ?? (/^symbol$/i.test(font) && /[ -~]/.test(own) ? own : '')
  const character = Number.isNaN(code) ? '' : String.fromCharCode(code)
  return code >= 0xf020 && code <= 0xf0ff ? '' : character
}
