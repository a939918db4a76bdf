import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { digestOf, type MediaId, mediaId } from '../../src/core/ids.ts'
import { MOST_MEDIA_BYTES } from '../../src/core/media.ts'
import { mediaStoreIn } from '../fakes/media.ts'
import { DOT } from '../fakes/pictures.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const words = (text: string): Uint8Array => new TextEncoder().encode(text)

function pathOf(folder: string, id: MediaId): string {
  return join(folder, digestOf(id).slice(0, 2), digestOf(id))
}

/** A store whose clock and whose named files the test sets. */
function rig() {
  const folder = join(tempFolder(), 'media')
  const used = new Set<MediaId>()
  const clock = { now: 0, elapsed: () => clock.now }
  return { folder, used, clock, media: mediaStoreIn(folder, used, clock) }
}

describe('the media store', () => {
  it('C25: a file is kept under the digest of its content, and its part has nothing but the handle', async () => {
    const { media } = rig()
    const part = await media.keep(DOT, 'dot.png')
    expect(part).toEqual({
      type: 'image',
      mime: 'image/png',
      media: expect.stringMatching(/^media:\/\/sha256-[0-9a-f]{64}$/),
      size: DOT.length,
      name: 'dot.png',
    })
    expect(new Uint8Array(await media.read(part.media))).toEqual(DOT)
  })

  it('the same content is kept once, whatever its name', async () => {
    const { media, folder } = rig()
    const first = await media.keep(words('same'), 'a.txt')
    const again = await media.keep(words('same'), 'b.txt')
    expect(again.media).toBe(first.media)
    expect(readdirSync(join(folder, digestOf(first.media).slice(0, 2)))).toHaveLength(1)
  })

  it('a folder that somebody has removed meanwhile is made again', async () => {
    const { media, folder } = rig()
    await media.keep(words('first'), 'a.txt')
    rmSync(folder, { recursive: true })
    const { media: id } = await media.keep(words('second'), 'b.txt')
    expect(Buffer.from(await media.read(id)).toString()).toBe('second')
  })

  it.each([
    ['a picture that says it is a text', DOT, 'notes.txt', 'image image/png'],
    ['a text that says it is a picture', words('just words'), 'cat.png', 'file text/plain'],
    [
      'a drawing, which no model is shown',
      words('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      'a.svg',
      'file text/plain',
    ],
    ['what nobody knows', Uint8Array.of(0, 1, 2, 255), 'a', 'file application/octet-stream'],
    ['nothing at all', new Uint8Array(), 'empty', 'file text/plain'],
  ])('the kind is told by the content: %s', async (_, bytes, name, kind) => {
    const { type, mime } = await rig().media.keep(bytes, name)
    expect(`${type} ${mime}`).toBe(kind)
  })

  it('nobody else on the machine can read a file, whatever the umask', async () => {
    const before = process.umask(0)
    try {
      const { media, folder } = rig()
      const { media: id } = await media.keep(words('private'))
      const modes = [folder, join(pathOf(folder, id), '..'), pathOf(folder, id)].map(
        (path) => statSync(path).mode & 0o077,
      )
      expect(modes).toEqual([0, 0, 0])
    } finally {
      process.umask(before)
    }
  })

  it('a file that is too large is refused and leaves nothing', async () => {
    const { media, folder } = rig()
    await expect(media.keep(new Uint8Array(MOST_MEDIA_BYTES + 1))).rejects.toMatchObject({ code: 'too_long' })
    expect(existsSync(folder)).toBe(false)
  })

  it('a file that cannot get its name leaves nothing of what was written', async () => {
    const { media, folder } = rig()
    await media.keep(words('first'))
    const digest = createHash('sha256').update('second').digest('hex')
    writeFileSync(join(folder, digest.slice(0, 2)), 'a file in the place of a folder')
    await expect(media.keep(words('second'))).rejects.toThrow()
    expect(readdirSync(folder).filter((name) => name.startsWith('partial-'))).toEqual([])
  })

  it('a file that cannot be kept is an error without a path of this machine, which a model would be shown', async () => {
    const { media, folder } = rig()
    await media.keep(words('first'), 'a.txt')
    rmSync(folder, { recursive: true })
    writeFileSync(folder, 'in its place')
    const error = await media.keep(words('second'), 'b.txt').catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'unavailable', message: 'The file could not be kept.' })
  })

  it('a file that is not there, or was changed, is an error and never other content', async () => {
    const { media, folder } = rig()
    await expect(media.read(mediaId('0'.repeat(64)))).rejects.toMatchObject({ code: 'not_found' })
    const { media: id } = await media.keep(words('original'))
    chmodSync(pathOf(folder, id), 0o600)
    writeFileSync(pathOf(folder, id), 'replaced')
    await expect(media.read(id)).rejects.toMatchObject({ code: 'unreadable' })
  })
})

