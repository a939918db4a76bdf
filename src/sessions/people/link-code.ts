import { createHash } from 'node:crypto'

/** The alphabet without letters that are mistaken for others (Crockford's base 32). */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const LENGTH = 10

/** Returns 50 of these random bits as `7k3fd-92mqx`, one byte a letter. */
export function formatCode(bytes: Uint8Array): string {
  const letters = [...bytes.subarray(0, LENGTH)].map((byte) => ALPHABET.charAt(byte % ALPHABET.length)).join('')
  return `${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}`
}

export const CODE_BYTES = LENGTH

/**
 * Returns the form in which codes are compared, however one was typed: case, width, look-alike letters and any
 * characters between the letters, visible or not, do not count.
 */
export function foldCode(typed: string): string {
  return typed
    .replace(/\p{M}/gu, '') // To put 100,000 on one letter in order takes three seconds.
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '')
    .replace(/o/g, '0')
    .replace(/[il]/g, '1')
}

/** Returns true for a text in the form of `foldCode` that has the length and the letters of a code. */
export function isCode(folded: string): boolean {
  return folded.length === LENGTH && [...folded].every((letter) => ALPHABET.includes(letter))
}

/** Returns the hash of a code, which is all that is stored. */
export function hashCode(typed: string): string {
  return createHash('sha256').update(foldCode(typed)).digest('hex')
}
