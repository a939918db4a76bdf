import { cutText } from '../core/cut-text.ts'

/** Returns a text without what a text column does not give back, at most so long. */
export function shortened(text: string, longest: number): string {
  return cutText(text.replaceAll('\0', '').trim(), longest)
}

/** Returns a text as one line, without the marks of a heading or a quotation around it. */
export function oneLine(text: string, longest: number): string {
  const line = shortened(text, 1_000).replace(/\s+/g, ' ')
  return shortened(line.replace(/^#+\s*|^["'\p{Pi}\p{Pf}\u201E]+|["'\p{Pi}\p{Pf}]+$/gu, ''), longest)
}
