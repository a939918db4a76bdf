import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { MediaStore } from '../../src/core/media.ts'
import { createReadArrived } from '../../src/media/read-arrived.ts'
import { pdf } from '../fakes/files.ts'
import { mediaStoreIn } from '../fakes/media.ts'

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'parley-media-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

function reader(media: Pick<MediaStore, 'keep'>) {
  const read = createReadArrived({ media, clock: systemClock, logger: silentLogger })
  return (bytes: Uint8Array, longest = 1_000, signal = new AbortController().signal) =>
    read({ bytes, name: 'a.txt', kind: 'document' }, longest, signal)
}

describe('a file that arrived', () => {
  it('F-G07: for which the disk has no room is named with that reason', async () => {
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    const read = reader({ keep: () => Promise.reject(full) })
    expect(await read(Buffer.from('hello'))).toEqual({ unread: 'there is no room left for files here' })
  })

  it('F-G07: that cannot be kept, the folder being none, is named', async () => {
    const path = join(folder(), 'media')
    writeFileSync(path, 'no folder')
    expect(await reader(mediaStoreIn(path))(Buffer.from('hello'))).toEqual({ unread: 'it could not be kept' })
  })

  it('R9: is kept as it came and its text cut between characters', async () => {
    const store = mediaStoreIn(join(folder(), 'media'))
    const bytes = Buffer.from(`${'a'.repeat(9)}😀 and more`)
    const reading = await reader(store)(bytes, 10)
    expect(reading).toMatchObject({ text: 'a'.repeat(9), cut: '11 more characters' })
    if (reading.media) expect(Buffer.from(await store.read(reading.media.media))).toEqual(bytes)
    expect.assertions(2)
  })

  it('F-G07: a PDF that is no longer wanted is given up, and its worker ends with it', async () => {
    const stopped = new AbortController()
    const reading = reader(mediaStoreIn(join(folder(), 'media')))(pdf('hello'), 1_000, stopped.signal)
    stopped.abort()
    expect(await reading).toMatchObject({ unread: 'a PDF that cannot be read' })
  })
})
