import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import jpeg from 'jpeg-js'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { MOST_SHOWN_BYTES } from '../../src/core/media.ts'
import { readImageHeader } from '../../src/media/image-header.ts'
import { createReadArrived } from '../../src/media/read-arrived.ts'
import { isToBeScaled, type ScaleDeps, scalePictures } from '../../src/media/scale-pictures.ts'
import { jpegHeader, png } from '../fakes/files.ts'
import { mediaStoreIn } from '../fakes/media.ts'
import { isRunning } from '../fakes/running.ts'
import { countingClock } from './counting-clock.ts'

const installed = (): string | undefined => {
  try {
    return createRequire(import.meta.url).resolve('sharp')
  } catch {
    return undefined
  }
}

/** Reads a picture as one that came with a message; `library` is where the one that scales is. */
async function arrive(bytes: Uint8Array, library: NonNullable<ScaleDeps['library']>) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-scale-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [clock, logger] = [systemClock, silentLogger]
  const media = scalePictures({ media: mediaStoreIn(join(folder, 'media')), clock, logger, library })
  const read = createReadArrived({ media, clock, logger })
  const reading = await read({ bytes, name: 'big.png', kind: 'photo' }, 1_000, new AbortController().signal)
  return { reading, kept: reading.media && (await media.read(reading.media.media)) }
}

/** More bytes than models take; behind the end of a picture anything may stand. */
const heavy = (width: number, height: number): Uint8Array =>
  Buffer.concat([png(width, height), Buffer.alloc(MOST_SHOWN_BYTES)])

/** The place behind the first chunk of a PNG. */
const END_OF_HEADER = 33

describe('a picture that is larger than models take', () => {
  it('is named where the library that scales is not installed', async () => {
    const { reading, kept } = await arrive(png(9_000, 20), () => undefined)
    expect(reading).toMatchObject({ unread: '9000 × 20 pixels, more than models take', media: { type: 'file' } })
    expect(kept).toEqual(Buffer.from(png(9_000, 20)))
  })

  it('is named where the library that scales ends its process', async () => {
    const { reading } = await arrive(png(9_000, 20), () => '/nonexistent/library.js')
    expect(reading).toMatchObject({ unread: '9000 × 20 pixels, more than models take' })
  })

  it.each([
    [30_000, 30_000, 'more than models take'],
    [30_000, 10, 'more than models take'],
    [12_000, 12_000, 'more than models take'],
    [0, 9_000, 'nothing to see'],
  ])('of %i × %i pixels is refused by its header, and nobody decodes it', async (width, height, why) => {
    const asked: string[] = []
    const { reading } = await arrive(png(width, height), () => {
      asked.push('library')
      return undefined
    })
    expect(isToBeScaled('image/png', png(width, height))).toBe(false)
    expect(asked).toEqual([])
    expect(reading.unread).toContain(why)
  })

  it('is only looked for where it is one: another is kept as it came', async () => {
    const never = () => expect.unreachable()
    const { reading, kept } = await arrive(png(40, 30), never)
    expect(reading).toMatchObject({ media: { type: 'image' } })
    expect(kept).toEqual(Buffer.from(png(40, 30)))
    expect(isToBeScaled('image/png', heavy(40, 30))).toBe(true)
    expect((await arrive(Buffer.alloc(MOST_SHOWN_BYTES + 1, 'text'), never)).reading.text).toBeDefined()
  })

  it('that moves is kept as it came, also where the size in its header says nothing of that', async () => {
    const still = png(9_000, 20)
    const frames = Buffer.from('\0\0\0\x08acTL\0\0\0\x02\0\0\0\0\0\0\0\0', 'latin1')
    const moving = Buffer.concat([still.subarray(0, END_OF_HEADER), frames, still.subarray(END_OF_HEADER)])
    const { reading, kept } = await arrive(moving, () => expect.unreachable())
    expect(reading).toMatchObject({ unread: 'of the type image/apng', media: { type: 'file' } })
    expect(kept).toEqual(moving)
  })

  it('keeps nobody waiting whose turn was stopped, and the next picture has its place', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'parley-scale-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const started = join(folder, 'started')
    const hangs = join(folder, 'hangs.mjs')
    writeFileSync(
      hangs,
      `import { appendFileSync } from 'node:fs'
      appendFileSync(${JSON.stringify(started)}, process.pid + ' ')
      setInterval(() => {}, 1e6)
      await new Promise(() => {})`,
    )
    const [clock, logger] = [countingClock(), silentLogger]
    const media = scalePictures({ media: mediaStoreIn(join(folder, 'media')), clock, logger, library: () => hangs })
    const [first, second] = [new AbortController(), new AbortController()]
    const pids = () => readFileSync(started, { encoding: 'utf8', flag: 'a+' }).split(' ').filter(Boolean).map(Number)
    const kept = [media.keep(png(9_000, 20), 'a', first.signal), media.keep(png(9_001, 20), 'b', second.signal)]
    await expect.poll(pids).toHaveLength(1)
    expect(clock.most).toBe(1)
    second.abort()
    expect(await kept[1]).toMatchObject({ type: 'file', size: png(9_001, 20).length })
    first.abort()
    expect(await kept[0]).toMatchObject({ type: 'file', size: png(9_000, 20).length })
    await expect.poll(() => pids().filter(isRunning)).toEqual([])
    const third = new AbortController()
    const last = media.keep(png(9_002, 20), 'c', third.signal)
    await expect.poll(pids).toHaveLength(2)
    third.abort()
    await last
  })

  describe.skipIf(installed() === undefined)('where the library is installed', { timeout: 120_000 }, () => {
    it.each([
      ['of too many pixels', png(9_000, 100), { width: 1_568, height: 17 }],
      ['of too many bytes', heavy(400, 300), { width: 400, height: 300 }],
    ])('%s is kept in a size that they take', async (_, bytes, size) => {
      const { reading, kept } = await arrive(bytes, installed)
      expect(reading).toMatchObject({ media: { type: 'image', mime: 'image/jpeg', name: 'big.png' } })
      expect(reading.unread).toBeUndefined()
      expect(kept?.length).toBeLessThan(MOST_SHOWN_BYTES)
      expect(kept && readImageHeader('image/jpeg', kept)).toEqual({ ...size, moves: false })
    })

    it('that is torn is named, and nothing else comes of it', async () => {
      const { reading } = await arrive(png(9_000, 600).subarray(0, 60), installed)
      expect(reading).toMatchObject({ unread: '9000 × 600 pixels, more than models take' })
    })
  })
})

