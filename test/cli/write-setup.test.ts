import {
  chownSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { replaceFile } from '../../src/cli/init/write-setup.ts'
import { NOBODY } from '../e2e/other-user.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const ownerOf = (path: string) => lstatSync(path).uid

/** The folder of another user, in which root sets a bot up, and a file of root beside it. */
function home() {
  const folder = tempFolder()
  const [theirs, victim] = [join(folder, 'theirs'), join(folder, 'shadow')]
  mkdirSync(theirs)
  chownSync(theirs, NOBODY, NOBODY)
  writeFileSync(victim, 'of root', { mode: 0o600 })
  const near = join(theirs, 'bot/parley.yaml')
  return { folder, theirs, victim, near, write: (path: string) => replaceFile(path, 'new', { now: 0, near }) }
}

test.runIf(process.geteuid?.() === 0)('root hands over what it writes in the folder of another user', async () => {
  const { theirs, near, write } = home()
  await write(near)
  expect(await write(join(theirs, 'bot/prompts/a.md'))).toEqual({ changed: true })
  writeFileSync(join(theirs, 'kept-elsewhere'), 'old')
  chownSync(join(theirs, 'kept-elsewhere'), NOBODY, NOBODY)
  symlinkSync(join(theirs, 'kept-elsewhere'), join(theirs, 'bot/token'))
  const { copy = '' } = await write(join(theirs, 'bot/token'))
  const made = ['bot', 'bot/parley.yaml', 'bot/prompts', 'bot/prompts/a.md', 'kept-elsewhere']
  expect([...made.map((name) => join(theirs, name)), copy].map(ownerOf)).toEqual(Array(6).fill(NOBODY))
  expect(readFileSync(join(theirs, 'kept-elsewhere'), 'utf8')).toBe('new')
})

test.runIf(process.geteuid?.() === 0).each([
  ['a link to a file of root', (victim: string, path: string) => symlinkSync(victim, path)],
  [
    'a link to such a link',
    (victim: string, path: string) => {
      symlinkSync(victim, `${path}-second`)
      symlinkSync(`${path}-second`, path)
    },
  ],
  ['a second name of a file of root', (victim: string, path: string) => linkSync(victim, path)],
])('root neither changes nor hands over what %s leads to', async (_what, plant) => {
  const { folder, victim, near, write } = home()
  await write(near)
  const token = join(near, '../telegram-token')
  plant(victim, token)
  await expect(write(token)).rejects.toMatchObject({ code: 'config' })
  rmSync(near)
  plant(victim, near)
  await expect(write(near)).rejects.toMatchObject({ code: 'config' })
  expect([readFileSync(victim, 'utf8'), ownerOf(victim)]).toEqual(['of root', 0])
  expect(readdirSync(folder).toSorted()).toEqual(['shadow', 'theirs'])
})

test.runIf(process.geteuid?.() === 0)('root writes nothing through a link of another user to a folder', async () => {
  const { folder, theirs, write } = home()
  const roots = join(folder, 'roots')
  mkdirSync(roots)
  symlinkSync(roots, join(theirs, 'bot'))
  lchownSync(join(theirs, 'bot'), NOBODY, NOBODY)
  await expect(write(join(theirs, 'bot/parley.yaml'))).rejects.toMatchObject({ code: 'config' })
  expect(readdirSync(roots)).toEqual([])
})

test.runIf(process.geteuid?.() === 0)('a file in the folder of root stays that of root', async () => {
  const { folder, near } = home()
  await replaceFile(near, 'theirs', { now: 0, near })
  await replaceFile(join(folder, 'own/token'), 'new', { now: 0, near })
  expect(ownerOf(join(folder, 'own/token'))).toBe(0)
})
