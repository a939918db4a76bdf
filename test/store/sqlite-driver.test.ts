import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, it } from 'vitest'
import { Database } from '../../src/store/engines/sqlite-driver.ts'

interface LockFile {
  readonly packages: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as LockFile
const locked = (name: string) => lock.packages[`node_modules/${name}`]

// Both are lost when the lock file is made anew, the second with each change: see decision 0008.
it('the lock file leaves the driver that is compiled out where Node has the other one', () => {
  expect(locked('better-sqlite3-12')).toMatchObject({ optional: true, engines: { node: '20.x || 22.0 - 22.13' } })
})

it('the lock file has npm compile nothing for the driver that comes compiled', () => {
  expect(locked('better-sqlite3')).toMatchObject({ optional: true, gypfile: false })
  expect(locked('better-sqlite3')).not.toHaveProperty('hasInstallScript')
})

it('Node 22.14 and later run the version that comes compiled, older ones the one before', () => {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const name = major > 22 || (major === 22 && minor >= 14) ? 'better-sqlite3' : 'better-sqlite3-12'
  expect(Database).toBe(createRequire(import.meta.url)(name))
})