/** The colours of the quarters of a picture: top left, top right, bottom left, bottom right. */
function quarters(bytes: Uint8Array): readonly string[] {
  const { width, height, data } = jpeg.decode(bytes, { useTArray: true })
  const at = (x: number, y: number): string => {
    const from = 4 * (Math.floor(y * height) * width + Math.floor(x * width))
    const [red = 0, green = 0, blue = 0] = data.subarray(from, from + 3)
    return [red, green, blue].map((value) => (value > 127 ? '1' : '0')).join('')
  }
  return [at(0.25, 0.25), at(0.75, 0.25), at(0.25, 0.75), at(0.75, 0.75)]
}

const [RED, GREEN, BLUE, WHITE] = ['100', '010', '001', '111']

/** A JPEG with a colour in each quarter, as a camera stores it that was held in another way. */
function photo(width: number, height: number, orientation: number, order: 'II' | 'MM' = 'MM'): Uint8Array {
  const data = new Uint8Array(4 * width * height)
  const colors = [
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
    [255, 255, 255],
  ]
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      data.set([...(colors[(y < height / 2 ? 0 : 2) + (x < width / 2 ? 0 : 1)] ?? []), 255], 4 * (y * width + x))
  const plain = jpeg.encode({ width, height, data: Buffer.from(data) }, 90).data
  const written = order === 'II'
  const tiff = Buffer.alloc(26)
  tiff.write(order, 0, 'latin1')
  const put16 = (value: number, at: number) => (written ? tiff.writeUInt16LE(value, at) : tiff.writeUInt16BE(value, at))
  const put32 = (value: number, at: number) => (written ? tiff.writeUInt32LE(value, at) : tiff.writeUInt32BE(value, at))
  put16(42, 2)
  put32(8, 4)
  put16(1, 8)
  put16(0x0112, 10)
  put16(3, 12)
  put32(1, 14)
  put16(orientation, 18)
  const exif = Buffer.concat([Buffer.from('Exif\0\0', 'latin1'), tiff])
  const head = Buffer.from([0xff, 0xe1, 0, exif.length + 2])
  return Buffer.concat([plain.subarray(0, 2), head, exif, plain.subarray(2)])
}

