import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { VERSION } from '../../src/platform/version.ts'
import { MIGRATIONS } from '../../src/store/migrations/index.ts'

test('the version is that of package.json', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    version: string
  }

  expect(VERSION).toBe(version)
  expect(VERSION).toMatch(/^\d+\.\d+\.\d+/)
})

test('package.json names the schema of the database, which upgrade reads before it runs anything', () => {
  const { parley } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

  expect(parley).toEqual({ schema: MIGRATIONS.length })
})
