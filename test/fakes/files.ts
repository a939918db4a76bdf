import { deflateSync } from 'node:zlib'

/** Real files, small ones, made by hand. */

/** A PNG of the given size; its pixels are all the same and so it is small, however many they are. */
export function png(width: number, height: number): Uint8Array {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  // One bit a pixel, shades of grey.
  header.set([1, 0, 0, 0, 0], 8)
  const rows = width * height > 1_000_000 ? Buffer.alloc(64) : Buffer.alloc(height * (1 + Math.ceil(width / 8)))
  const begin = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([begin, chunk('IHDR', header), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))])
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data])
  const frame = Buffer.alloc(8)
  frame.writeUInt32BE(data.length, 0)
  frame.writeUInt32BE(crc32(named), 4)
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)])
}

function crc32(bytes: Buffer): number {
  let crc = ~0
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  }
  return ~crc >>> 0
}

/** A GIF of one pixel with as many frames. */
export function gif(frames: number): Uint8Array {
  const screen = [...Buffer.from('GIF89a'), 1, 0, 1, 0, 0x80, 0, 0, 0, 0, 0, 255, 255, 255]
  const frame = [0x21, 0xf9, 4, 0, 10, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0]
  return Uint8Array.from([...screen, ...Array.from({ length: frames }, () => frame).flat(), 0x3b])
}

/** The beginning of a JPEG, up to its size. */
export function jpegHeader(width: number, height: number): Uint8Array {
  const comment = [0xff, 0xfe, 0, 4, 0x68, 0x69]
  const frame = Buffer.alloc(20)
  frame.set([0xff, 0xc0, 0, 17, 8])
  frame.writeUInt16BE(height, 5)
  frame.writeUInt16BE(width, 7)
  return Uint8Array.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, ...comment, ...frame])
}

/** A PDF with a page for each text; an empty text is an empty page. */
export function pdf(...pages: readonly string[]): Uint8Array {
  return pdfFile(pages.map((text) => ({ data: text === '' ? '' : `BT /F1 12 Tf 10 100 Td (${text}) Tj ET` })))
}

/** A PDF whose pages stand in parts of the document, one in each. */
export function pdfInParts(...pages: readonly string[]): Uint8Array {
  const contents = pages.map((text) => ({ data: `BT /F1 12 Tf 10 100 Td (${text}) Tj ET` }))
  const firstPart = 4 + 2 * pages.length
  const parts = pages.map((_, index) => `<</Type/Pages/Parent 2 0 R/Kids[${4 + 2 * index} 0 R]/Count 1>>`)
  return pdfFile(contents, { kids: parts.map((_, index) => `${firstPart + index} 0 R`).join(' '), parts })
}

/** A PDF with one page, whose content is deflated. */
export function pdfOf(deflated: Buffer): Uint8Array {
  return pdfFile([{ filter: '/Filter/FlateDecode', data: deflated.toString('latin1') }])
}

function pdfFile(
  pages: readonly { readonly filter?: string; readonly data: string }[],
  { kids, parts }: { readonly kids: string; readonly parts: readonly string[] } = {
    kids: pages.map((_, index) => `${4 + 2 * index} 0 R`).join(' '),
    parts: [],
  },
): Uint8Array {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${kids}]/Count ${pages.length}>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ...pages.flatMap(({ filter = '', data }, index) => {
      const uses = `/Contents ${5 + 2 * index} 0 R/Resources<</Font<</F1 3 0 R>>>>`
      return [
        `<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]${uses}>>`,
        `<<${filter}/Length ${data.length}>>stream\n${data}\nendstream`,
      ]
    }),
    ...parts,
  ]
  let body = '%PDF-1.4\n'
  const places = objects.map((object, index) => {
    const at = body.length
    body += `${index + 1} 0 obj${object}endobj\n`
    return `${String(at).padStart(10, '0')} 00000 n \n`
  })
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.join('')}`
  const trailer = `trailer<</Size ${objects.length + 1}/Root 1 0 R>>\nstartxref\n${body.length}\n%%EOF\n`
  return Buffer.from(`${body}${table}${trailer}`, 'latin1')
}

/** An Ogg file with the head of an Opus stream and nothing to hear. */
export function ogg(): Uint8Array {
  const head = Buffer.alloc(28)
  head.write('OggS', 0, 'latin1')
  head.set([0, 2], 4)
  head.set([1, 19], 26)
  const opus = Buffer.alloc(19)
  opus.write('OpusHead', 0, 'latin1')
  opus.set([1, 1], 8)
  return Buffer.concat([head, opus])
}

/** A ZIP that says it holds a file of four gigabytes. */
export function zipBomb(): Uint8Array {
  const entry = Buffer.alloc(38)
  entry.write('PK\x03\x04', 0, 'latin1')
  entry.set([20, 0, 0, 0, 8, 0], 4)
  entry.writeUInt32LE(100, 18)
  entry.writeUInt32LE(0xffffffff, 22)
  entry.set([8, 0], 26)
  entry.write('bomb.txt', 30, 'latin1')
  return Buffer.concat([entry, Buffer.alloc(100)])
}