describe('a JPEG that does not lie upright', { timeout: 120_000 }, () => {
  it.each([
    [2, [GREEN, RED, WHITE, BLUE]],
    [3, [WHITE, BLUE, GREEN, RED]],
    [4, [BLUE, WHITE, RED, GREEN]],
    [5, [RED, BLUE, GREEN, WHITE]],
    [6, [BLUE, RED, WHITE, GREEN]],
    [7, [WHITE, GREEN, BLUE, RED]],
    [8, [GREEN, WHITE, RED, BLUE]],
  ])('by the number %i is shown upright, without the library too', async (orientation, seen) => {
    const { reading, kept } = await arrive(photo(96, 64, orientation), () => undefined)
    expect(reading).toEqual({ media: expect.objectContaining({ type: 'image', mime: 'image/jpeg' }) })
    expect(quarters(kept ?? new Uint8Array())).toEqual(seen)
    const sides = orientation >= 5 ? { width: 64, height: 96 } : { width: 96, height: 64 }
    expect(readImageHeader('image/jpeg', kept ?? new Uint8Array())).toMatchObject(sides)
  })

  it('in the other order of bytes is turned as well', async () => {
    const { kept } = await arrive(photo(96, 64, 6, 'II'), () => undefined)
    expect(quarters(kept ?? new Uint8Array())).toEqual([BLUE, RED, WHITE, GREEN])
  })

  it.each([1, 0, 9])('by the number %i is kept as it came, for it is upright or none', async (orientation) => {
    const bytes = photo(96, 64, orientation)
    const { reading, kept } = await arrive(bytes, () => expect.unreachable())
    expect(reading.note).toBeUndefined()
    expect(kept).toEqual(bytes)
  })

  it('and cannot be decoded is kept with a word on how it lies', async () => {
    const torn = photo(96, 64, 6).subarray(0, 60)
    const header = jpegHeader(96, 64)
    const bytes = Buffer.concat([torn.subarray(0, 38), header.subarray(2)])
    const { reading, kept } = await arrive(bytes, () => undefined)
    expect(reading).toMatchObject({ media: { type: 'image' }, note: 'it lies on its side: turn it by 90° clockwise' })
    expect(kept).toEqual(bytes)
  })
})

describe('a picture in the format of phones', { timeout: 120_000 }, () => {
  const phone = readFileSync(new URL('../fixtures/quarters.heic', import.meta.url))

  it('is shown as JPEG', async () => {
    const { reading, kept } = await arrive(phone, () => undefined)
    expect(reading).toMatchObject({ media: { type: 'image', mime: 'image/jpeg' } })
    expect(quarters(kept ?? new Uint8Array())).toEqual([RED, GREEN, BLUE, WHITE])
  })

  it('that is damaged is named with what to send instead', async () => {
    const { reading } = await arrive(phone.subarray(0, -80), () => undefined)
    expect(reading).toMatchObject({ unread: expect.stringMatching(/^of the type image\/hei[cf]; as JPEG or PNG/) })
  })

  it.each([
    ['AVIF', Buffer.from('0000001c667479706176696600000000', 'hex'), 'image/avif'],
    ['BMP', Buffer.concat([Buffer.from('BM'), Buffer.alloc(60)]), 'image/bmp'],
  ])('%s, which nothing here decodes, is named with what to send instead', async (_name, bytes, type) => {
    const { reading } = await arrive(Buffer.concat([bytes, Buffer.alloc(100)]), () => undefined)
    expect(reading).toMatchObject({ unread: `of the type ${type}; as JPEG or PNG it can be shown` })
  })
})

it('a large photo of a camera is scaled without the library as well', { timeout: 120_000 }, async () => {
  const bytes = Buffer.concat([photo(4_032, 3_024, 6), Buffer.alloc(MOST_SHOWN_BYTES)])
  const { reading, kept } = await arrive(bytes, () => undefined)
  expect(reading).toMatchObject({ media: { type: 'image', mime: 'image/jpeg' } })
  expect(readImageHeader('image/jpeg', kept ?? new Uint8Array())).toMatchObject({ width: 1_176, height: 1_568 })
})
