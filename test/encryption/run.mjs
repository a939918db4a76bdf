import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

// Runs the tests that need the driver which encrypts. Where it is not installed it is, in a folder that is removed
// again: version 13 comes compiled, version 12, for a Node without Node-API 10, may take minutes and a compiler.
const NAME = 'better-sqlite3-multiple-ciphers'
const VERSION = Number(process.versions.napi) < 10 ? '12.11.1' : '13.0.3'

const folder = mkdtempSync(join(tmpdir(), 'parley-cipher-'))
try {
  const paths = isInstalled() ? [] : [install()]
  const env = {
    ...process.env,
    PARLEY_TEST_ENCRYPTION: '1',
    NODE_PATH: [...paths, process.env.NODE_PATH].join(delimiter),
  }
  const suites = process.argv.length > 2 ? process.argv.slice(2) : ['test/encryption']
  const vitest = ['vitest', 'run', '--config', 'test/vitest.config.ts', ...suites]
  process.exitCode = spawnSync('npx', vitest, { env, stdio: 'inherit' }).status ?? 1
} finally {
  rmSync(folder, { recursive: true })
}

function isInstalled() {
  try {
    createRequire(import.meta.url).resolve(NAME)
    return true
  } catch {
    return false
  }
}

function install() {
  execFileSync('npm', ['install', '--prefix', folder, '--no-save', `${NAME}@${VERSION}`], { stdio: 'inherit' })
  return join(folder, 'node_modules')
}
