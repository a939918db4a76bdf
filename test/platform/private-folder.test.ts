import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  lchownSync,
  linkSync,
  mkdirSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  belongsHere,
  type FolderUse,
  privateFile,
  privateFolder,
  toFolderError,
} from '../../src/platform/private-folder.ts'
import { localFolder } from '../fakes/local-folder.ts'
import { openFolder } from '../fakes/open-folder.ts'

const AS_ROOT = process.geteuid?.() === 0
const [NOBODY, SOMEBODY] = [65534, 65533]

/** `parent/data` in a folder of the test's own. */
async function place(folder?: string): Promise<{ parent: string; data: string }> {
  const parent = join(folder ?? (await localFolder()), 'parent')
  const data = join(parent, 'data')
  mkdirSync(data, { recursive: true, mode: 0o700 })
  return { parent, data }
}

function refusal(path: string, use?: FolderUse): unknown {
  try {
    return privateFolder(path, use)
  } catch (error) {
    return error
  }
}

/** Runs what does not wait with the rights of another user. */
function asNobody(work: () => void): void {
  process.seteuid?.(NOBODY)
  try {
    work()
  } finally {
    process.seteuid?.(0)
  }
}

const mode = (path: string): number => statSync(path).mode & 0o7777
const owner = (path: string): number => statSync(path).uid

describe('a folder', () => {
  test.each([0o777, 0o775, 0o772])('of mode %o is refused with its remedy', async (open) => {
    const { data } = await place()
    chmodSync(data, open)
    expect(refusal(data)).toMatchObject({
      code: 'config',
      message: expect.stringMatching(new RegExp(`Others may write to .*${data} \\(mode .*chmod 700 ${data}$`)),
    })
    expect(mode(data), 'left as it was').toBe(open)
  })

  test('that all users share is refused, and another one is the remedy', async () => {
    const { data } = await place()
    chmodSync(data, 0o1777)
    expect(refusal(data)).toMatchObject({
      code: 'config',
      message: expect.stringMatching(/Others may write to .* \(mode 1777\)\. Choose another folder: store\.url/),
    })
  })

  test.each([0o700, 0o755, 0o711])('of mode %o is taken as it is', async (closed) => {
    const { data } = await place()
    chmodSync(data, closed)
    expect(privateFolder(data).path).toBe(data)
    expect(mode(data)).toBe(closed)
  })

  test('that is not there is made with those above it, for its owner alone', async () => {
    const { parent } = await place()
    const data = join(parent, 'deep', 'er')
    expect(privateFolder(data).path).toBe(data)
    expect([mode(data), mode(join(parent, 'deep'))]).toEqual([0o700, 0o700])
    expect(refusal(join(parent, 'none'), 'ask')).toMatchObject({ code: 'config' })
  })

  test('with code in it is closed to readers too', async () => {
    const { data } = await place()
    expect(privateFolder(data, 'code').path).toBe(data)
    chmodSync(data, 0o750)
    expect(refusal(data, 'code')).toMatchObject({ code: 'config' })
  })

  test('below one that others may write to is refused, unless that one is sticky', async () => {
    const { parent, data } = await place()
    chmodSync(parent, 0o777)
    expect(refusal(data)).toMatchObject({ message: expect.stringContaining(`chmod go-w ${parent}`) })
    expect(refusal(join(parent, 'new'))).toMatchObject({
      code: 'config',
      message: expect.stringContaining(
        `Others may write to ${parent} (mode 0777), on the way to ${join(parent, 'new')}.`,
      ),
    })
    expect(() => statSync(join(parent, 'new')), 'nothing was made there').toThrow('ENOENT')
    chmodSync(parent, 0o1777)
    expect(privateFolder(data).path).toBe(data)
  })

  test('is reached by links, each of which is looked at; one that leads in a circle is refused', async () => {
    const { parent, data } = await place()
    symlinkSync('data', join(parent, 'near'))
    symlinkSync(join(parent, 'near'), join(parent, 'far'))
    expect(privateFolder(join(parent, 'far')).path).toBe(data)
    expect(privateFolder(join(parent, 'far', 'new')).path).toBe(join(data, 'new'))
    symlinkSync('round', join(parent, 'round'))
    expect(refusal(join(parent, 'round'))).toMatchObject({ code: 'config' })
  })

  test('that is a file, or below one, is refused', async () => {
    const { parent } = await place()
    writeFileSync(join(parent, 'file'), '')
    expect(refusal(join(parent, 'file'))).toMatchObject({ code: 'config' })
    expect(refusal(join(parent, 'file', 'data'))).toMatchObject({ code: 'config' })
  })
})

describe('a system error', () => {
  test('that an operator mends by another folder is one of the configuration, any other passes as it is', () => {
    const fault = (code: string) => Object.assign(new Error(code), { code })
    expect(toFolderError('/data', fault('EROFS'))).toMatchObject({ code: 'config' })
    const full = fault('ENOSPC')
    expect(toFolderError('/data', full)).toBe(full)
  })
})

test('what it makes has its mode whatever the umask', async () => {
  const { parent } = await place()
  const umask = process.umask(0o277)
  onTestFinished(() => void process.umask(umask))
  const folder = privateFolder(join(parent, 'new'))
  const file = join(folder.path, 'file')
  privateFile(file, folder)
  expect([mode(folder.path), mode(file)]).toEqual([0o700, 0o600])
})

