import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { EXIT } from '../../src/core/errors.ts'
import { fileFields } from '../../src/rehearsal/telegram/files.ts'
import { NOBODY, OTHER_USER_RUNS } from '../e2e/other-user.ts'
import { CASE } from '../faults/rounds.ts'
import { type House, namesIn, startHouse } from './house.ts'

const PICTURE = Buffer.from('GIF89a of a cat')

/** A store with a message and a picture. */
async function withPicture(): Promise<House> {
  const house = await startHouse()
  const daemon = house.daemon()
  await daemon.start()
  await house.heard('one')
  const mark = house.telegram.ledger.mark()
  const extra = fileFields(house.telegram.world, { as: 'document', bytes: PICTURE })
  house.telegram.world.say({ from: 111, text: '', extra })
  await house.telegram.ledger.nextFromBot('sent', { after: mark })
  await daemon.terminate()
  return house
}

const DISK_BYTES = 60_000_000

/** Mounts a new file system of a kind; returns why that cannot be done here. */
function mountNew(house: House, make: readonly string[], types: readonly (readonly string[])[]): string | undefined {
  const [image, place] = [join(house.folder, 'image'), join(house.folder, 'disk')]
  mkdirSync(place)
  writeFileSync(image, '')
  truncateSync(image, DISK_BYTES)
  const run = (command: string, ...args: readonly string[]) => execFileSync(command, args, { stdio: 'pipe' })
  try {
    const [command = '', ...args] = make
    run(command, ...args, image)
  } catch {
    return `there is no ${make[0]} here`
  }
  for (const [type = '', options = ''] of types) {
    try {
      run('mount', '-t', type, '-o', ['loop', options].filter(Boolean).join(','), image, place)
      onTestFinished(() => void execFileSync('umount', [place], { stdio: 'ignore' }))
      return undefined
    } catch {
      // The next type may be there.
    }
  }
  return `nothing mounts ${types.map(([type]) => type).join(' or ')} here`
}

