import { Readable } from 'node:stream'
import { createInflateRaw } from 'node:zlib'
import sax from 'sax'

/** The text of a document while it is read. Everything beyond its bounds is left out, and is known to be missing. */
export class TextSink {
  text = ''
  /** Some of the document is not in the text. */
  isCut = false
  /** Is to be known about the text. */
  note = ''
  readonly #longest: number
  readonly #isLate: () => boolean

  constructor(longest: number, isLate: () => boolean = () => false) {
    this.#longest = longest
    this.#isLate = isLate
  }

  get isFull(): boolean {
    return this.room <= 0 || this.#isLate()
  }

  /** The characters that it still takes. */
  get room(): number {
    return this.#longest - this.text.length
  }

  /** Adds a line; an empty one parts paragraphs, of which there is never more than one. */
  line(words: string): void {
    if (this.isFull) {
      this.isCut ||= words.trim() !== ''
      return
    }
    if (words === '' && (this.text === '' || this.text.endsWith('\n\n'))) return
    this.text += `${words.slice(0, this.#longest)}\n`
  }
}

export type TextForm = '' | 'struck' | 'raised'

/** A text of a document, with marks for the words whose form changes what they mean. */
export class FormedText {
  text: string
  #last: TextForm = ''

  constructor(text = '') {
    this.text = text
  }

