import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { ParleyError, toError } from '../../core/errors.ts'

/** The first look at a database file. `other` is damaged, or nothing of ours. */
export type FileForm = 'absent' | 'empty' | 'plain' | 'encrypted' | 'other'

const MAGIC = Buffer.from('SQLite format 3\0')
const HEADER_BYTES = 24

/**
 * Returns the form of the file. The driver that encrypts leaves bytes 16 to 23 of the first page as they are: the size
 * of a page, and what it adds to each. Called before the engine opens the file: to close it later would drop the locks.
 */
export function formOf(path: string): FileForm {
  if (!existsSync(path)) return 'absent'
  const header = readable(path)
  if (header.length === 0) return 'empty'
  if (header.length < HEADER_BYTES) return 'other'
  if (header.subarray(0, MAGIC.length).equals(MAGIC)) return 'plain'
  return hasShape(header) ? 'encrypted' : 'other'
}

/** Some bytes are added to each page; the three that follow are the same in every database. */
function hasShape(header: Buffer): boolean {
  const pageSize = header.readUInt16BE(16)
  const isPower = pageSize === 1 || (pageSize >= 512 && (pageSize & (pageSize - 1)) === 0)
  return isPower && (header[20] ?? 0) > 0 && header.subarray(21, HEADER_BYTES).equals(Buffer.from([64, 32, 32]))
}

function readable(path: string): Buffer {
  try {
    return readStart(path)
  } catch (cause) {
    const message = `${path} cannot be read (${toError(cause).message}); check owner and mode of the file and its folder`
    throw new ParleyError('unavailable', message, { cause })
  }
}

function readStart(path: string): Buffer {
  const file = openSync(path, 'r')
  try {
    const header = Buffer.alloc(HEADER_BYTES)
    return header.subarray(0, readSync(file, header, 0, HEADER_BYTES, 0))
  } finally {
    closeSync(file)
  }
}

/** The file beside a database that stands there while it is encrypted or decrypted. */
export function conversionFile(path: string): string {
  return `${path}.conversion`
}

/** Throws `config`, with the remedy, for a database that is not in the form which the configuration asks for. */
export function checkForm(path: string, keyed: boolean): void {
  if (existsSync(conversionFile(path))) {
    throw new ParleyError(
      'config',
      `${path} is partly encrypted: "parley store encrypt" or "decrypt" was interrupted. ${FINISH}`,
    )
  }
  const form = formOf(path)
  if (form === 'encrypted' && !keyed)
    throw new ParleyError('config', `${path} is encrypted, and no key is configured. ${GIVE_KEY}`)
  if (form === 'plain' && keyed)
    throw new ParleyError('config', `store.key is set, and ${path} is not encrypted. ${ENCRYPT}`)
}

/** Returns the error for an encrypted database that the key does not open. */
export function wrongKey(path: string, cause: unknown): ParleyError {
  const message = `store.key does not open ${path}: it was encrypted with another key, or the file is damaged. ${OTHER_KEY}`
  return new ParleyError('config', message, { cause })
}

const FINISH = 'Run it once more, with the same key: it goes on where it was.'
const GIVE_KEY = 'Set store.key to the key with which it was encrypted.'
const ENCRYPT = 'Stop the daemon and run "parley store encrypt", or take store.key out of the configuration.'
const OTHER_KEY = 'Set store.key to the key with which it was encrypted; without it nothing in there can be read.'
