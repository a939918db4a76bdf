import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { checkWritable } from '../../src/cli/write-privately.ts'
import { readyDatabase } from '../fakes/ready-database.ts'

const PROGRAM = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

/** A folder with a configuration and its store. */
function installed() {
  const folder = mkdtempSync(join(tmpdir(), 'parley-ended-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const tmp = join(folder, 'tmp')
  mkdirSync(tmp)
  mkdirSync(join(folder, 'parley'), { mode: 0o700 })
  readyDatabase(join(folder, 'parley', 'parley.db'))
  const config = join(folder, 'parley.yaml')
  writeFileSync(config, 'http: {}\nagents: [{ id: main, model: scripted/echo }]\n')
  return { folder, config, tmp, env: { ...process.env, XDG_STATE_HOME: folder, TMPDIR: tmp } }
}

it('the copy of the store that a killed trial has left an hour ago is removed by the next one', async () => {
  const { folder, config, tmp, env } = installed()
  mkdirSync(join(folder, 'old'))
  const line = `${JSON.stringify({ role: 'user', content: 'hello' })}\n`
  for (let no = 0; no < 3_000; no++) writeFileSync(join(folder, 'old', `${no}.jsonl`), line.repeat(5))
  const args = [PROGRAM, 'import', join(folder, 'old'), '--dry-run', '--config', config]
  const child = spawn(process.execPath, args, { env, stdio: 'ignore' })
  const ended = once(child, 'exit')
  await expect.poll(() => readdirSync(tmp, { recursive: true }).join(), { timeout: 30_000 }).toContain('trial.db')
  child.kill()
  expect(await ended).toEqual([null, 'SIGTERM'])
  const left = readdirSync(tmp, { recursive: true, encoding: 'utf8' })
  expect(left.filter((name) => !name.includes('/'))).toHaveLength(1)
  const ago = new Date(Date.now() - 3_600_000)
  for (const name of left) utimesSync(join(tmp, name), ago, ago)
  mkdirSync(join(tmp, `parley-trial-${process.pid}-other`))
  expect(spawnSync(process.execPath, args, { env }).status).toBe(0)
  expect(readdirSync(tmp)).toEqual([`parley-trial-${process.pid}-other`])
})

describe('a command whose answer cannot be written', () => {
  it('onto a full disk: fails and says why', () => {
    const { config, env } = installed()
    const args = [PROGRAM, 'config', 'explain', '--config', config]
    const { status, stderr } = spawnSync(process.execPath, args, {
      ...{ env, encoding: 'utf8' },
      stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'],
    })
    expect([status, stderr]).toEqual([1, expect.stringContaining('ENOSPC')])
  })

  it('since its reader has seen enough: is done', () => {
    const { config, env } = installed()
    const command = `"$0" "$@"; echo "$?" >&3`
    const { output } = spawnSync(
      '/bin/bash',
      ['-c', `{ ${command}; } 3>&2 | true`, process.execPath, PROGRAM, 'config', 'explain', '--config', config],
      { env, encoding: 'utf8' },
    )
    expect(output[2]).toBe('0\n')
  })
})

describe('a start with its data on a full disk ends with 74 and names the folder', () => {
  // Both need a disk of their own, which a namespace of mounts gives without rights.
  const mounts = spawnSync('unshare', ['-rm', 'true']).status === 0
  const FULL = 'mount -t tmpfs -o size=$0,nr_inodes=$1 tmpfs "$2"; cp -a "$3/." "$2"; cat /dev/zero >"$2/fill" 2>&-; '

  it.runIf(mounts).each([
    ['no data yet', '64k', '100', true],
    ['no room in it', '800k', '100', false],
    ['no file more', '8m', '4', false],
  ])('%s', (_, size, files, isFirst) => {
    const { folder, config, tmp, env } = installed()
    const disk = join(folder, 'disk')
    mkdirSync(disk)
    const script = `${FULL} shift 3; exec "$@"`
    const from = isFirst ? tmp : join(folder, 'parley')
    writeFileSync(config, `store: { url: "sqlite:${disk}/parley.db" }\n${readFileSync(config, 'utf8')}`)
    const command = [process.execPath, PROGRAM, 'start', '--config', config]
    const { status, stderr } = spawnSync('unshare', ['-rm', 'sh', '-c', script, size, files, disk, from, ...command], {
      ...{ env, encoding: 'utf8', timeout: 60_000 },
    })
    expect([status, stderr]).toEqual([74, expect.stringContaining(`${disk}: the disk of this folder is full; free`)])
  })
})

it('a file that is exported takes the place of no device or pipe', async () => {
  const { folder } = installed()
  const path = join(folder, 'pipe')
  spawnSync('mkfifo', [path])
  await expect(checkWritable(path, true)).rejects.toMatchObject({ code: 'invalid' })
  expect(existsSync(path)).toBe(true)
})
