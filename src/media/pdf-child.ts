import { arrayBuffer } from 'node:stream/consumers'
import { getDocumentProxy } from 'unpdf'

/** A piece of text, or a mark without any. */
interface PageItem {
  readonly str?: string
  readonly hasEOL?: boolean
}

/** Bytes of what a document unpacks to, and of all arrays that the library makes for it. */
const MOST_BYTES = 256 * 1024 * 1024

// The program of a process: it reads the PDF of its input, and writes `locked`, or a line with the numbers of the pages
// that were come to, of all pages and of each damaged one, and the text behind it.
const began = performance.now()
const [longest, untilMs] = process.argv.slice(2).map(Number)
const bytes = new Uint8Array(await arrayBuffer(process.stdin))
boundArrays()
process.stdout.write(await readDocument(longest, untilMs))

async function readDocument(longest = 0, untilMs = 0): Promise<string> {
  const document = await getDocumentProxy(bytes, { verbosity: 0 }).catch((error: unknown) => {
    if (error instanceof Error && error.name === 'PasswordException') return undefined
    throw error
  })
  if (document === undefined) return 'locked'
  const damaged: number[] = []
  let [text, read] = ['', 0]
  while (read < document.numPages && text.length < longest && (read === 0 || performance.now() - began < untilMs)) {
    const lines = await textOf(document, ++read).catch(() => void damaged.push(read))
    if (lines !== undefined) text += `${text === '' ? '' : '\n\n'}${lines}`
  }
  return `${[read, document.numPages, ...damaged].join(' ')}\n${text.slice(0, longest)}`
}

async function textOf(document: Awaited<ReturnType<typeof getDocumentProxy>>, no: number): Promise<string> {
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
