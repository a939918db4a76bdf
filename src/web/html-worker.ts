import { parentPort, workerData } from 'node:worker_threads'
import { htmlToMarkdown } from './html-to-markdown.ts'
import { plainPage } from './plain-text.ts'

/** The page that the worker converts, and the most characters of its answer. */
export interface HtmlJob {
  readonly html: string
  readonly base: string
  readonly longest: number
  /** The page is read as text without form, in one pass. */
  readonly plain: boolean
}

const { html, base, longest, plain }: HtmlJob = workerData
const { markdown, ...rest } = plain ? plainPage(html) : htmlToMarkdown(html, base)
parentPort?.postMessage({ ...rest, markdown: markdown.slice(0, longest) })
