import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { removeTempFolders, tempFolder } from '../store/temp-database.ts'

removeTempFolders()

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const [OLD, NEW] = [new Date('2026-01-01'), new Date('2026-02-01')]

let folder: string

/** A checkout in small, whose `npm` runs the script that looks whether to build, and builds a program that says its arguments. */
beforeEach(() => {
  folder = tempFolder()
  for (const name of ['src', 'adapters', 'dist', 'bin']) mkdirSync(join(folder, name))
  write('package.json', '{}', OLD)
  write('src/main.ts', '', OLD)
  for (const name of ['src', 'adapters']) utimesSync(join(folder, name), OLD, OLD)
  npm(`echo built >> built; echo 'console.log(process.argv[2])' > dist/main.js; touch dist/openapi.json`)
})

function npm(build: string): void {
  write('bin/npm', `#!/bin/sh\nif [ "$3" = ready ]; then exec sh -c "$READY"; fi\n${build}\n`, OLD)
  chmodSync(join(folder, 'bin/npm'), 0o755)
}

function write(name: string, text: string, at: Date): void {
  writeFileSync(join(folder, name), text)
  utimesSync(join(folder, name), at, at)
}

function parley(script = 'parley'): { readonly said: string; readonly progress: string; readonly builds: number } {
  const env = { PATH: `${join(folder, 'bin')}:${process.env.PATH ?? ''}`, READY: scripts.ready }
  const run = spawnSync('sh', ['-c', `${scripts[script]} status`], { cwd: folder, env, encoding: 'utf8' })
  const log = join(folder, 'built')
  const builds = existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').length : 0
  return { said: run.stdout, progress: run.stderr, builds }
}

const BUILT = { progress: 'Building…\n', builds: 1 }

test.each([
  ['parley', 'status\n'],
  ['start', 'start\n'],
  ['demo', 'demo\n'],
])('npm run %s builds what was never built, says so beside its output, and only once', (script, said) => {
  expect(parley(script)).toEqual({ said, ...BUILT })
  expect(parley(script)).toEqual({ said, progress: '', builds: 1 })
})

test.each(['src/main.ts', 'package.json'])('npm run parley builds again after %s was changed', (file) => {
  write('dist/main.js', '', OLD)
  write('dist/openapi.json', '', OLD)
  write(file, '{}', NEW)
  expect(parley()).toEqual({ said: 'status\n', ...BUILT })
})

test('npm run parley builds again where a build did not come to its end', () => {
  write('dist/main.js', '', NEW)
  expect(parley()).toEqual({ said: 'status\n', ...BUILT })
  expect(scripts.build).toMatch(/^rm -f .*dist\/openapi\.json.* && npm run -s build:api$/)
  expect(scripts['build:api']).toMatch(/ && node dist\/build\/write-document\.js$/)
})

test('npm run parley does not run an old build where the new one fails', () => {
  write('dist/main.js', 'console.log(process.argv[2])', OLD)
  write('src/main.ts', '', NEW)
  npm('exit 1')
  expect(parley()).toEqual({ said: '', progress: 'Building…\n', builds: 0 })
})