  add(words: string, form: TextForm = ''): void {
    const said = words.trim()
    const isFurther = form !== '' && form === this.#last && /\S$/.test(this.text.slice(-1)) && /^\S/.test(words)
    const isJoined = isFurther && this.text.endsWith(STRUCK)
    this.#last = said === '' ? '' : form
    if (form === 'struck' && isJoined) this.text = this.text.slice(0, -STRUCK.length) + struckThrough(words).slice(2)
    else if (form === 'struck') this.text += struckThrough(words)
    // Many raise the end of an ordinal, or a mark of a brand.
    else if (form === 'raised' && !isFurther && /^[^[]*\d|^[a-z]$/i.test(said)) this.text += `^${grouped(said)}`
    else this.text += words
  }
}

const STRUCK = '~~'

/** Returns words between the marks that message readers strike them through by. */
export function struckThrough(words: string): string {
  const said = words.trim()
  if (said === '') return words
  const begin = words.length - words.trimStart().length
  return `${words.slice(0, begin)}${STRUCK}${said}${STRUCK}${words.slice(begin + said.length)}`
}

/** Returns an operand of a formula as one. */
function grouped(operand: string): string {
  return /^(?:[-+]?[\d.,]+|\([^()]*\)|.)$/u.test(operand) ? operand : `(${operand})`
}

interface MathElement {
  readonly name: string
  readonly from: number
  /** Brackets and operators by the names of the elements that hold them. */
  readonly signs: Record<string, string>
  operands: number
}

const ROOT = String.fromCodePoint(0x221a)
const INTEGRAL = String.fromCodePoint(0x222b)
const OPERANDS = ['num', 'den', 'sup', 'sub', 'lim']
const FORMULAS = ['deg', 'rad', 'nary', 'd', 'e', 'mr', 'm', 'func', 'eqArr', 'sSup', 'sSub', 'sSubSup', ...OPERANDS]
const BEFORE: Readonly<Record<string, string>> = { den: '/', sup: '^', sub: '_', lim: '_', func: ' ', nary: ' ' }
const BETWEEN: Readonly<Record<string, string>> = { mr: ', ', m: '; ', eqArr: '; ' }

/** Returns handlers that write a formula of an office program in one line, into the text that is read at the time. */
export function formulaReader(
  textNow: () => { text: string } | undefined,
): Required<Pick<PartReader, 'open' | 'close'>> {
  const stack: MathElement[] = []
  const begin = (name: string) => (): void =>
    void stack.push({ name, from: textNow()?.text.length ?? 0, signs: {}, operands: 0 })
  const end = (): void => {
    const [element, now] = [stack.pop(), textNow()]
    if (element === undefined || now === undefined) return
    const inner = now.text.slice(element.from)
    now.text = now.text.slice(0, element.from) + inLine(element, inner, stack.at(-1))
  }
  const signs =
    (name: string) =>
    (attributes: Attributes): void => {
      const element = stack.at(-1)
      if (element !== undefined) element.signs[name] = attribute(attributes, 'val') ?? ''
    }
  return {
    open: {
      ...Object.fromEntries(FORMULAS.map((name) => [name, begin(name)])),
      ...Object.fromEntries(['begChr', 'endChr', 'sepChr', 'chr'].map((name) => [name, signs(name)])),
    },
    close: Object.fromEntries(FORMULAS.map((name) => [name, end])),
  }
}

function inLine(element: MathElement, inner: string, outer: MathElement | undefined): string {
  const { name, signs } = element
  if (name === 'deg') return inner === '' ? '' : `[${inner}]`
  if (name === 'rad') return ROOT + inner
  if (name === 'nary') return (signs.chr ?? INTEGRAL) + inner
  if (name === 'd') return (signs.begChr ?? '(') + inner + (signs.endChr ?? ')')
  if (OPERANDS.includes(name)) return inner === '' ? '' : `${BEFORE[name] ?? ''}${grouped(inner)}`
  return outer !== undefined && /^(?:e|mr)$/.test(name) ? partIn(outer, inner) : inner
}

/** Returns a part of a formula as the element around it shows it. */
function partIn(outer: MathElement, inner: string): string {
  const between = outer.name === 'd' ? (outer.signs.sepChr ?? '|') : BETWEEN[outer.name]
  if (between !== undefined) return outer.operands++ > 0 ? between + inner : inner
  return /^(?:s[A-Z]|rad|func|nary)/.test(outer.name) ? `${BEFORE[outer.name] ?? ''}${grouped(inner)}` : inner
}

/** The note on a document of which some words are proposed to be there or not. */
export const TRACKED = 'it has tracked changes, which are shown as accepted'

export type Attributes = Readonly<Record<string, string>>

/** The handlers of the elements of a part, by names without the prefix of a namespace, which each program chooses. */
export interface PartReader {
  readonly open?: Readonly<Record<string, (attributes: Attributes) => void>>
  readonly close?: Readonly<Record<string, () => void>>
  text?(words: string): void
  /** Elements that are passed over, with everything in them, once they were opened. */
  readonly skip?: ReadonlySet<string>
}

/** Returns an attribute by its name without prefix. */
export function attribute(attributes: Attributes, name: string): string | undefined {
  return attributes[name] ?? Object.entries(attributes).find(([key]) => localName(key) === name)?.[1]
}

/** Returns true for a form of words that is switched on, by a value or without one. */
export function isOn(attributes: Attributes): boolean {
  return !/^(?:0|false|off)$/.test(attribute(attributes, 'val') ?? '')
}

/** Returns the id of a relationship, which stands beside an id of the element's own. */
export function relationId(attributes: Attributes): string | undefined {
  return Object.entries(attributes).find(([key]) => /:(?:id|embed)$/.test(key))?.[1]
}

function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

function parserOf({ open = {}, close = {}, skip, text }: PartReader, isHtml: boolean): sax.SAXParser {
  const parser = sax.parser(!isHtml, { lowercase: true })
  let skipped = 0
  const say = (words: string): void => {
    if (skipped === 0) text?.(words)
  }
  parser.ontext = say
  parser.oncdata = say
  parser.onopentag = (tag) => {
    const name = localName(tag.name)
    if (skipped === 0 && Object.hasOwn(open, name)) open[name]?.(tag.attributes as Attributes)
    if (skip?.has(name)) skipped++
  }
  parser.onclosetag = (tag) => {
    const name = localName(tag)
    if (skipped === 0 && Object.hasOwn(close, name)) close[name]?.()
    if (skip?.has(name)) skipped--
  }
  parser.onerror = (error) => {
    if (!isHtml) throw error
    // A page is read as far as it goes.
    parser.resume()
  }
  return parser
}

interface Entry {
  readonly begin: number
  readonly size: number
  readonly isDeflated: boolean
  readonly isEncrypted: boolean
}

/** The files of an archive that were unpacked together have so many bytes at most. */
const MOST_UNPACKED = 512 * 1024 * 1024
const CENTRAL = 0x02014b50
const END = 0x06054b50
const END_BYTES = 22
const MOST_COMMENT = 65_535
const ENCRYPTED = 0x1
const DEFLATED = 8

/** An archive by its own directory. Nothing is unpacked before it is read, and then piece by piece up to a bound. */
export class ZipParts {
  readonly names: readonly string[]
  readonly #entries = new Map<string, Entry>()
  readonly #bytes: Buffer
  #left = MOST_UNPACKED

