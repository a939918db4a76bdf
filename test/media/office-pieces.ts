import type { FileReading } from '../../src/core/message.ts'
import { readOffice } from '../../src/media/office-text.ts'

/** Reads a document by the reader alone, as the process does that is made for each one that arrives. */
export async function read(bytes: Uint8Array): Promise<FileReading> {
  const read = await readOffice(bytes, 20_000, () => false)
  if (read.kind !== 'text') throw new Error(`It is shown as ${read.kind}.`)
  const { text, isCut, note } = read
  return { text, ...(isCut ? { cut: 'the end' } : {}), ...(note === '' ? {} : { note }) }
}

/** A run of words in a form. */
export const run = (words: string, form = ''): string =>
  `<w:r><w:rPr>${form}</w:rPr><w:t xml:space="preserve">${words}</w:t></w:r>`
/** A paragraph of a run. */
export const paragraph = (words: string, form = ''): string => `<w:p><w:pPr>${form}</w:pPr>${run(words)}</w:p>`
/** An item of a list. */
export const item = (words: string, list: number, level = 0): string =>
  paragraph(words, `<w:numPr><w:ilvl w:val="${level}"/><w:numId w:val="${list}"/></w:numPr>`)

/** A slide of shapes, with further attributes. */
export const slide = (shapes: string, more = ''): string => `<p:sld xmlns:p="p" xmlns:a="a"${more}>${shapes}</p:sld>`
