import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { type MediaStore, MOST_SHOWN_BYTES } from '../core/media.ts'
import { builtFile, createPlaces, runChild } from '../platform/run-child.ts'
import { orientationOf, readImageHeader } from './image-header.ts'
import { kindOf, MOST_SIDE } from './media-kind.ts'

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
/** Without the library a picture of more pixels is not decoded. */
const MOST_OWN_PIXELS = 50_000_000
const BEGINNINGS = [
  ['image/png', 0, [0x89, 0x50, 0x4e, 0x47]],
  ['image/jpeg', 0, [0xff, 0xd8, 0xff]],
  ['image/gif', 0, [0x47, 0x49, 0x46, 0x38]],
  ['image/webp', 0, [0x52, 0x49, 0x46, 0x46]],
  // All pictures in boxes; their kinds are distinguished later.
  ['image/heif', 4, [0x66, 0x74, 0x79, 0x70]],
  ['image/tiff', 0, [0x49, 0x49, 0x2a, 0]],
  ['image/tiff', 0, [0x4d, 0x4d, 0, 0x2a]],
] as const
const PHONE = /^image\/hei[cf](?:-sequence)?$/
const WITHIN_MS = 60_000
const HEAP_MB = 128
/** A picture that is decoded without the library takes more. */
const OWN_HEAP_MB = 512
const CHILD = 'scale-child.js'

/**
 * Returns a media store that keeps another copy of a picture in place of itself, as JPEG: a smaller one of a picture
 * that is too large for models, an upright one of a JPEG that lies on its side, and one of a picture in the format of
 * phones. Where the library is installed a PNG, GIF or WebP is scaled too, and AVIF and TIFF are converted. Where it is
 * not, where decoding fails, and once the signal of its turn aborts, the picture is kept as it is, and is named in
 * words. Made once, for its queue is everybody's.
 */
export function scalePictures({ media, clock, logger, library = installedLibrary }: ScaleDeps): MediaStore {
  // One at a time, for each takes memory.
  const inTurn = createPlaces(1)

  async function scaled(bytes: Uint8Array, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const begins = beginsAs(bytes)
    if (begins === undefined || !isToBeChanged(begins, bytes)) return undefined
    const decoder = decoderOf(begins, (await kindOf(bytes)).mime, library)
    if (decoder === undefined) return undefined
    try {
      return await inTurn(() => scale(decoder, bytes, { clock, signal }), signal)
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

interface Decoder {
  readonly name: 'sharp' | 'heif' | 'jpeg'
  /** The path of its library. */
  readonly library: string
}

/** Its files are copied beside the build as they are: their licence asks that they can be replaced. */
const PHONE_DECODER: Decoder = { name: 'heif', library: fileURLToPath(builtFile('libheif/libheif.cjs')) }

/** Returns undefined for what only begins as a picture, and for one that nothing here decodes. */
function decoderOf(begins: string, mime: string, library: () => string | undefined): Decoder | undefined {
  const isPhone = PHONE.test(mime)
  if (mime !== begins && !(begins === 'image/heif' && (isPhone || mime === 'image/avif'))) return undefined
  if (isPhone) return PHONE_DECODER
  const path = library()
  if (path !== undefined) return { name: 'sharp', library: path }
  return mime === 'image/jpeg' ? { name: 'jpeg', library: '' } : undefined
}

/** Files that are no pictures cost nothing more than a look at their first bytes. */
function beginsAs(bytes: Uint8Array): string | undefined {
  return BEGINNINGS.find(([, at, begins]) => begins.every((byte, index) => bytes[at + index] === byte))?.[0]
}

function isToBeChanged(begins: string, bytes: Uint8Array): boolean {
  if (begins === 'image/heif' || begins === 'image/tiff') return true
  return isToBeScaled(begins, bytes) || (begins === 'image/jpeg' && orientationOf(bytes) !== 1)
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

/** Returns a picture as JPEG, made in a process of its own with bounds of time and size. */
async function scale(
  { name, library }: Decoder,
  input: Uint8Array,
  { clock, signal }: { readonly clock: Clock; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const mostPixels = name === 'sharp' ? MOST_SCALED_PIXELS : MOST_OWN_PIXELS
  const args = [name, library, String(SCALED_SIDE), String(mostPixels), String(orientationOf(input))]
  const bounds = { heapMb: name === 'sharp' ? HEAP_MB : OWN_HEAP_MB, mostBytes: MOST_SHOWN_BYTES, withinMs: WITHIN_MS }
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
