import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = new URL('../../', import.meta.url).pathname
const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

test('npm pack builds by itself, and the file has the program, the examples and the unit, and no test build', () => {
  const folder = mkdtempSync(join(tmpdir(), 'parley-checkout-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  for (const name of ['config', 'systemd', 'README.md', 'LICENSE']) {
    cpSync(join(ROOT, name), join(folder, name), { recursive: true })
  }
  const build = 'mkdir -p dist/test && touch dist/main.js dist/chunk-1.js dist/meta.json dist/test/daemon.js'
  const scripts = { prepack: PACKAGE.scripts.prepack, build }
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...PACKAGE, scripts }))
  const [packed] = JSON.parse(execFileSync('npm', ['pack', '--json'], { cwd: folder, encoding: 'utf8', stdio: 'pipe' }))
  const paths: readonly string[] = packed.files.map(({ path }: { path: string }) => path)

  expect(packed.filename).toBe(`parley-${PACKAGE.version}.tgz`)
  expect(paths.filter((path) => path.startsWith('dist/'))).toEqual(['dist/chunk-1.js', 'dist/main.js'])
  expect(paths).toEqual(
    expect.arrayContaining(['config/parley.example.yaml', 'systemd/parley.service', 'README.md', 'LICENSE']),
  )
})

test('the package is private, and no text installs that name from a registry, where it belongs to others', () => {
  expect(PACKAGE).toMatchObject({ name: 'parley', private: true })
  const files = execFileSync('git', ['ls-files', '*.md', '*.ts', '*.yaml', 'systemd', 'package.json'], { cwd: ROOT })
  const texts = files.toString().trim().split('\n')
  const fromRegistry = /\b(?:npx|npm (?:i|install|add|exec)|pnpm add|yarn add)(?: -\S+)* parley\b(?!-)/
  expect(texts.filter((file) => fromRegistry.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([])
})

test('the unit installs the file that npm pack writes', () => {
  const unit = readFileSync(join(ROOT, 'systemd/parley.service'), 'utf8')
  expect(unit).toContain(`npm install --global ./parley-${PACKAGE.version}.tgz`)
})
