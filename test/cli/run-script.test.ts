import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const [OLD, NEW] = [new Date('2026-01-01'), new Date('2026-02-01')]

let folder: string

/** A checkout in small, whose `npm` builds a program that says its arguments. */
beforeEach(() => {
  folder = tempFolder()
  for (const name of ['src', 'adapters', 'dist', 'bin']) mkdirSync(join(folder, name))
  write('package.json', '{}', OLD)
  write('src/main.ts', '', OLD)
  for (const name of ['src', 'adapters']) utimesSync(join(folder, name), OLD, OLD)
  write('bin/npm', `#!/bin/sh\necho built >> built\necho 'console.log(process.argv[2])' > dist/main.js\n`, OLD)
  chmodSync(join(folder, 'bin/npm'), 0o755)
})

function write(name: string, text: string, at: Date): void {
  writeFileSync(join(folder, name), text)
  utimesSync(join(folder, name), at, at)
}

function parley(): { readonly said: string; readonly built: boolean } {
  const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH ?? ''}` }
  const said = execFileSync('sh', ['-c', `${scripts.parley} status`], { cwd: folder, env, encoding: 'utf8' })
  return { said, built: existsSync(join(folder, 'built')) }
}

test('npm run parley builds what was never built', () => {
  expect(parley()).toEqual({ said: 'status\n', built: true })
})

test('npm run parley builds again after a source was changed', () => {
  write('dist/main.js', '', OLD)
  write('src/main.ts', '', NEW)
  expect(parley()).toEqual({ said: 'status\n', built: true })
})

test('npm run parley does not build what is built', () => {
  write('dist/main.js', 'console.log(process.argv[2])', NEW)
  expect(parley()).toEqual({ said: 'status\n', built: false })
})

test('npm run parley does not run an old build where the new one fails', () => {
  write('dist/main.js', 'console.log(process.argv[2])', OLD)
  write('src/main.ts', '', NEW)
  write('bin/npm', '#!/bin/sh\nexit 1\n', OLD)
  expect(() => parley()).toThrow()
})