  /** Throws for bytes that are no whole archive. */
  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const end = this.#endOfDirectory()
    let at = this.#bytes.readUInt32LE(end + 16)
    for (let left = this.#bytes.readUInt16LE(end + 10); left > 0; left--) at = this.#readEntry(at)
    this.names = [...this.#entries.keys()]
  }

  get isEncrypted(): boolean {
    return [...this.#entries.values()].some(({ isEncrypted }) => isEncrypted)
  }

  has(name: string): boolean {
    return this.#entries.has(name)
  }

  /** Reads a part of XML until the text is full; a part that is not there has nothing in it. */
  async read(name: string, reader: PartReader, { until, isHtml = false }: ReadingPart = {}): Promise<void> {
    const entry = this.#entries.get(name)
    if (entry === undefined) return
    const parser = parserOf(reader, isHtml)
    let decoder: InstanceType<typeof TextDecoder> | undefined
    for await (const chunk of this.#unpacked(entry)) {
      decoder ??= new TextDecoder(chunk[0] === 0xff ? 'utf-16le' : chunk[0] === 0xfe ? 'utf-16be' : 'utf-8')
      parser.write(decoder.decode(chunk, { stream: true }))
      if (until?.isFull) {
        until.isCut = true
        return
      }
    }
    parser.close()
  }

  /** Returns the targets of the relationships of a part by their ids; those outside of the archive are addresses. */
  async relations(part: string): Promise<ReadonlyMap<string, Relation>> {
    const found = new Map<string, Relation>()
    const cut = part.lastIndexOf('/') + 1
    const [folder, name] = [part.slice(0, cut), part.slice(cut)]
    await this.read(`${folder}_rels/${name}.rels`, {
      open: {
        Relationship({ Id: id = '', Target: target = '', TargetMode: mode, Type: type = '' }) {
          const isOutside = mode === 'External'
          found.set(id, { target: isOutside ? target : resolvePart(folder, target), type, isOutside })
        },
      },
    })
    return found
  }

  async *#unpacked({ begin, size, isDeflated }: Entry): AsyncGenerator<Uint8Array> {
    const packed = this.#bytes.subarray(begin, begin + size)
    const chunks: AsyncIterable<Buffer> | readonly Buffer[] = isDeflated
      ? Readable.from([packed]).pipe(createInflateRaw())
      : [packed]
    for await (const chunk of chunks) {
      this.#left -= chunk.length
      if (this.#left < 0) throw new RangeError('This archive unpacks to more than is read of one.')
      yield chunk
    }
  }

  #endOfDirectory(): number {
    const last = this.#bytes.length - END_BYTES
    for (let at = last; at >= Math.max(0, last - MOST_COMMENT); at--) {
      if (this.#bytes.readUInt32LE(at) === END) return at
    }
    throw new RangeError('There is no directory of an archive.')
  }

  #readEntry(at: number): number {
    const bytes = this.#bytes
    if (bytes.readUInt32LE(at) !== CENTRAL) throw new RangeError('There is no entry of an archive.')
    const flags = bytes.readUInt16LE(at + 8)
    const method = bytes.readUInt16LE(at + 10)
    const nameEnd = at + 46 + bytes.readUInt16LE(at + 28)
    const name = bytes.subarray(at + 46, nameEnd).toString('utf8')
    const local = bytes.readUInt32LE(at + 42)
    const begin = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28)
    this.#entries.set(name.replaceAll('\\', '/'), {
      begin,
      size: bytes.readUInt32LE(at + 20),
      isDeflated: method === DEFLATED,
      isEncrypted: (flags & ENCRYPTED) !== 0,
    })
    return nameEnd + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
  }
}

export interface ReadingPart {
  readonly until?: TextSink
  /** It is a page, whose marks may be of HTML. */
  readonly isHtml?: boolean
}

export interface Relation {
  readonly target: string
  readonly type: string
  readonly isOutside: boolean
}

/** Returns the name of a part that another one names, from the root of the archive or from its own folder. */
function resolvePart(folder: string, target: string): string {
  if (target.startsWith('/')) return target.slice(1)
  const path: string[] = []
  for (const piece of `${folder}${target}`.split('/')) {
    if (piece === '..') path.pop()
    else if (piece !== '.') path.push(piece)
  }
  return path.join('/')
}

