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

const [library = '', side, mostPixels] = process.argv.slice(2)
const { default: sharp } = (await import(pathToFileURL(library).href)) as { readonly default: Sharp }
sharp.cache(false)
sharp.concurrency(1)
const picture = await buffer(process.stdin)
const scaled = await sharp(picture, { limitInputPixels: Number(mostPixels), sequentialRead: true })
  .rotate()
  .resize({ width: Number(side), height: Number(side), fit: 'inside', withoutEnlargement: true })
  .flatten({ background: 'white' })
  .jpeg({ quality: 85 })
  .toBuffer()
process.stdout.write(scaled)
