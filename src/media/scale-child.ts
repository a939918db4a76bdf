import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { buffer } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'

/** The part of the library sharp that is used here: it is an optional peer, so that its types need not be there. */
interface Sharp {
  (picture: Buffer, options: Readonly<Record<string, unknown>>): Picture
  cache(on: false): void
  concurrency(threads: number): void
}

interface Picture {
  rotate(): Picture
  resize(options: Readonly<Record<string, unknown>>): Picture
  flatten(options: Readonly<Record<string, unknown>>): Picture
  jpeg(options: Readonly<Record<string, unknown>>): Picture
  toBuffer(): Promise<Buffer>
}

/** The part of the library libheif, which reads the pictures of phones. */
interface Heif {
  readonly HeifDecoder: new () => { decode(picture: Buffer): readonly HeifImage[] }
}

interface HeifImage {
  get_width(): number
  get_height(): number
  is_primary(): boolean
  display(into: Pixels, done: (pixels: Pixels | null) => void): void
}

/** Four bytes a pixel. */
interface Pixels {
  readonly width: number
  readonly height: number
  readonly data: Uint8Array | Uint8ClampedArray
}

const QUALITY = 85
const WHITE = 255
const [decoder, library = '', ...numbers] = process.argv.slice(2)
const [side = 0, mostPixels = 0, orientation = 1] = numbers.map(Number)
const picture = await buffer(process.stdin)
process.stdout.write(await (decoder === 'sharp' ? bySharp() : own()))

async function bySharp(): Promise<Uint8Array> {
  const { default: sharp } = (await import(pathToFileURL(library).href)) as { readonly default: Sharp }
  sharp.cache(false)
  sharp.concurrency(1)
  return sharp(picture, { limitInputPixels: mostPixels, sequentialRead: true })
    .rotate()
    .resize({ width: side, height: side, fit: 'inside', withoutEnlargement: true })
    .flatten({ background: 'white' })
    .jpeg({ quality: QUALITY })
    .toBuffer()
}

async function own(): Promise<Uint8Array> {
  const { default: jpeg } = await import('jpeg-js')
  const limits = { maxResolutionInMP: mostPixels / 1e6, maxMemoryUsageInMB: 2_048 }
  const pixels = decoder === 'heif' ? await byHeif() : jpeg.decode(picture, { useTArray: true, ...limits })
  const { width, height, data } = upright(smaller(pixels))
  return jpeg.encode({ width, height, data: Buffer.from(data.buffer, data.byteOffset, data.length) }, QUALITY).data
}

/** The library turns such a picture itself. */
async function byHeif(): Promise<Pixels> {
  const make = createRequire(import.meta.url)(library) as (options: object) => Heif & { readonly ready?: Promise<void> }
  const heif = make({ wasmBinary: readFileSync(library.replace(/\.cjs$/, '.wasm')) })
  await heif.ready
  const images = new heif.HeifDecoder().decode(picture)
  const image = images.find((one) => one.is_primary()) ?? images[0]
  if (image === undefined) throw new Error('There is no picture in it.')
  const [width, height] = [image.get_width(), image.get_height()]
  if (width * height > mostPixels || width * height === 0) throw new RangeError('The picture is too large.')
  const empty = { width, height, data: new Uint8ClampedArray(4 * width * height) }
  return new Promise((resolve, reject) => {
    image.display(empty, (pixels) => (pixels === null ? reject(new Error('It cannot be read.')) : resolve(pixels)))
  })
}

/** Returns a picture whose sides are no longer than wanted; each pixel is the mean of those in its place, on white. */
function smaller({ width, height, data }: Pixels): Pixels {
  const scale = Math.min(1, side / Math.max(width, height))
  const [across, down] = [Math.max(1, Math.round(width * scale)), Math.max(1, Math.round(height * scale))]
  const made = new Uint8Array(4 * across * down)
  for (let y = 0; y < down; y++) {
    const [top, bottom] = [Math.floor((y * height) / down), Math.ceil(((y + 1) * height) / down)]
    for (let x = 0; x < across; x++) {
      const [left, right] = [Math.floor((x * width) / across), Math.ceil(((x + 1) * width) / across)]
      const place = { left, right, top, bottom, width }
      made.set(meanOf(data, place), 4 * (y * across + x))
    }
  }
  return { width: across, height: down, data: made }
}

interface Place {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
  readonly width: number
}

function meanOf(data: Pixels['data'], { left, right, top, bottom, width }: Place): [number, number, number, number] {
  let [red, green, blue] = [0, 0, 0]
  for (let y = top; y < bottom; y++) {
    for (let at = 4 * (y * width + left), end = 4 * (y * width + right); at < end; at += 4) {
      const alpha = (data[at + 3] ?? WHITE) / WHITE
      const white = WHITE * (1 - alpha)
      red += (data[at] ?? 0) * alpha + white
      green += (data[at + 1] ?? 0) * alpha + white
      blue += (data[at + 2] ?? 0) * alpha + white
    }
  }
  const count = (right - left) * (bottom - top)
  return [red / count, green / count, blue / count, WHITE]
}

/** Returns a picture upright: from 5 on its sides are exchanged, and each number is a mirror or a half turn besides. */
function upright(pixels: Pixels): Pixels {
  if (orientation === 1) return pixels
  const isExchanged = orientation >= 5
  const [across, down] = isExchanged ? [pixels.height, pixels.width] : [pixels.width, pixels.height]
  const isMirroredX = [2, 3, 7, 8].includes(orientation)
  const isMirroredY = [3, 4, 6, 7].includes(orientation)
  const made = new Uint8Array(pixels.data.length)
  for (let y = 0; y < down; y++) {
    for (let x = 0; x < across; x++) {
      const [column, line] = isExchanged ? [y, x] : [x, y]
      const fromX = isMirroredX ? pixels.width - 1 - column : column
      const fromY = isMirroredY ? pixels.height - 1 - line : line
      const from = 4 * (fromY * pixels.width + fromX)
      made.set(pixels.data.subarray(from, from + 4), 4 * (y * across + x))
    }
  }
  return { width: across, height: down, data: made }
}
