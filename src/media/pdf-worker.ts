import { parentPort, workerData } from 'node:worker_threads'
import { getDocumentProxy } from 'unpdf'

/** The document that the worker reads, and the most characters of its answer. */
export interface PdfJob {
  readonly bytes: Uint8Array
  readonly longest: number
}

/** `read`: the pages whose text it is. */
export interface PdfText {
  readonly text: string
  readonly read: number
  readonly pages: number
}

/** A piece of text, or a mark without any. */
interface PageItem {
  readonly str?: string
  readonly hasEOL?: boolean
}

const { bytes, longest }: PdfJob = workerData
const document = await getDocumentProxy(bytes, { verbosity: 0 })
let [text, read] = ['', 0]
while (read < document.numPages && text.length < longest) {
  const page = await document.getPage(++read)
  const { items } = await page.getTextContent()
  const lines = items.map(({ str = '', hasEOL }: PageItem) => `${str}${hasEOL ? '\n' : ''}`).join('')
  text += `${text === '' ? '' : '\n\n'}${lines}`
  page.cleanup()
}
const found: PdfText = { text: text.slice(0, longest), read, pages: document.numPages }
parentPort?.postMessage(found)
