import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
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
  await expect(writePrivately(path, pieces(), true)).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining(`${path} cannot be written: ENOENT`),
  })
  expect(existsSync(folder)).toBe(false)
})

it('what processes that were killed have half written in the folder is removed, and nothing that one still writes', async () => {
  const folder = tempFolder()
  const { pid } = spawnSync(process.execPath, ['-e', ''])
  const kept = [
    `.other.md.parley-${process.pid}-0123456789ab`,
    `.notes.parley-${pid}`,
    `seen.md.parley-${pid}-0123456789ab`,
  ]
  for (const name of [...kept, `.seen.md.parley-${pid}-0123456789ab`, `.other.md.parley-${pid}-ba9876543210`])
    writeFileSync(join(folder, name), 'words')
  mkdirSync(join(folder, `.folder.parley-${pid}-0123456789ab`))
  async function* pieces() {
    yield 'all of it'
  }
  await writePrivately(join(folder, 'seen.md'), pieces(), false)
  expect(readdirSync(folder).toSorted()).toEqual([...kept, `.folder.parley-${pid}-0123456789ab`, 'seen.md'].toSorted())
})