/** Parts with words that are drawn, by the ends of the types of their relationships. */
const DRAWN: Readonly<Record<string, string>> = {
  ...{ diagramData: 'diagram', chart: 'chart', chartEx: 'chart', drawing: 'text box' },
}

/** Writes the words of the diagrams, charts and text boxes that belong to a part by its relationships. */
export async function readDrawn(
  zip: ZipParts,
  relations: ReadonlyMap<string, Relation>,
  sink: TextSink,
  isInner = false,
): Promise<void> {
  for (const { type, target, isOutside } of relations.values()) {
    const name = DRAWN[type.slice(type.lastIndexOf('/') + 1)]
    const isDrawing = name === 'text box'
    if (name === undefined || isOutside || (isInner && isDrawing)) continue
    const paragraphs: string[] = []
    let [text, inText] = ['', false]
    const room = sink.room
    await zip.read(
      target,
      {
        skip: new Set(['Fallback']),
        open: {
          t() {
            inText = true
          },
        },
        text(words) {
          if (inText && text.length < room) text += words
        },
        close: {
          t() {
            inText = false
          },
          p() {
            if (text.trim() !== '' && paragraphs.length < MOST_DRAWN) paragraphs.push(text.trim())
            text = ''
          },
        },
      },
      { until: sink },
    )
    if (paragraphs.length > 0 || !isDrawing) sink.line(`[${name}] ${paragraphs.join(' / ')}`.trim())
    if (isDrawing) await readDrawn(zip, await zip.relations(target), sink, true)
  }
}

/** Paragraphs of what is drawn at one place. */
const MOST_DRAWN = 500

/** Returns true for a document in the format of OpenDocument that only a password opens. */
export async function isLockedOpenDocument(zip: ZipParts): Promise<boolean> {
  let locked = false
  await zip.read('META-INF/manifest.xml', {
    open: {
      'encryption-data': () => {
        locked = true
      },
    },
  })
  return locked
}

/** Writes the chapters of an e-book in their order. */
export async function readBook(zip: ZipParts, sink: TextSink): Promise<void> {
  let packed = ''
  await zip.read('META-INF/container.xml', {
    open: {
      rootfile(attributes) {
        packed ||= attributes['full-path'] ?? ''
      },
    },
  })
  const folder = packed.slice(0, packed.lastIndexOf('/') + 1)
  const items = new Map<string, string>()
  const chapters: string[] = []
  await zip.read(packed, {
    open: {
      item: ({ id = '', href = '' }) => void items.set(id, resolvePart(folder, unescapedPath(href))),
      itemref: ({ idref = '' }) => void chapters.push(idref),
    },
  })
  for (const chapter of chapters) {
    if (sink.isFull) sink.isCut = true
    else await zip.read(items.get(chapter) ?? '', pageReader(sink), { until: sink, isHtml: true })
  }
}

function unescapedPath(path: string): string {
  try {
    return decodeURI(path)
  } catch {
    return path
  }
}

const HEADINGS = ['h1', 'h2', 'h3', 'h4', 'h5', 'h6']
/** Elements that begin a line. */
const BLOCKS = ['p', 'div', 'section', 'tr', 'table', 'blockquote', 'pre', 'body', 'br', 'li', ...HEADINGS]

function pageReader(sink: TextSink): PartReader {
  let [text, mark] = ['', '']
  const end = (): void => {
    const said = text.replace(/\s+/g, ' ').trim()
    text = ''
    if (said !== '') sink.line(`${mark}${said}`)
    if (said !== '') mark = ''
  }
  const begin = (with_: string) => (): void => {
    end()
    mark = with_
  }
  const cell = (): void => {
    text += ' | '
  }
  return {
    skip: new Set(['head', 'script', 'style']),
    open: {
      ...Object.fromEntries(BLOCKS.map((name) => [name, end])),
      li: begin('- '),
      ...Object.fromEntries(HEADINGS.map((name, at) => [name, begin(`${'#'.repeat(at + 1)} `)])),
    },
    text(words) {
      text += words
    },
    close: { ...Object.fromEntries(BLOCKS.map((name) => [name, end])), td: cell, th: cell },
  }
}
