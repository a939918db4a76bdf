import { pipeline, type Readable, type Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { ParleyError } from '../core/errors.ts'
import { readFirstBytes } from '../core/read-bytes.ts'

/** `cut`: there was more of it than the limit. */
export type Body = Awaited<ReturnType<typeof readFirstBytes>>

/** The encodings a server may answer in. */
export const ENCODINGS = 'gzip, deflate, br'

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
}

/**
 * Reads a body until `most` decoded bytes; the rest stays with the server. Throws `invalid` for an encoding nobody
 * asked for; rejects with the error of the stream when the body ends early or is no such encoding.
 */
export async function readBody(raw: Readable, encoding: string | undefined, most: number): Promise<Body> {
  // A body that is left before its end says so as an error.
  raw.on('error', () => undefined)
  const stream = decoded(raw, encoding)
  try {
    return await readFirstBytes(stream, most)
  } finally {
    raw.destroy()
    stream.destroy()
  }
}

/**
 * Returns the decoded bytes of a body; an error of it destroys the result too. Throws `invalid` for an encoding nobody
 * asked for.
 */
export function decoded(raw: Readable, encoding: string | undefined): Readable {
  const name = encoding?.trim().toLowerCase() ?? ''
  if (name === '' || name === 'identity') return raw
  const decoder = Object.hasOwn(DECODERS, name) ? DECODERS[name]?.() : undefined
  if (decoder === undefined) {
    raw.destroy()
    throw new ParleyError('invalid', `The server answered in an encoding nobody asked for: ${name.slice(0, 40)}.`)
  }
  // An error of the one ends the other, and the reader sees it.
  return pipeline(raw, decoder, () => undefined)
}
