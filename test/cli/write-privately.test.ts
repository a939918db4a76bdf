import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { writePrivately } from '../../src/cli/write-privately.ts'

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
