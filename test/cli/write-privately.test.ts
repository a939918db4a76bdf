import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writePrivately } from '../../src/cli/write-privately.ts'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

it('a file that cannot be written to its end is named with the reason, and nothing of it is left', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-written-'))
  async function* pieces() {
    yield 'one'
    rmSync(folder, { recursive: true })
    yield 'two'
  }
  const path = join(folder, 'session.jsonl')
  await expect(writePrivately(path, pieces(), { force: true, now: Date.now() })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining(`${path} cannot be written: ENOENT`),
  })
  expect(existsSync(folder)).toBe(false)
})

const HOUR_MS = 3_600_000

/** Makes hidden files, or folders, of a process, and returns their names; each was last written so long ago. */
function leave(folder: string, pid: number, written: Readonly<Record<string, number>>, make = writeWords) {
  return Object.entries(written).map(([base, agoMs]) => {
    const name = `.${base}.parley-${pid}-0123456789ab`
    make(join(folder, name))
    const at = new Date(Date.now() - agoMs)
    utimesSync(join(folder, name), at, at)
    return name
  })
}

function writeWords(path: string): void {
  writeFileSync(path, 'words')
}

async function write(path: string): Promise<void> {
  async function* pieces() {
    yield 'all of it'
  }
  await writePrivately(path, pieces(), { force: false, now: Date.now() })
}

/** Returns the number of a process that has ended, or is in another container. */
function unseen(): number {
  return spawnSync(process.execPath, ['-e', '']).pid
}

it('what processes that were killed have half written in the folder is removed, and nothing else of a like name', async () => {
  const folder = tempFolder()
  const pid = unseen()
  leave(folder, pid, { 'seen.md': HOUR_MS, 'other.md': HOUR_MS, 'ahead.md': -HOUR_MS })
  const kept = [
    ...leave(folder, process.pid, { 'mine.md': HOUR_MS }),
    ...leave(folder, pid, { folder: HOUR_MS }, mkdirSync),
    ...[`.notes.parley-${pid}`, `seen.md.parley-${pid}-0123456789ab`],
  ]
  for (const name of kept.slice(2)) writeWords(join(folder, name))
  await write(join(folder, 'seen.md'))
  expect(readdirSync(folder).toSorted()).toEqual([...kept, 'seen.md'].toSorted())
})

it('what is being written stays, though nobody here sees the process: it may run in another container', async () => {
  const folder = tempFolder()
  const kept = leave(folder, unseen(), { 'seen.md': 0, 'other.md': 60_000 })
  await write(join(folder, 'seen.md'))
  expect(readdirSync(folder).toSorted()).toEqual([...kept, 'seen.md'].toSorted())
})

it('what was half written days ago goes, though a process has its number again', async () => {
  const folder = tempFolder()
  leave(folder, process.pid, { 'seen.md': 48 * HOUR_MS })
  await write(join(folder, 'seen.md'))
  expect(readdirSync(folder)).toEqual(['seen.md'])
})
