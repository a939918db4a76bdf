import { ParleyError } from './errors.ts'

const FIRST = 16 * 1024

/**
 * Bytes that come from outside in pieces, up to a limit. The pieces are copied into one buffer that grows, so that
 * a body in pieces of one byte costs no more memory than a body in one.
 */
export class Bytes {
  readonly #most: number
  #held = Buffer.alloc(0)
  #length = 0

  /** `most`: the limit in bytes. */
  constructor(most: number) {
    this.#most = most
  }

  get length(): number {
    return this.#length
  }

  /** Takes a piece, of one that exceeds the limit only what fits. Returns false for such a piece. */
  add(piece: Uint8Array): boolean {
    const fits = Math.min(piece.length, this.#most - this.#length)
    const length = this.#length + fits
    if (length > this.#held.length) {
      const grown = Buffer.allocUnsafe(Math.min(this.#most, Math.max(FIRST, length, this.#held.length * 2)))
      this.#held.copy(grown, 0, 0, this.#length)
      this.#held = grown
    }
    this.#held.set(piece.subarray(0, fits), this.#length)
    this.#length = length
    return fits === piece.length
  }

  /** Returns all bytes taken so far. They are not copied: nothing may be added afterwards. */
  whole(): Buffer {
    return this.#held.subarray(0, this.#length)
  }
}

/**
 * Returns the bytes of a body from outside. Throws `too_long` with the first piece that exceeds `most` bytes; the body
 * is then left by its iterator's `return`. Rejects with the error of the body where that breaks off. The caller bounds
 * the time.
 */
export async function readBytes(body: AsyncIterable<Uint8Array>, most: number): Promise<Buffer> {
  const { bytes, cut } = await readFirstBytes(body, most)
  if (cut) throw tooManyBytes(most)
  return bytes
}

/** Returns the first `most` bytes of a body from outside; `cut`: it has more, which nobody reads. */
export async function readFirstBytes(
  body: AsyncIterable<Uint8Array>,
  most: number,
): Promise<{ readonly bytes: Buffer; readonly cut: boolean }> {
  const bytes = new Bytes(most)
  for await (const piece of body) if (!bytes.add(piece)) return { bytes: bytes.whole(), cut: true }
  return { bytes: bytes.whole(), cut: false }
}

/** Yields bytes in pieces of a size: for a parser whose work grows faster than what it is given at once. */
export function* pieces(bytes: Uint8Array, size: number): Generator<Uint8Array, void, void> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

const FREE_PIECES = 1_000
/** Far less than any sender puts into a chunk on average. */
const LEAST_OF_PIECE = 64

/** True for a body in pieces that cost far more than their bytes: each is some work, were it of one byte. */
export function tooManyPieces(count: number, bytes: number): boolean {
  return count > FREE_PIECES + bytes / LEAST_OF_PIECE
}

/** Returns the error for a body that is longer, or announces that it is. */
export function tooManyBytes(most: number): ParleyError {
  return new ParleyError('too_long', `The body has more than ${most} bytes.`)
}