describe.runIf(AS_ROOT)('among several users', () => {
  test('root takes the folder of another user and makes everything there that user’s', async () => {
    const { data } = await place()
    chownSync(data, NOBODY, NOBODY)
    const folder = privateFolder(join(data, 'deep'))
    expect([owner(folder.path), mode(folder.path)]).toEqual([NOBODY, 0o700])
    privateFile(join(folder.path, 'file'), folder)
    expect([owner(join(folder.path, 'file')), mode(join(folder.path, 'file'))]).toEqual([NOBODY, 0o600])
  })

  test('root runs no code from the folder of another user, nor makes one for it there', async () => {
    const { parent, data } = await place()
    chownSync(data, NOBODY, NOBODY)
    expect(refusal(data, 'code')).toMatchObject({ message: expect.stringContaining(`belongs to user ${NOBODY}`) })
    chownSync(parent, NOBODY, NOBODY)
    expect(refusal(join(parent, 'code'), 'code')).toMatchObject({ code: 'config' })
  })

  test('a folder of one user inside that of another is refused', async () => {
    const { parent, data } = await place()
    chownSync(parent, SOMEBODY, SOMEBODY)
    expect(refusal(data)).toMatchObject({ message: expect.stringContaining(`${parent}, on the way`) })
    chownSync(data, NOBODY, NOBODY)
    expect(refusal(data)).toMatchObject({ code: 'config' })
    chownSync(data, SOMEBODY, SOMEBODY)
    expect(privateFolder(data).owner.uid).toBe(SOMEBODY)
  })

  test('a group that has the number of a trusted user is that user’s own, any other is others', async () => {
    const { parent, data } = await place()
    chmodSync(parent, 0o770)
    expect(privateFolder(data).path).toBe(data)
    chownSync(parent, 0, SOMEBODY)
    expect(refusal(data)).toMatchObject({ message: expect.stringContaining(`chmod go-w ${parent}`) })
  })

  test('a user keeps nothing in a folder of root, and takes no file of root, but may ask the daemon of root there', async () => {
    const { parent, data } = await place(openFolder())
    for (const path of [parent, data]) chmodSync(path, 0o755)
    const theirs = join(parent, 'theirs')
    mkdirSync(theirs)
    chownSync(theirs, NOBODY, NOBODY)
    writeFileSync(join(theirs, 'file'), '', { mode: 0o600 })
    asNobody(() => {
      for (const use of ['data', 'code'] as const)
        expect(refusal(data, use)).toMatchObject({
          code: 'config',
          message: expect.stringContaining('belongs to user 0'),
        })
      const ofRoot = privateFolder(data, 'ask')
      expect(ofRoot.owner.uid).toBe(0)
      expect(belongsHere({ uid: 0 }, ofRoot)).toBe(false)
      const folder = privateFolder(theirs, 'ask')
      expect(() => privateFile(join(theirs, 'file'), folder)).toThrow('belongs to user 0')
      expect(belongsHere({ uid: 0 }, folder)).toBe(false)
      expect(belongsHere({ uid: 0 }, folder, 'usOrRoot')).toBe(true)
    })
  })

  test('a link that somebody else put on the way is refused', async () => {
    const { parent, data } = await place()
    const link = join(parent, 'link')
    symlinkSync(data, link)
    lchownSync(link, SOMEBODY, SOMEBODY)
    expect(refusal(link)).toMatchObject({ message: expect.stringContaining(`${link}, on the way`) })
    expect(readlinkSync(link)).toBe(data)
  })
})

describe('a file', () => {
  const refused = (path: string, folder = privateFolder(join(path, '..'))): unknown => {
    try {
      return privateFile(path, folder)
    } catch (error) {
      return error
    }
  }

  test.each([
    ['a folder', (path: string) => mkdirSync(path)],
    ['a link', (path: string) => symlinkSync('/etc/hostname', path)],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
  ])('%s in its place is refused', async (_what, make) => {
    const { data } = await place()
    const path = join(data, 'store.db')
    make(path)
    expect(refused(path)).toMatchObject({ code: 'config', message: expect.stringContaining('no plain file') })
  })

  test('others could read is closed; others could write to is refused', async () => {
    const { data } = await place()
    const path = join(data, 'store.db')
    writeFileSync(path, '', { mode: 0o600 })
    chmodSync(path, 0o644)
    expect(refused(path)).toBeUndefined()
    expect(mode(path)).toBe(0o600)
    chmodSync(path, 0o660)
    expect(refused(path)).toMatchObject({ code: 'config', message: expect.stringContaining(`chmod 600 ${path}`) })
  })

  test('of ours that has another name too is taken', async () => {
    const { data } = await place()
    const path = join(data, 'store.db')
    writeFileSync(path, '', { mode: 0o600 })
    linkSync(path, join(data, 'other.db'))
    expect(refused(path)).toBeUndefined()
  })

  test.runIf(AS_ROOT)('of another user is refused', async () => {
    const { data } = await place()
    const path = join(data, 'store.db')
    writeFileSync(path, '', { mode: 0o600 })
    chownSync(path, NOBODY, NOBODY)
    expect(refused(path)).toMatchObject({ message: expect.stringContaining(`belongs to user ${NOBODY}`) })
  })
})