describe('a thing in the place of a file', () => {
  const pipe = (path: string): void => void execFileSync('mkfifo', [path])
  const huge = (path: string): void => {
    writeFileSync(path, '')
    truncateSync(path, MOST_MEDIA_BYTES + 1)
  }
  it.each([
    ['a folder', (path: string) => mkdirSync(join(path, 'in it'), { recursive: true })],
    ['a pipe', pipe],
    ['a huge file', huge],
    ['a file of the same length', (path: string) => writeFileSync(path, 'origimal')],
  ])('%s is not read, gives way when the content comes again, and is swept', async (_, put) => {
    const { media, folder, clock } = rig()
    const { media: id } = await media.keep(words('original'))
    const again = (): void => {
      rmSync(pathOf(folder, id), { force: true })
      put(pathOf(folder, id))
    }
    again()
    await expect(media.read(id)).rejects.toThrow()
    await media.keep(words('original'))
    expect(new TextDecoder().decode(await media.read(id))).toBe('original')
    again()
    clock.now = 600_001
    expect(await media.sweep()).toBe(1)
    expect(existsSync(pathOf(folder, id))).toBe(false)
  })
})

it('a huge file in the place of one is not read into the memory', async () => {
  const { media, folder } = rig()
  const { media: id } = await media.keep(words('original'))
  truncateSync(pathOf(folder, id), MOST_MEDIA_BYTES + 1)
  // Not even its digest is looked at, which would be `unreadable`.
  await expect(media.read(id)).rejects.toMatchObject({ code: 'not_found' })
})

describe('a sweep', () => {
  it('deletes what nothing names, ten minutes after it was kept, and no file that is named', async () => {
    const { media, used, clock } = rig()
    const kept = await media.keep(words('named'))
    const lost = await media.keep(words('nobody names this'))
    used.add(kept.media)
    expect(await media.sweep()).toBe(0)
    clock.now = 600_001
    expect(await media.sweep()).toBe(1)
    await expect(media.read(lost.media)).rejects.toMatchObject({ code: 'not_found' })
    expect(new TextDecoder().decode(await media.read(kept.media))).toBe('named')
  })

  it('keeps a file that came again meanwhile', async () => {
    const { media, clock } = rig()
    await media.keep(words('twice'))
    clock.now = 600_001
    const { media: id } = await media.keep(words('twice'))
    expect(await media.sweep()).toBe(0)
    await expect(media.read(id)).resolves.toHaveLength(5)
  })

  it('removes what an interrupted write left, and nothing that is not ours', async () => {
    const { media, folder, used } = rig()
    const { media: id } = await media.keep(words('here'))
    used.add(id)
    writeFileSync(join(folder, 'partial-crashed'), 'half')
    writeFileSync(join(folder, 'notes.txt'), 'of the operator')
    expect(await media.sweep()).toBe(1)
    expect(readdirSync(folder).sort()).toEqual([digestOf(id).slice(0, 2), 'notes.txt'].sort())
  })

  it('leaves alone what is being written', async () => {
    const { media, used } = rig()
    used.add((await media.keep(words('so that there is a folder'))).media)
    let isKept = false
    const keeping = media.keep(new Uint8Array(MOST_MEDIA_BYTES)).finally(() => {
      isKept = true
    })
    while (!isKept) await media.sweep()
    await expect(keeping).resolves.toMatchObject({ size: MOST_MEDIA_BYTES })
  })

  it('makes no folder where no file was ever kept', async () => {
    const { media, folder } = rig()
    expect(await media.sweep()).toBe(0)
    expect(existsSync(folder)).toBe(false)
  })
})
