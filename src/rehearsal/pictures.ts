/** The types of picture that models are shown, each with the bytes its files begin with. */
const beginnings: Readonly<Record<string, readonly number[]>> = {
  'image/jpeg': [0xff, 0xd8, 0xff],
  'image/png': [0x89, 0x50, 0x4e, 0x47],
  'image/gif': [0x47, 0x49, 0x46, 0x38],
  'image/webp': [0x52, 0x49, 0x46, 0x46],
}

export function isPictureType(type: string): boolean {
  return Object.hasOwn(beginnings, type)
}

/** Returns the type of a picture by its first bytes; undefined where it is none. */
export function pictureTypeOf(bytes: Uint8Array): string | undefined {
  return Object.entries(beginnings).find(([, begins]) => begins.every((byte, at) => bytes[at] === byte))?.[0]
}

/** Returns true for bytes that can be no picture because there are too few. */
export function isTorn(bytes: Uint8Array): boolean {
  return bytes.length < 32
}

/** Returns the longer side of a picture in pixels; 0 where its first bytes do not say it. */
export function longestSide(bytes: Buffer): number {
  if (isTorn(bytes)) return 0
  switch (pictureTypeOf(bytes)) {
    case 'image/png':
      return bytes.toString('latin1', 12, 16) === 'IHDR' ? Math.max(bytes.readUInt32BE(16), bytes.readUInt32BE(20)) : 0
    case 'image/gif':
      return Math.max(bytes.readUInt16LE(6), bytes.readUInt16LE(8))
    case 'image/jpeg':
      return sideOfJpeg(bytes)
    default:
      return bytes.toString('latin1', 12, 16) === 'VP8X'
        ? Math.max(bytes.readUIntLE(24, 3), bytes.readUIntLE(27, 3)) + 1
        : 0
  }
}

/** The size stands in the frame header, behind any number of other segments. */
function sideOfJpeg(bytes: Buffer): number {
  for (let at = 2; at + 9 < bytes.length && bytes[at] === 0xff; at += 2 + bytes.readUInt16BE(at + 2)) {
    const marker = bytes[at + 1] ?? 0
    const frame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)
    if (frame) return Math.max(bytes.readUInt16BE(at + 5), bytes.readUInt16BE(at + 7))
  }
  return 0
}
