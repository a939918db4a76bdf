import { createHash } from 'node:crypto'

/** Without letters that are taken for others (Crockford's base 32). */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 10

/** `7k3fd-92mqx`: 50 bits of these random bytes, one byte a letter. */
export function formatLinkCode(bytes: Uint8Array): string {
  const letters = [...bytes.subarray(0, LENGTH)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('')
  return `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}`
}

export const LINK_CODE_BYTES = LENGTH

/**
 * Returns a code as codes are compared, however it was typed: case, width, look-alike letters and whatever stands between
 * the letters, seen or not, do not count.
 */
export function foldCode(typed: string): string {
  return typed
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replace(/o/g, '0')
    .replace(/[il]/g, '1')
}

/** Returns what is stored of a code. */
export function hashLinkCode(typed: string): string {
  return createHash('sha256').update(foldCode(typed)).digest('hex')
}
