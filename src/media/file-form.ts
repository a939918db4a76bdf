import { createCipheriv, createDecipheriv, randomBytes, webcrypto } from 'node:crypto'
import { ParleyError } from '../core/errors.ts'
import { digestOf, type MediaId, mediaId } from '../core/ids.ts'
import type { StoreKey } from '../core/store-key.ts'

/** The way in which files of the media store lie on the disk. */
export interface DiskForm {
  nameOf(id: MediaId): string
  /** Returns the id of a file by its name; absent for a name of another form. */
  idOf(name: string): MediaId | undefined
  /** The bytes that it adds to a file. */
  readonly more: number
  seal(id: MediaId, bytes: Uint8Array): Promise<Uint8Array>
  /** Throws `unreadable` for bytes that were not sealed with this key for this id. */
  open(id: MediaId, stored: Uint8Array): Promise<Uint8Array>
}

const DIGEST = /^[0-9a-f]{64}$/

/** They lie as they came, under the digest of their content. */
export const PLAIN_FILES: DiskForm = {
  nameOf: digestOf,
  idOf: (name) => (DIGEST.test(name) ? mediaId(name) : undefined),
  more: 0,
  seal: async (_id, bytes) => bytes,
  open: async (_id, stored) => stored,
}

const SEALED = /^([0-9a-f]{64})\.sealed$/
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypted with AES-256-GCM, a fresh nonce before the bytes of each, and bound to their ids. Their names are encrypted
 * too: a digest would show whoever has a file that it is here.
 */
export function sealedFiles(key: StoreKey): DiskForm {
  const names = key.derive('file-names')
  const content = webcrypto.subtle.importKey('raw', key.derive('files'), 'AES-GCM', false, ['encrypt', 'decrypt'])
  // WebCrypto works away from the main thread, which a large file would block.
  const cipherOf = (id: MediaId, nonce: Uint8Array) => ({
    ...{ name: 'AES-GCM', iv: nonce },
    additionalData: new TextEncoder().encode(id),
  })
  return {
    nameOf: (id) => `${encrypt(names, digestOf(id))}.sealed`,
    idOf(name) {
      const [, hidden] = SEALED.exec(name) ?? []
      return hidden === undefined ? undefined : mediaId(decrypt(names, hidden))
    },
    more: NONCE_BYTES + TAG_BYTES,
    async seal(id, bytes) {
      const nonce = randomBytes(NONCE_BYTES)
      const sealed = await webcrypto.subtle.encrypt(cipherOf(id, nonce), await content, new Uint8Array(bytes))
      return Buffer.concat([nonce, new Uint8Array(sealed)])
    },
    async open(id, stored) {
      const nonce = new Uint8Array(stored.subarray(0, NONCE_BYTES))
      const sealed = new Uint8Array(stored.subarray(NONCE_BYTES))
      try {
        return new Uint8Array(await webcrypto.subtle.decrypt(cipherOf(id, nonce), await content, sealed))
      } catch (cause) {
        throw new ParleyError('unreadable', `The file ${id} was changed, or sealed with another key.`, { cause })
      }
    },
  }
}

/**
 * Encrypts a digest, which is two blocks. ECB is safe for these alone: the blocks of a digest are as good as random.
 * The name of a file has to be the same each time, and to lead back to the digest when files are swept.
 */
function encrypt(key: Uint8Array, digest: string): string {
  const cipher = createCipheriv('aes-256-ecb', key, null).setAutoPadding(false)
  return Buffer.concat([cipher.update(digest, 'hex'), cipher.final()]).toString('hex')
}

function decrypt(key: Uint8Array, hidden: string): string {
  const cipher = createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false)
  return Buffer.concat([cipher.update(hidden, 'hex'), cipher.final()]).toString('hex')
}
