import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildSync } from 'esbuild'
import { expect, it } from 'vitest'
import { removeLeftTrials } from '../../src/daemon/trial-folder.ts'
import { openFolder } from '../fakes/open-folder.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

/** Root may remove everything, so that another user has to try. */
const [AS_ROOT, NOBODY] = [process.geteuid?.() === 0, 65_534]

/** Returns the number of a process that has ended. */
function dead(): number {
  return spawnSync(process.execPath, ['-e', '']).pid
}

/** Calls `removeLeftTrials` as somebody who is not root, and returns how the process ended. */
function removeAsUser(folder: string) {
  const outfile = join(tempFolder(), 'trial-folder.mjs')
  const entry = fileURLToPath(new URL('../../src/daemon/trial-folder.ts', import.meta.url))
  buildSync({ entryPoints: [entry], bundle: true, platform: 'node', format: 'esm', outfile })
  const script = `
    const { removeLeftTrials } = await import(${JSON.stringify(outfile)})
    if (${AS_ROOT}) process.setuid(${NOBODY})
    removeLeftTrials({ now: () => Date.now() + 3_600_000 }, ${JSON.stringify(folder)})`
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  return { status, stderr }
}

it('a trial that cannot be removed stops nothing, and keeps no other', () => {
  const folder = openFolder()
  const [stays, goes] = [1, 2].map((no) => join(folder, `parley-trial-${dead()}-${no}`))
  const inside = join(String(stays), 'inside')
  mkdirSync(inside, { recursive: true })
  writeFileSync(join(inside, 'trial.db'), '')
  mkdirSync(String(goes))
  if (AS_ROOT) for (const path of [folder, stays, inside, goes]) chownSync(String(path), NOBODY, NOBODY)
  chmodSync(inside, 0o500)
  const ended = removeAsUser(folder)
  chmodSync(inside, 0o700)
  expect(ended).toEqual({ status: 0, stderr: '' })
  expect(readdirSync(folder).map((name) => name.slice(-2))).toEqual(['-1'])
})

it('a link of such a name is nobody’s trial, wherever it leads', () => {
  const [folder, own] = [tempFolder(), tempFolder()]
  writeFileSync(join(own, 'kept'), '')
  const name = `parley-trial-${dead()}-x`
  symlinkSync(own, join(folder, name))
  removeLeftTrials(Date, folder)
  expect([readdirSync(folder), readdirSync(own)]).toEqual([[name], ['kept']])
})

it('a trial of days ago goes, though a process has its number again', () => {
  const folder = tempFolder()
  const [now, before] = ['now', 'before'].map((name) => `parley-trial-${process.pid}-${name}`)
  for (const name of [now, before]) mkdirSync(join(folder, String(name)))
  const ago = new Date(Date.now() - 2 * 86_400_000)
  utimesSync(join(folder, String(before)), ago, ago)
  removeLeftTrials(Date, folder)
  expect(readdirSync(folder)).toEqual([now])
})

it('a trial of which something is written stays, though nobody here sees its process', () => {
  const folder = tempFolder()
  const names = ['now', 'inside', 'before'].map((name) => `parley-trial-${dead()}-${name}`)
  const ago = new Date(Date.now() - 3_600_000)
  for (const name of names) {
    mkdirSync(join(folder, name))
    if (name.endsWith('inside')) writeFileSync(join(folder, name, 'trial.db-wal'), '')
    if (!name.endsWith('now')) utimesSync(join(folder, name), ago, ago)
  }
  removeLeftTrials(Date, folder)
  expect(readdirSync(folder).toSorted()).toEqual(names.slice(0, 2).toSorted())
})
