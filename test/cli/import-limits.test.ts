import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'

const MAIN = new URL('../../dist/main.js', import.meta.url).pathname

/** Runs the program as it is built, with as many open files at a time. */
function importing(prepare: (folder: string) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-import-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'parley.yaml'), 'agents:\n  - { id: main, model: scripted/echo }\n')
  prepare(folder)
  const command = 'ulimit -n 128; exec "$0" "$1" import "$2/old" --dry-run --config "$2/parley.yaml"'
  const { status, stdout, stderr } = spawnSync('sh', ['-c', command, process.execPath, MAIN, folder], {
    ...{ encoding: 'utf8', env: { ...process.env, XDG_STATE_HOME: folder } },
  })
  return { status, stdout, stderr }
}

it('K39: a store of more files than a process may open is read whole', () => {
  const { stdout } = importing((folder) => {
    mkdirSync(join(folder, 'old'))
    for (let no = 0; no < 400; no++)
      writeFileSync(join(folder, 'old', `${no}.jsonl`), '{"role":"user","content":"hello"}\n')
  })
  expect(stdout).toContain('400 would be imported, 0 there already, 0 skipped')
})

it('K39: a file that is not read is skipped with that reason', () => {
  const { stdout } = importing((folder) => {
    mkdirSync(join(folder, 'old'))
    writeFileSync(join(folder, 'old', 'huge.jsonl'), '')
    truncateSync(join(folder, 'old', 'huge.jsonl'), 70 * 1024 * 1024)
  })
  expect(stdout).toContain('huge.jsonl: skipped, it is larger than 64 MiB')
})

it.each([
  ['a device', (path: string) => symlinkSync('/dev/zero', path), 'is a device, a pipe or a socket'],
  ['a pipe', (path: string) => spawnSync('mkfifo', [path]), 'is a device, a pipe or a socket'],
  // Its size is that of a file, and every read of its beginning fails with an error of the disk.
  ['a file whose disk fails', (path: string) => symlinkSync('/proc/self/mem', path), 'cannot be read: EIO'],
])('%s in the place of a bundle is refused in words', (_, make, words) => {
  const { status, stderr } = importing((folder) => void make(join(folder, 'old')))
  expect([status, stderr]).toEqual([2, expect.stringContaining(words)])
})

it('a bundle that is larger than any text of the engine is refused in words', () => {
  const { status, stderr } = importing((folder) => {
    writeFileSync(join(folder, 'old'), '')
    truncateSync(join(folder, 'old'), 3_000_000_000)
  })
  expect([status, stderr]).toEqual([65, expect.stringContaining('The file cannot be imported: it is larger than')])
})

it('a file that is no bundle, or was changed on the way, is an import that failed and changed nothing', () => {
  const { status, stderr } = importing((folder) => writeFileSync(join(folder, 'old'), '{"kind":"session"}\n'))
  expect([status, stderr]).toEqual([65, expect.stringContaining('The file cannot be imported: it is no bundle')])
})
