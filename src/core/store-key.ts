import { hkdfSync } from 'node:crypto'

/** The uses of the store's key. Each has a key of its own, so that what is known of one says nothing of the others. */
export type KeyUse = 'database' | 'files' | 'file-names' | 'conversion'

/** The name by which Node asks an object how it is to be shown. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom')

const BYTES = 32
const HEX = /^[0-9a-f]{64}$/i
/** Among 32 random bytes hardly two or three are alike; what a person makes up repeats itself. */
const LEAST_DIFFERENT = 16

export const MAKE_A_KEY = 'make one with: openssl rand -hex 32'

/** The key with which a store is encrypted: 32 random bytes (C48). It never prints itself. */
export class StoreKey {
  readonly #bytes: Buffer

  /** Called with a text that `storeKeyMistake` finds nothing wrong with. */
  constructor(hex: string) {
    this.#bytes = Buffer.from(hex, 'hex')
  }

  /** Returns the 32 bytes for one use: the same from the same key, always. */
  derive(use: KeyUse): Buffer {
    return Buffer.from(hkdfSync('sha256', this.#bytes, '', `parley store: ${use}`, BYTES))
  }

  toString(): string {
    return '[secret]'
  }

  toJSON(): string {
    return '[secret]'
  }

  [INSPECT](): string {
    return '[secret]'
  }
}

/** Returns what is wrong with the text of a key and what to do about it, never the key; absent where it is one. */
export function storeKeyMistake(text: string): string | undefined {
  if (!HEX.test(text)) return `must be 64 hexadecimal digits and has ${text.length} characters; ${MAKE_A_KEY}`
  if (new Set(Buffer.from(text, 'hex')).size < LEAST_DIFFERENT) return `is not random; ${MAKE_A_KEY}`
  return undefined
}
