import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { digestOf, type MediaId, mediaId } from '../../src/core/ids.ts'
import { MOST_MEDIA_BYTES } from '../../src/core/media.ts'
import { StoreKey } from '../../src/core/store-key.ts'
import { PLAIN_FILES, sealedFiles } from '../../src/media/file-form.ts'
import { mediaStoreIn } from '../fakes/media.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const words = (text: string): Uint8Array => new TextEncoder().encode(text)
const aKey = (): StoreKey => new StoreKey(randomBytes(32).toString('hex'))
const CANARY = 'CANARY of a file, which is nobody else is business'

function rig() {
  const folder = join(tempFolder(), 'media')
  const used = new Set<MediaId>()
  const clock = { now: 0, elapsed: () => clock.now }
  const key = aKey()
  return { folder, used, clock, key, media: mediaStoreIn(folder, used, clock, key) }
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))

describe('the media store with a key', () => {
  it('C48: neither the content nor the name of a file says what it is, and it is read as it was kept', async () => {
    const { folder, media } = rig()
    const { media: id, size } = await media.keep(words(CANARY))
    const [file = '', ...others] = filesIn(folder)
    expect(others).toEqual([])
    expect(readFileSync(file).includes('CANARY')).toBe(false)
    expect(file).not.toContain(digestOf(id).slice(0, 8))
    expect(size).toBe(CANARY.length)
    expect(new Uint8Array(await media.read(id))).toEqual(words(CANARY))
  })

  it('the same content is kept once, and another process with the key finds it', async () => {
    const { folder, key, media } = rig()
    const { media: id } = await media.keep(words(CANARY))
    const again = mediaStoreIn(folder, new Set(), undefined, key)
    expect((await again.keep(words(CANARY))).media).toBe(id)
    expect(filesIn(folder)).toHaveLength(1)
    expect(new Uint8Array(await again.read(id))).toEqual(words(CANARY))
  })

  it('the largest file and the empty one are kept', async () => {
    const { media } = rig()
    for (const bytes of [randomBytes(MOST_MEDIA_BYTES), new Uint8Array(0)]) {
      const { media: id } = await media.keep(bytes)
      expect(
        createHash('sha256')
          .update(await media.read(id))
          .digest('hex'),
      ).toBe(digestOf(id))
    }
  })

  it.each([
    ['a bit is another', (bytes: Buffer) => bytes.fill((bytes[40] ?? 0) ^ 1, 40, 41)],
    ['the nonce is another', (bytes: Buffer) => bytes.fill((bytes[0] ?? 0) ^ 1, 0, 1)],
    ['it is cut off', (bytes: Buffer) => bytes.subarray(0, -1)],
    ['nothing is left', (bytes: Buffer) => bytes.subarray(0, 0)],
  ])('a file of which %s is unreadable, and kept again when its content comes again', async (_, spoil) => {
    const { folder, media } = rig()
    const { media: id } = await media.keep(words(CANARY))
    const [file = ''] = filesIn(folder)
    writeFileSync(file, spoil(readFileSync(file)))
    await expect(media.read(id)).rejects.toMatchObject({ code: 'unreadable' })
    await media.keep(words(CANARY))
    expect(new Uint8Array(await media.read(id))).toEqual(words(CANARY))
  })

  it('a file in the place of another one is unreadable, and so is one of another key', async () => {
    const { folder, media } = rig()
    const { media: one } = await media.keep(words('one'))
    const [first = ''] = filesIn(folder)
    const { media: two } = await media.keep(words('two'))
    const second = filesIn(folder).find((path) => path !== first) ?? ''
    renameSync(first, second)
    await expect(media.read(two)).rejects.toMatchObject({ code: 'unreadable' })
    await expect(media.read(one)).rejects.toMatchObject({ code: 'not_found' })
    await expect(mediaStoreIn(folder, new Set(), undefined, aKey()).read(two)).rejects.toMatchObject({
      code: 'not_found',
    })
  })

  it('sweeping finds out by the names which files nothing names any more', async () => {
    const { folder, used, clock, media } = rig()
    const [kept, dropped] = [await media.keep(words('kept')), await media.keep(words('dropped'))]
    used.add(kept.media)
    clock.now = 3_600_000
    expect(await media.sweep()).toBe(1)
    expect(new Uint8Array(await media.read(kept.media))).toEqual(words('kept'))
    await expect(media.read(dropped.media)).rejects.toMatchObject({ code: 'not_found' })
    expect(filesIn(folder)).toHaveLength(1)
    expect(dirname(filesIn(folder)[0] ?? '')).not.toBe(folder)
  })
})

it('the content of a sealed file opens under its own id alone', async () => {
  const form = sealedFiles(aKey())
  const [one, other] = [mediaId('1'.repeat(64)), mediaId('2'.repeat(64))]
  const sealed = await form.seal(one, words('one'))
  await expect(form.open(other, sealed)).rejects.toMatchObject({ code: 'unreadable' })
  expect(await form.open(one, sealed)).toEqual(words('one'))
})

describe('names of sealed files', () => {
  it('lead back to their ids with the key alone, and are taken for no plain ones', () => {
    const [one, other] = [sealedFiles(aKey()), sealedFiles(aKey())]
    const id = mediaId(createHash('sha256').update('x').digest('hex'))
    const name = one.nameOf(id)
    expect(name).toMatch(/^[0-9a-f]{64}\.sealed$/)
    expect(one.idOf(name)).toBe(id)
    expect(other.idOf(name)).not.toBe(id)
    expect(PLAIN_FILES.idOf(name)).toBeUndefined()
    expect(one.idOf(PLAIN_FILES.nameOf(id))).toBeUndefined()
  })
})
