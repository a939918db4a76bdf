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
