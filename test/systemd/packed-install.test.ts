import { execFileSync, spawnSync } from 'node:child_process'
import { lstatSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WHOLE } from '../sample.ts'

const ROOT = new URL('../../', import.meta.url).pathname
const MB = 1024 * 1024

/** The most that an installation may take on the disk; 46 MB when this was written, 203 while npm installed libraries. */
const MOST_MB = 60

/** All that an installation may run: neither a compiler nor Python. */
const TOOLS = ['sh', 'env', 'uname', 'cat']

// It asks the registry, once for each version of Node.
describe.runIf(WHOLE)('the packed file, installed by npm from the registry', () => {
  test.each([22, 24])(
    'on Node %s needs no compiler, is small, and makes its database',
    (major) => {
      const folder = mkdtempSync(join(tmpdir(), 'parley-packed-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      const bin = join(folder, 'bin')
      const [app, packed] = [join(folder, 'app'), pack(folder)]
      for (const place of [bin, app]) mkdirSync(place)
      symlinkSync(nodeOf(major, folder), join(bin, 'node'))
      for (const tool of ['npm', ...TOOLS]) symlinkSync(pathOf(tool), join(bin, tool))
      const env = { PATH: bin, HOME: folder, NODE_GYP_FORCE_PYTHON: 'none', npm_config_cache: cacheOfNpm() }
      const options = ['--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund']
      execFileSync(join(bin, 'npm'), ['install', ...options, packed], { cwd: app, env, stdio: 'pipe' })
      const parley = (...args: readonly string[]) =>
        spawnSync(join(app, 'node_modules/.bin/parley'), args, { cwd: app, env, encoding: 'utf8' })

      expect(sizeOf(app) / MB).toBeLessThan(MOST_MB)
      execFileSync('cp', ['-r', join(ROOT, 'test/fixtures/imports/molf'), join(app, 'old')])
      expect(parley('import', 'old')).toMatchObject({ status: 0, stderr: '' })
      expect(parley('sessions', 'list', '--all', '--json')).toMatchObject({
        status: 0,
        stdout: expect.stringContaining('"total": 1'),
      })
    },
    300_000,
  )
})

function pack(folder: string): string {
  const options = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const [packed] = JSON.parse(execFileSync('npm', options, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }))
  return join(folder, packed.filename)
}

/** Returns this Node, or one of another version that npm installs as a package. */
function nodeOf(major: number, folder: string): string {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath
  const name = `node-${process.platform}-${process.arch}`
  const options = ['--prefix', join(folder, 'node'), '--no-save', '--prefer-offline', '--no-audit', '--no-fund']
  execFileSync('npm', ['install', ...options, `${name}@${major}`], { cwd: folder, stdio: 'pipe' })
  return join(folder, 'node/node_modules', name, 'bin/node')
}

function cacheOfNpm(): string {
  return execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim()
}

function pathOf(tool: string): string {
  return realpathSync(execFileSync('sh', ['-c', `command -v ${tool}`], { encoding: 'utf8' }).trim())
}

/** Returns the bytes that a folder takes on a disk with blocks of 4 KB. */
function sizeOf(path: string): number {
  const stats = lstatSync(path)
  if (!stats.isDirectory()) return Math.ceil(stats.size / 4096) * 4096
  return readdirSync(path).reduce((sum, name) => sum + sizeOf(join(path, name)), 4096)
}
