import { arrayBuffer } from 'node:stream/consumers'

/** A piece of text, or a mark without any. */
interface PageItem {
  readonly str?: string
  readonly hasEOL?: boolean
}

/** Bytes of what a document unpacks to, and of all arrays that the library makes for it. */
const MOST_BYTES = 256 * 1024 * 1024

/** Fields of a page, and characters of each. */
const MOST_FIELDS = 2_000
const LONGEST_NAME = 200
const LONGEST_VALUE = 5_000

// The program of a process, which reads its input. Its first argument says what is wanted:
// - `pdf`: it writes `locked`, or a line with the numbers of the pages that were come to and of all pages, 1
//   where words of it could not be read, and the number of each damaged page, and the text behind it;
// - `office`: a line with the kind of the outcome and words about it, and the text behind it;
// - `charset`: a line for each encoding that a text may be in, with the confidence, the best first.
const began = performance.now()
const [wanted, ...numbers] = process.argv.slice(2)
const [longest = 0, untilMs = 0] = numbers.map(Number)
const bytes = new Uint8Array(await arrayBuffer(process.stdin))
const isLate = (): boolean => performance.now() - began > untilMs
process.stdout.write(await (wanted === 'charset' ? encodings() : wanted === 'office' ? officeText() : pdfText()))

async function encodings(): Promise<string> {
  const { detectEncodings } = await import('../platform/decode-text.ts')
  return (await detectEncodings(bytes)).map(({ encoding, confidence }) => `${encoding} ${confidence}`).join('\n')
}

async function officeText(): Promise<string> {
  const { readOffice } = await import('./office-text.ts')
  const read = await readOffice(bytes, longest, isLate)
  if (read.kind === 'names') return `names ${read.names.length}\n${read.names.join('\n').slice(0, longest)}`
  if (read.kind === 'unread') return `unread ${read.reason}\n`
  return `${read.isCut ? 'cut' : 'text'} ${read.note}\n${read.text.slice(0, longest)}`
}

async function pdfText(): Promise<string> {
  const { getDocumentProxy } = await import('unpdf')
  boundArrays()
  /** Some fonts of East Asia are coded by tables that a PDF only names, and that the library asks for here. */
  let unread = 0
  const BinaryDataFactory = class {
    async fetch({ kind }: { readonly kind: string }): Promise<never> {
      if (kind === 'cMapUrl') unread = 1
      throw new Error('There are no such tables.')
    }
  }
  const document = await getDocumentProxy(bytes, { verbosity: 0, BinaryDataFactory }).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'PasswordException') return undefined
    throw error
  })
  if (document === undefined) return 'locked'
  const damaged: number[] = []
  const fields = new Set<string>()
  let [text, read] = ['', 0]
  while (read < document.numPages && text.length < longest && (read === 0 || !isLate())) {
    const lines = await textOf(document, ++read, fields).catch(() => void damaged.push(read))
    if (lines !== undefined) text += `${text === '' ? '' : '\n\n'}${lines}`
  }
  return `${[read, document.numPages, unread, ...damaged].join(' ')}\n${text.slice(0, longest)}`
}

type PdfDocument = Awaited<ReturnType<typeof import('unpdf').getDocumentProxy>>

/** Returns the words of a page and, behind them, its fields that no earlier page has. */
async function textOf(document: PdfDocument, no: number, seen: Set<string>): Promise<string> {
  const page = await document.getPage(no)
  const { items } = await page.getTextContent()
  // A page whose fields are damaged has its text all the same.
  const widgets: readonly Widget[] = await page.getAnnotations().catch(() => [])
  page.cleanup()
  const words = items.map(({ str = '', hasEOL }: PageItem) => `${str}${hasEOL ? '\n' : ''}`).join('')
  const fields = fieldLines(widgets).filter((line) => !seen.has(line))
  for (const line of fields) seen.add(line)
  return [words.replace(/\n$/, ''), ...fields].filter((line) => line !== '').join('\n')
}