describe('the folder of copies', CASE, () => {
  it.for([
    ['exFAT', ['mkfs.exfat'], [['exfat'], ['exfat-fuse']]],
    ['FAT', ['mkfs.vfat'], [['vfat']]],
    [
      'NTFS, which refuses each change of modes',
      ['mkntfs', '-F', '-q'],
      [['ntfs-3g', 'no_def_opts,default_permissions,allow_other']],
    ],
  ] as const)(
    'on %s: the copy is made and whole, and one line says that others can read it',
    async ([, make, types], { skip }) => {
      const house = await withPicture()
      const why = mountNew(house, make, types)
      if (why !== undefined) skip(why)
      const disk = join(house.folder, 'disk')
      const first = await house.run(['backup', join(disk, 'copies')])
      expect(first).toMatchObject({ code: 0, stderr: '' })
      expect(first.stdout.match(/others out/g)).toHaveLength(1)
      const second = await house.run(['backup', join(disk, 'copies'), '--keep', '1d', '--json'])
      const { path, readableByOthers, removed, files } = JSON.parse(second.stdout)
      expect({ readableByOthers, removed, files }).toEqual({
        ...{ readableByOthers: true, removed: [first.stdout.split('\n')[0]], files: 1 },
      })
      expect(namesIn(join(disk, 'copies'))).toEqual([path.slice(join(disk, 'copies').length + 1)])
      expect(namesIn(disk).filter((name) => name.startsWith('.parley'))).toEqual([])
      expect((await house.run(['backup', '--verify', path])).stdout).toContain('is whole')
      expect(await house.run(['restore', path, '--yes'])).toMatchObject({ code: 0 })
      expect(statSync(join(house.state, 'parley.db')).mode & 0o777).toBe(0o600)
    },
  )

  it.runIf(OTHER_USER_RUNS)(
    'with a copy of another user: that is said, with the command, and not that it is damaged',
    async () => {
      const house = await withPicture()
      const copy = await house.backup(join(house.folder, 'copies'))
      const told = async (command: string) => {
        const { code, stderr } = await house.run(['restore', copy, '--dry-run'], { uid: NOBODY, gid: NOBODY })
        expect([code, stderr]).toEqual([1, expect.stringContaining(command)])
      }
      execFileSync('chown', ['-R', `${NOBODY}:${NOBODY}`, house.state, join(house.folder, 'config')])
      await told(`Run: sudo cp -a ${copy} . && sudo chown -R "$(id -u)" ${basename(copy)}`)
      chmodSync(join(house.folder, 'copies'), 0o755)
      await told(`Run: sudo chown -R "$(id -u)" ${copy}`)
      chmodSync(copy, 0o755)
      await told(`Run: sudo chown -R "$(id -u)" ${copy}`)
    },
  )

  it('is not begun anew where all its copies are gone, as without its disk, unless it is named', async () => {
    const disk = mkdtempSync(join(tmpdir(), 'parley-disk-'))
    onTestFinished(() => rmSync(disk, { recursive: true, force: true }))
    const to = join(disk, 'copies')
    const house = await startHouse({ backup: { every: 1, to } })
    const daemon = house.daemon()
    await daemon.start()
    await daemon.terminate()
    const first = await house.backup()
    for (const unmount of [() => renameSync(to, `${to}-away`), () => mkdirSync(to, { mode: 0o700 })]) {
      unmount()
      const { code, stderr } = await house.run(['backup'])
      expect([code, stderr]).toEqual([1, expect.stringContaining(`The copies in ${to} are gone: is its disk mounted?`)])
      expect(namesIn(to)).toEqual([])
    }
    const { findings } = JSON.parse((await house.run(['doctor', 'backup', '--json'])).stdout)
    const anew = `Mount its disk, or begin anew: parley backup ${to}`
    expect(findings).toContainEqual(expect.objectContaining({ check: 'outcome', remedy: anew }))
    await house.backup(to)
    expect(await house.backup()).not.toBe(first)
    expect(namesIn(to)).toHaveLength(2)
  })

  it('is named as that where others could write to it, and no mode of a folder of theirs is to be changed', async () => {
    const house = await withPicture()
    const [open, sticky, file] = ['open', 'sticky', 'file'].map((name) => join(house.folder, name))
    for (const folder of [open, sticky]) mkdirSync(String(folder))
    chmodSync(String(open), 0o777)
    chmodSync(String(sticky), 0o1777)
    writeFileSync(String(file), '')
    for (const folder of [open, sticky, file, join(String(open), 'more'), join(String(file), 'more')]) {
      const { code, stderr } = await house.run(['backup', String(folder)])
      expect([folder, code]).toEqual([folder, EXIT.config])
      expect(stderr).toContain('parley backup <folder>')
      expect(stderr).not.toMatch(/chmod|chown|data folder|store\.url/)
    }
    expect([open, sticky].flatMap((folder) => namesIn(String(folder)))).toEqual([])
    // Below a folder that all share, one of its own is made.
    expect(await house.run(['backup', join(String(sticky), 'mine')])).toMatchObject({ code: 0 })
  })

  it('with a file that has rotted: the copies that share it are damaged, and the next copy has one of its own', async () => {
    const house = await withPicture()
    const copies = join(house.folder, 'copies')
    const [first, second] = [await house.backup(copies), await house.backup(copies)]
    const { files } = JSON.parse(readFileSync(join(second, 'manifest.json'), 'utf8'))
    const { path } = files.find((file: { path: string }) => file.path.startsWith('media/'))
    expect(statSync(join(first, path)).ino).toBe(statSync(join(second, path)).ino)
    writeFileSync(
      join(second, path),
      PICTURE.map((byte) => byte ^ 1),
    )
    for (const copy of [first, second])
      for (const command of [
        ['backup', '--verify', copy],
        ['restore', copy, '--yes'],
      ]) {
        const { code, stderr } = await house.run(command)
        expect(code).toBe(EXIT.migration)
        expect(stderr).toContain(`${path} was changed or cut`)
      }
    const third = await house.backup(copies)
    expect(readFileSync(join(third, path))).toEqual(PICTURE)
    expect(await house.run(['backup', '--verify', third])).toMatchObject({ code: 0 })
  })
})
