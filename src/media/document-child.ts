import { arrayBuffer } from 'node:stream/consumers'

/** A piece of text, or a mark without any. */
interface PageItem {
  readonly str?: string
  readonly hasEOL?: boolean
}

/** Bytes of what a document unpacks to, and of all arrays that the library makes for it. */
const MOST_BYTES = 256 * 1024 * 1024

/** The encodings that the engine decodes. */
const DECODED = [
  ...['windows-1250', 'windows-1251', 'windows-1252', 'windows-1253', 'windows-1254', 'windows-1255', 'windows-1256'],
  ...['windows-1257', 'cp874', 'iso-8859-2', 'iso-8859-5', 'iso-8859-16', 'koi8-r'],
  ...['koi8-u', 'cp866', 'mac-cyrillic', 'mac-roman', 'cp932', 'euc-jp', 'gb18030', 'big5-hkscs', 'cp949'],
]
const MOST_ENCODINGS = 8

// The program of a process, which reads its input. Its first argument says what is wanted:
// - `pdf`: it writes `locked`, or a line with the numbers of the pages that were come to, of all pages and of each
//   damaged one, and the text behind it;
// - `office`: a line with the kind of the outcome and words about it, and the text behind it;
// - `charset`: a line for each encoding that a text may be in, with the confidence, the best first.
const began = performance.now()
const [wanted, ...numbers] = process.argv.slice(2)
const [longest = 0, untilMs = 0] = numbers.map(Number)
const bytes = new Uint8Array(await arrayBuffer(process.stdin))
const isLate = (): boolean => performance.now() - began > untilMs
process.stdout.write(await (wanted === 'charset' ? encodings() : wanted === 'office' ? officeText() : pdfText()))

async function encodings(): Promise<string> {
  const { detectAll } = await import('jschardet')
  const found = detectAll(bytes, { detectEncodings: DECODED, minimumThreshold: 0 })
  return found
    .slice(0, MOST_ENCODINGS)
    .map(({ encoding, confidence }) => `${encoding} ${confidence}`)
    .join('\n')
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
  const document = await getDocumentProxy(bytes, { verbosity: 0 }).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'PasswordException') return undefined
    throw error
  })
  if (document === undefined) return 'locked'
  const damaged: number[] = []
  let [text, read] = ['', 0]
  while (read < document.numPages && text.length < longest && (read === 0 || !isLate())) {
    const lines = await textOf(document, ++read).catch(() => void damaged.push(read))
    if (lines !== undefined) text += `${text === '' ? '' : '\n\n'}${lines}`
  }
  return `${[read, document.numPages, ...damaged].join(' ')}\n${text.slice(0, longest)}`
}

async function textOf(
  document: Awaited<ReturnType<typeof import('unpdf').getDocumentProxy>>,
  no: number,
): Promise<string> {
  const page = await document.getPage(no)
  const { items } = await page.getTextContent()
  page.cleanup()
  return items.map(({ str = '', hasEOL }: PageItem) => `${str}${hasEOL ? '\n' : ''}`).join('')
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
