import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { ParleyError } from '../core/errors.ts'

/** Many times what a configuration of thousands of rules takes; more would be parsed for minutes, or never end. */
const MOST_BYTES = 1024 * 1024

/** Returns the text of a file or pipe and the mode of the very file that was read. Throws `too_long` beyond a megabyte. */
export function readBounded(path: string): { readonly text: string; readonly mode: number } {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(MOST_BYTES + 1)
    let length = 0
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(file, bytes, length, bytes.length - length, null)
    }
    if (length > MOST_BYTES) throw new ParleyError('too_long', `${path} is larger than 1 MB`)
    return { text: bytes.toString('utf8', 0, length), mode: fstatSync(file).mode }
  } finally {
    closeSync(file)
  }
}
