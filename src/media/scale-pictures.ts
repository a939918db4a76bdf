import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { type MediaStore, MOST_SHOWN_BYTES } from '../core/media.ts'
import { builtFile, runChild } from '../platform/run-child.ts'
import { readImageHeader } from './image-header.ts'
import { kindOf, MOST_SIDE } from './media-kind.ts'
import { createPlaces } from './places.ts'

export interface ScaleDeps {
  readonly media: MediaStore
  readonly clock: Clock
  readonly logger: Logger
  /** Returns the path of the library that scales; undefined where it is not installed. */
  readonly library?: () => string | undefined
}

/** A picture that is larger than this is never decoded: its pixels would fill the memory. */
const MOST_SCALED_SIDE = 20_000
const MOST_SCALED_PIXELS = 100_000_000
/** The longest side of a scaled picture: models see no more of it. */
const SCALED_SIDE = 1_568
const BEGINNINGS = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', [0x52, 0x49, 0x46, 0x46]],
] as const
const WITHIN_MS = 60_000
const HEAP_MB = 128
const CHILD = 'scale-child.js'

/**
 * Returns a media store that keeps a smaller copy of a picture that is too large for models. Where the library is not
 * installed, where it fails, and once the signal of its turn aborts, the picture is kept as it is, and is named in
 * words. Made once, for its queue is everybody's.
 */
export function scalePictures({ media, clock, logger, library = installedLibrary }: ScaleDeps): MediaStore {
  // One at a time, for each takes memory.
  const inTurn = createPlaces(1)

  async function scaled(bytes: Uint8Array, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const mime = beginsAs(bytes)
    if (mime === undefined || !isToBeScaled(mime, bytes) || (await kindOf(bytes)).mime !== mime) return undefined
    const path = library()
    if (path === undefined) return undefined
    try {
      return await inTurn(() => scale(path, bytes, { clock, signal }), signal)
    } catch (err) {
      if (!signal.aborted) logger.warn('A picture could not be scaled', { err, bytes: bytes.length })
      return undefined
    }
  }

  return {
    keep: async (bytes, name, signal = NEVER) => media.keep((await scaled(bytes, signal)) ?? bytes, name),
    read: (id) => media.read(id),
  }
}

const NEVER = new AbortController().signal

/** Files that are no pictures cost nothing more than a look at their first bytes. */
function beginsAs(bytes: Uint8Array): string | undefined {
  return BEGINNINGS.find(([, begins]) => begins.every((byte, at) => bytes[at] === byte))?.[0]
}

/** Decides by the header alone; what has none that can be read is left alone. */
export function isToBeScaled(mime: string, bytes: Uint8Array): boolean {
  const header = readImageHeader(mime, bytes)
  if (header === undefined || header.moves) return false
  const { width, height } = header
  const side = Math.max(width, height)
  if (side > MOST_SCALED_SIDE || width * height > MOST_SCALED_PIXELS || width * height === 0) return false
  return side > MOST_SIDE || bytes.length > MOST_SHOWN_BYTES
}

/** Returns a smaller picture, as JPEG, made in a process of its own with bounds of time and size. */
function scale(
  library: string,
  input: Uint8Array,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const args = [library, String(SCALED_SIDE), String(MOST_SCALED_PIXELS)]
  const bounds = { heapMb: HEAP_MB, mostBytes: MOST_SHOWN_BYTES, withinMs: WITHIN_MS }
  return runChild(builtFile(CHILD), { ...bounds, args, input, clock, signal })
}

/** Looks for the library as the file that loads it would, without loading it. */
function installedLibrary(): string | undefined {
  try {
    return createRequire(fileURLToPath(builtFile(CHILD))).resolve('sharp')
  } catch {
    return undefined
  }
}
