import { InvalidArgumentError } from 'commander'
import { ParleyError } from '../core/errors.ts'
import { readFirstBytes } from '../core/read-bytes.ts'

export const JSON_OPTION = ['--json', 'print the answer as JSON'] as const

/** Returns an argument that must not be empty. */
export function nonBlank(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.')
  return text
}

/** Kilobytes of standard input: more is no message. */
const MOST_STDIN_KB = 128

/** The argument of a command that says a text. */
export const TEXT = ['[text]', 'the text, Markdown; "-" reads it from standard input'] as const
export const NO_TEXT = `error: missing required argument 'text'; "-" reads it from standard input`

/** Returns the text that is meant by that argument. Throws `too_long` where standard input has too much. */
export async function givenText(text: string, stdin: NodeJS.ReadableStream): Promise<string> {
  if (text !== '-') return text
  const { bytes, cut } = await readFirstBytes(stdin as AsyncIterable<Uint8Array>, MOST_STDIN_KB * 1024)
  if (cut) throw new ParleyError('too_long', `Standard input has more than ${MOST_STDIN_KB} KB, which is no message.`)
  return bytes.toString('utf8').trimEnd()
}

/** Returns a parser for a whole number within bounds. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    throw new InvalidArgumentError(
      most === Number.MAX_SAFE_INTEGER
        ? `It must be a whole number from ${least}.`
        : `It must be a whole number from ${least} to ${most}.`,
    )
  }
}
