import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Recode } from '../../src/store/engines/convert-database.ts'
import { withDatabase } from './temp-database.ts'

const START = 24
const MASK = 0xa5
/** The first bytes of an encrypted database: a salt, then the size of a page and what is added to each. */
const HEADER = Buffer.from('d83570b783f3af105a90b8c2473739191000010120402020', 'hex')

/**
 * A stand-in for the driver that encrypts, for what a conversion does on the disk: it veils a whole file at once, and
 * its files look to a reader like encrypted ones.
 */
export const veiling: Recode = {
  copy(from, to, form) {
    if (form === 'encrypted') {
      withDatabase(from, (database) => database.pragma('journal_mode = DELETE'))
      writeFileSync(to, Buffer.concat([HEADER, veil(readFileSync(from))]))
    } else {
      writeFileSync(to, unveiled(from))
      for (const side of ['-wal', '-shm']) rmSync(from + side, { force: true })
    }
  },
  compare(original, copy, form) {
    const [plain, veiled] = form === 'encrypted' ? [original, copy] : [copy, original]
    if (!unveiled(veiled).equals(readFileSync(plain))) throw new Error('the copy is another')
  },
}

function unveiled(path: string): Buffer {
  return veil(readFileSync(path).subarray(START))
}

function veil(bytes: Buffer): Buffer {
  return Buffer.from(bytes.map((byte) => byte ^ MASK))
}
