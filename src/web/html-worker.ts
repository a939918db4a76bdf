import { parentPort, workerData } from 'node:worker_threads'
import { htmlToMarkdown } from './html-to-markdown.ts'

/** The page that the worker converts, and the most characters of its answer. */
export interface HtmlJob {
  readonly html: string
  readonly base: string
  readonly longest: number
}

const { html, base, longest }: HtmlJob = workerData
const { markdown, ...rest } = htmlToMarkdown(html, base)
parentPort?.postMessage({ ...rest, markdown: markdown.slice(0, longest) })
