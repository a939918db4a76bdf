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
