import { deflateSync, inflateSync } from 'node:zlib'

const COLOURS: Readonly<Record<string, readonly number[]>> = {
  white: [255, 255, 255],
  red: [214, 40, 40],
  green: [46, 139, 87],
  yellow: [250, 204, 21],
}
const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
/** Bits of a channel, and the colour type that is red, green and blue. */
const [DEPTH, RGB] = [8, 2]

/** Paints a disc on a white square, as a real PNG: something that can be looked at, and distinguished from another. */
export function paintDisc(colour: string, side = 64): Buffer {
  const inside = COLOURS[colour]
  const white = COLOURS.white
  if (inside === undefined || white === undefined) throw new Error(`There is no colour ${colour} in the box.`)
  const middle = (side - 1) / 2
  const rows = Array.from({ length: side }, (_, y) => [
    // Each row begins with its filter: none.
    0,
    ...Array.from({ length: side }, (_, x) =>
      Math.hypot(x - middle, y - middle) < side * 0.4 ? inside : white,
    ).flat(),
  ])
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  header.set([DEPTH, RGB], 8)
  const data = deflateSync(Uint8Array.from(rows.flat()))
  return Buffer.concat([SIGNATURE, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))])
}

/** Returns the size of a picture that was painted here and the colour in its middle. Throws for any other. */
export function lookAt(bytes: Buffer): { readonly side: number; readonly colour: string } {
  const side = bytes.readUInt32BE(SIGNATURE.length + 8)
  const data = bytes.indexOf('IDAT')
  const pixels = inflateSync(bytes.subarray(data + 4, data + 4 + bytes.readUInt32BE(data - 4)))
  const at = (1 + 3 * side) * (side >> 1) + 1 + 3 * (side >> 1)
  const found = Object.entries(COLOURS).find(([, rgb]) => rgb.every((value, nth) => pixels[at + nth] === value))
  if (found === undefined) throw new Error('This picture was painted elsewhere.')
  return { side, colour: found[0] }
}

function chunk(type: string, data: Buffer): Buffer {
  const whole = Buffer.alloc(12 + data.length)
  whole.writeUInt32BE(data.length, 0)
  whole.write(type, 4, 'latin1')
  data.copy(whole, 8)
  whole.writeUInt32BE(checksum(whole.subarray(4, 8 + data.length)), 8 + data.length)
  return whole
}

/** CRC-32 as PNG has it: reflected. */
function checksum(bytes: Uint8Array): number {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return ~crc >>> 0
}
