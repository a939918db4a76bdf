import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { MOST_SHOWN_BYTES } from '../../src/core/media.ts'
import { readImageHeader } from '../../src/media/image-header.ts'
import { createReadArrived } from '../../src/media/read-arrived.ts'
import { isToBeScaled, type ScaleDeps, scalePictures } from '../../src/media/scale-pictures.ts'
import { png } from '../fakes/files.ts'
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
