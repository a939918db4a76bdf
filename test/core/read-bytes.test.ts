import { describe, expect, it } from 'vitest'
import { Bytes, readBytes, readFirstBytes } from '../../src/core/read-bytes.ts'

async function* pieces(...texts: readonly string[]): AsyncGenerator<Uint8Array, void, void> {
  for (const text of texts) yield Buffer.from(text)
}

describe('readBytes', () => {
  it('a body within its limit, in pieces: its bytes', async () => {
    expect((await readBytes(pieces('ab', '', 'c'), 3)).toString()).toBe('abc')
    expect((await readBytes(pieces(), 3)).length).toBe(0)
  })

  it('a body beyond its limit: too_long, and the rest is not asked for', async () => {
    let asked = 0
    async function* endless(): AsyncGenerator<Uint8Array, void, void> {
      for (;;) {
        asked++
        yield Buffer.from('ab')
      }
    }
    await expect(readBytes(endless(), 3)).rejects.toMatchObject({ code: 'too_long' })
    expect(asked).toBe(2)
  })
})

describe('readFirstBytes', () => {
  it('a body beyond its limit: what fits, marked as cut', async () => {
    expect(await readFirstBytes(pieces('ab', 'cd'), 3)).toEqual({ bytes: Buffer.from('abc'), cut: true })
  })
})

describe('Bytes', () => {
  it('100,000 pieces of one byte are held in a buffer of at most twice their length', () => {
    const bytes = new Bytes(1_000_000)
    for (let at = 0; at < 100_000; at++) bytes.add(Buffer.of(at & 0xff))
    expect(bytes.whole().length).toBe(100_000)
    expect(bytes.whole()[99_999]).toBe(99_999 & 0xff)
    expect(bytes.whole().buffer.byteLength).toBeLessThanOrEqual(200_000)
  })
})