/** A field on a page, as the library describes it. */
interface Widget {
  /** It is hidden, or not seen on a screen. */
  readonly hidden?: boolean
  readonly password?: boolean
  readonly fieldType?: string | null
  readonly fieldName?: string
  readonly fieldValue?: unknown
  /** The label of the field for screen readers. */
  readonly alternativeText?: string
  readonly checkBox?: boolean
  readonly radioButton?: boolean
  readonly exportValue?: string
  readonly buttonValue?: string | null
  readonly options?: readonly { readonly exportValue: string; readonly displayValue: string }[]
}

/** Returns a line for each field of a form: its name and its value. The buttons of a group are one field. */
function fieldLines(widgets: readonly Widget[]): readonly string[] {
  const fields = new Map<string, Widget[]>()
  for (const widget of widgets.slice(0, MOST_FIELDS)) {
    const { hidden, password, fieldType, fieldName = '', checkBox, radioButton } = widget
    const hasValue = fieldType === 'Tx' || fieldType === 'Ch' || checkBox || radioButton
    if (hasValue && !hidden && !password) fields.set(fieldName, [...(fields.get(fieldName) ?? []), widget])
  }
  return [...fields].map(([name, group]) => {
    const label = inLine(group[0]?.alternativeText ?? '', LONGEST_NAME)
    const named = inLine(name, LONGEST_NAME)
    const of = label === '' || label === named ? '' : ` (${label})`
    return `[field] ${named}${of}: ${inLine(fieldValueOf(group), LONGEST_VALUE) || '(empty)'}`
  })
}

function inLine(words: string, longest: number): string {
  return words
    .trim()
    .slice(0, longest)
    .replace(/\s*[\r\n]\s*/g, ' / ')
}

function fieldValueOf(group: readonly Widget[]): string {
  const [first] = group
  if (first?.checkBox || first?.radioButton) return chosenIn(group)
  const values: readonly unknown[] = [first?.fieldValue].flat().slice(0, MOST_FIELDS)
  const shown = (value: string): string =>
    first?.options?.find(({ exportValue }) => exportValue === value)?.displayValue ?? value
  return values.flatMap((value) => (typeof value === 'string' ? [shown(value)] : [])).join(', ')
}

/** Some programs number the buttons of a group, whose names stand in the text alone. */
function chosenIn(group: readonly Widget[]): string {
  const nameOf = ({ checkBox, exportValue, buttonValue }: Widget): string =>
    (checkBox ? exportValue : buttonValue) || 'Yes'
  const isOn = ({ fieldValue, ...one }: Widget): boolean =>
    typeof fieldValue === 'string' && !/^(?:Off)?$/.test(fieldValue) && fieldValue === nameOf(one)
  const chosen = group.filter(isOn).map((one) => {
    const name = nameOf(one)
    return /^\d+$/.test(name) ? `${name} (choice ${group.indexOf(one) + 1} of ${group.length})` : name
  })
  if (group.length > 1 || group[0]?.radioButton) return chosen.join(', ') || '(none chosen)'
  const [name] = chosen
  if (name === undefined) return 'not checked'
  return /^(?:yes|on|true|1.*)$/i.test(name) ? 'checked' : `checked (${name})`
}

/**
 * The bound on the heap of a process does not count typed arrays, into which a stream of a few bytes unpacks to
 * gigabytes. The library unpacks by the engine's own stream and, where that fails, into arrays that it makes larger and
 * larger: both throw `RangeError` for more than the bound.
 */
function boundArrays(): void {
  let left = MOST_BYTES
  const take = (length: number): void => {
    left -= length
    if (left < 0) throw new RangeError('This document unpacks to more than is read of one.')
  }
  globalThis.Uint8Array = new Proxy(Uint8Array, {
    construct(target, args, made) {
      if (typeof args[0] === 'number') take(args[0])
      return Reflect.construct(target, args, made)
    },
  })
  globalThis.DecompressionStream = new Proxy(DecompressionStream, {
    construct(target, args, made) {
      const { readable, writable }: DecompressionStream = Reflect.construct(target, args, made)
      const counting = new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, next) {
          take(chunk.byteLength)
          next.enqueue(chunk)
        },
      })
      return { readable: readable.pipeThrough(counting), writable }
    },
  })
}
