import { decodeWestern, encodingOf } from '../core/read-text.ts'
import { FormedText, type TextForm, type TextSink } from './office-parts.ts'
import { addressIn, CHECKED, LONGEST_CODE, UNCHECKED } from './word-text.ts'

/** Writes the text of a document in RTF. */
export function readRtf(bytes: Uint8Array, sink: TextSink): void {
  new RtfReader(Buffer.from(bytes).toString('latin1'), sink)
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
