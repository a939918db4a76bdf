/** Width and height of a picture in pixels, and whether it moves. */
export interface ImageHeader {
  readonly width: number
  readonly height: number
  readonly moves: boolean
}

/**
 * Returns what the header of a picture says, without decoding it: a few bytes say what would unpack to gigabytes.
 * Undefined where there is no such header.
 */
export function readImageHeader(mime: string, bytes: Uint8Array): ImageHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    switch (mime) {
      case 'image/png':
        return { width: view.getUint32(16), height: view.getUint32(20), moves: false }
      case 'image/gif':
        return { width: view.getUint16(6, true), height: view.getUint16(8, true), moves: hasFrames(view) }
      case 'image/jpeg':
        return readJpeg(view)
      case 'image/webp':
        return readWebp(view)
      default:
        return undefined
    }
  } catch (error) {
    // It ends in the middle of its header.
    if (error instanceof RangeError) return undefined
    throw error
  }
}

/** The size stands in the first frame header; the segments before it are passed over by their lengths. */
function readJpeg(view: DataView): ImageHeader | undefined {
  let at = 2
  while (view.getUint8(at) === 0xff) {
    const marker = view.getUint8(at + 1)
    const isFrame = marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc
    if (isFrame) return { width: view.getUint16(at + 7), height: view.getUint16(at + 5), moves: false }
    // Fill bytes may stand before a marker.
    at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2)
  }
  return undefined
}

const EXIF = 0x45786966
const LITTLE_ENDIAN = 0x4949
const ORIENTATION = 0x0112
const SHORT = 3

/**
 * Returns how the pixels of a JPEG lie, as its camera wrote it down: 1 is upright, up to 8 are turned or mirrored. A
 * model sees the pixels as they lie.
 */
export function orientationOf(bytes: Uint8Array): number {
  if (bytes[0] !== 0xff || bytes[1] !== 0xd8) return 1
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  try {
    let at = 2
    while (view.getUint8(at) === 0xff) {
      const marker = view.getUint8(at + 1)
      if (marker === 0xda) return 1
      if (marker === 0xe1 && view.getUint32(at + 4) === EXIF) return orientationIn(view, at + 10)
      at += marker === 0xff ? 1 : 2 + view.getUint16(at + 2)
    }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  return 1
}

/** Reads the first directory of what the camera wrote. */
function orientationIn(view: DataView, begin: number): number {
  const little = view.getUint16(begin) === LITTLE_ENDIAN
  const directory = begin + view.getUint32(begin + 4, little)
  for (let left = view.getUint16(directory, little), at = directory + 2; left > 0; left--, at += 12) {
    if (view.getUint16(at, little) !== ORIENTATION || view.getUint16(at + 2, little) !== SHORT) continue
    const value = view.getUint16(at + 8, little)
    return value >= 1 && value <= 8 ? value : 1
  }
  return 1
}

function readWebp(view: DataView): ImageHeader | undefined {
  const chunk = String.fromCharCode(view.getUint8(12), view.getUint8(13), view.getUint8(14), view.getUint8(15))
  if (chunk === 'VP8X') {
    const moves = (view.getUint8(20) & 0x02) !== 0
    return { width: 1 + uint24(view, 24), height: 1 + uint24(view, 27), moves }
  }
  if (chunk === 'VP8L') {
    const packed = view.getUint32(21, true)
    return { width: 1 + (packed & 0x3fff), height: 1 + ((packed >> 14) & 0x3fff), moves: false }
  }
  if (chunk !== 'VP8 ') return undefined
  return { width: view.getUint16(26, true) & 0x3fff, height: view.getUint16(28, true) & 0x3fff, moves: false }
}

function uint24(view: DataView, at: number): number {
  return view.getUint16(at, true) + (view.getUint8(at + 2) << 16)
}

const EXTENSION = 0x21
const FRAME = 0x2c

/** Returns true for a GIF with a second frame; blocks are passed over by their lengths. */
function hasFrames(view: DataView): boolean {
  let at = 13 + colorTable(view.getUint8(10))
  let frames = 0
  while (at < view.byteLength) {
    const block = view.getUint8(at)
    if (block === FRAME && ++frames > 1) return true
    if (block === FRAME) at = afterBlocks(view, at + 11 + colorTable(view.getUint8(at + 9)))
    else if (block === EXTENSION) at = afterBlocks(view, at + 2)
    else return false
  }
  return false
}

function colorTable(flags: number): number {
  return (flags & 0x80) === 0 ? 0 : 3 * 2 ** ((flags & 0x07) + 1)
}

/** Returns the place after the data blocks; a file that ends among them has no second frame. */
function afterBlocks(view: DataView, begin: number): number {
  let at = begin
  while (at < view.byteLength && view.getUint8(at) !== 0) at += 1 + view.getUint8(at)
  return at + 1
}
