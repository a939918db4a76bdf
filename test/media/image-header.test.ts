import { describe, expect, it } from 'vitest'
import { readImageHeader } from '../../src/media/image-header.ts'
import { kindOf } from '../../src/media/media-kind.ts'
import { gif, jpegHeader, png } from '../fakes/files.ts'

const webp = (chunk: string, ...data: number[]): Uint8Array =>
  Uint8Array.from([...Buffer.from('RIFF'), 0, 0, 0, 0, ...Buffer.from(`WEBP${chunk}`), 0, 0, 0, 0, ...data])

/** A JPEG with fill bytes before each marker after the first. */
const filled = (width: number, height: number): Uint8Array => {
  const [, , ...segments] = jpegHeader(width, height)
  return Uint8Array.from([0xff, 0xd8, ...segments.flatMap((byte) => (byte === 0xff ? [0xff, 0xff] : [byte]))])
}

describe('the header of a picture', () => {
  it.each([
    ['image/png', png(30_000, 20), { width: 30_000, height: 20, moves: false }],
    ['image/jpeg', jpegHeader(640, 480), { width: 640, height: 480, moves: false }],
    ['image/jpeg', filled(640, 480), { width: 640, height: 480, moves: false }],
    ['image/gif', gif(1), { width: 1, height: 1, moves: false }],
    ['image/gif', gif(2), { width: 1, height: 1, moves: true }],
    ['image/webp', webp('VP8X', 2, 0, 0, 0, 99, 0, 0, 49, 0, 0), { width: 100, height: 50, moves: true }],
    ['image/webp', webp('VP8L', 0x2f, 99, 0x40, 12, 0), { width: 100, height: 50, moves: false }],
    ['image/webp', webp('VP8 ', 0, 0, 0, 0x9d, 1, 0x2a, 100, 0, 50, 0), { width: 100, height: 50, moves: false }],
  ])('F-G07: of %s says its size without decoding it', (mime, bytes, header) => {
    expect(readImageHeader(mime, bytes)).toEqual(header)
  })

  it('F-G07: that is torn anywhere says nothing, or what stood before the tear', () => {
    for (const [mime, whole] of [
      ['image/png', png(3, 4)],
      ['image/jpeg', jpegHeader(3, 4)],
      ['image/gif', gif(2)],
      ['image/webp', webp('VP8X', 0, 0, 0, 0, 2, 0, 0, 3, 0, 0)],
    ] as const)
      for (let end = 0; end < whole.length; end++)
        expect(() => readImageHeader(mime, whole.subarray(0, end))).not.toThrow()
  })

  it('F-G07: decides whether a model is shown the picture at all', async () => {
    expect(await kindOf(png(8_000, 10))).toEqual({ type: 'image', mime: 'image/png' })
    expect(await kindOf(png(8_001, 10))).toEqual({ type: 'file', mime: 'image/png' })
    expect(await kindOf(png(0, 0))).toEqual({ type: 'file', mime: 'image/png' })
    expect(await kindOf(jpegHeader(640, 0))).toMatchObject({ type: 'file' })
    expect(await kindOf(gif(2))).toEqual({ type: 'file', mime: 'image/gif' })
    expect(await kindOf(Buffer.from('\ufeffhello', 'utf16le'))).toEqual({ type: 'file', mime: 'text/plain' })
  })
})
