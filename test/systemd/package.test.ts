import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { isBuiltin } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'

const ROOT = new URL('../../', import.meta.url).pathname
const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

interface Metafile {
  readonly outputs: Readonly<
    Record<string, { readonly imports: readonly { readonly path: string; readonly external?: true }[] }>
  >
}

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

test.each([
  ['better-sqlite3-multiple-ciphers', '13.0.3'],
  ['sharp', '0.34.5'],
])('C48: the command by which the page installs %s does so, though it is an optional peer', (name, version) => {
  const page = readFileSync(join(ROOT, 'config/operating.md'), 'utf8')
  const [, options = ''] = new RegExp(`npm install ((?:--[a-z-]+ )+)${name}`).exec(page) ?? []
  const folder = mkdtempSync(join(tmpdir(), 'parley-optional-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [library, checkout] = [join(folder, 'library'), join(folder, 'checkout')]
  const { peerDependencies, peerDependenciesMeta } = PACKAGE
  for (const [place, description] of [
    [library, { name, version }],
    [checkout, { name: 'parley', version: '0.1.0', peerDependencies, peerDependenciesMeta }],
  ] as const) {
    mkdirSync(place)
    writeFileSync(join(place, 'package.json'), JSON.stringify(description))
  }
  const npm = (cwd: string, ...command: readonly string[]) =>
    execFileSync('npm', [...command, '--offline', '--no-audit', '--no-fund'], { cwd, stdio: 'pipe' })
  npm(library, 'pack', '--pack-destination', folder)
  npm(checkout, 'install', '--package-lock-only')
  npm(checkout, 'install', ...options.trim().split(' '), `${name}@file:${folder}/${name}-${version}.tgz`)
  expect(existsSync(join(checkout, 'node_modules', name))).toBe(true)
})

test('the package is private, and no text installs that name from a registry, where it belongs to others', () => {
  expect(PACKAGE).toMatchObject({ name: 'parley', private: true })
  const files = execFileSync('git', ['ls-files', '*.md', '*.ts', '*.yaml', 'systemd', 'package.json'], { cwd: ROOT })
  const texts = files.toString().trim().split('\n')
  const fromRegistry = /\b(?:npx|npm (?:i|install|add|exec)|pnpm add|yarn add)(?: -\S+)* parley\b(?!-)/
  expect(texts.filter((file) => fromRegistry.test(readFileSync(join(ROOT, file), 'utf8')))).toEqual([])
})

/** Modules that libraries use where they are installed; npm never does by itself. */
const FASTER = ['bufferutil', 'encoding', 'utf-8-validate', 'zlib-sync']

test('the package depends on exactly those packages that its build does not carry, and lists the licences of the rest', () => {
  const { outputs }: Metafile = JSON.parse(readFileSync(join(ROOT, 'dist/meta.json'), 'utf8'))
  const imported = Object.values(outputs).flatMap(({ imports }) => imports.filter(({ external }) => external))
  const names = new Set(
    imported.map(({ path }) => path).filter((path) => !isBuiltin(path) && !path.startsWith('node:')),
  )
  expect([...names].filter((name) => !FASTER.includes(name)).toSorted()).toEqual(Object.keys(PACKAGE.dependencies))
  const licences = readFileSync(join(ROOT, 'dist/LICENCES.txt'), 'utf8')
  for (const name of ['telegraf', 'discord.js', '@slack/bolt', 'hono', 'zod'])
    expect(licences).toContain(`== ${name} ${PACKAGE.devDependencies[name]} (`)
})

test('the page installs the file that npm pack writes', () => {
  const page = readFileSync(join(ROOT, 'config/install.md'), 'utf8')
  expect(page).toContain(`npm install --global --ignore-scripts ./parley-${PACKAGE.version}.tgz`)
})

/**
 * The packed file in an empty folder, as npm would unpack it there. The registry is not asked: beside it stand, as links
 * to the installation of the checkout, the packages that it declares for running, and no other.
 */
describe('the packed file, installed in an empty folder', () => {
  let folder: string
  const inPackage = (path: string): string => join(folder, 'node_modules/parley', path)

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'parley-installed-'))
    const pack = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
    const [packed] = JSON.parse(execFileSync('npm', pack, { cwd: ROOT, encoding: 'utf8', stdio: 'pipe' }))
    mkdirSync(inPackage(''), { recursive: true })
    execFileSync('tar', ['-xzf', join(folder, packed.filename), '--strip-components=1', '-C', inPackage('')])
    const { dependencies, optionalDependencies } = JSON.parse(readFileSync(inPackage('package.json'), 'utf8'))
    for (const name of Object.keys({ ...dependencies, ...optionalDependencies })) {
      const [from, to] = [join(ROOT, 'node_modules', name), join(folder, 'node_modules', name)]
      mkdirSync(dirname(to), { recursive: true })
      // Which of the optional ones there are depends on the version of Node.
      if (existsSync(from)) symlinkSync(from, to)
      else expect(optionalDependencies).toHaveProperty(name)
    }
  })

  afterAll(() => rmSync(folder, { recursive: true }))

  function parley(...args: string[]) {
    const env = { PATH: process.env.PATH, HOME: folder, TELEGRAM_BOT_TOKEN: '5:a' }
    const main = inPackage(PACKAGE.bin.parley)
    return spawnSync(process.execPath, [main, ...args], { cwd: folder, env, encoding: 'utf8' })
  }

  test('says its version', () => {
    expect(parley('--version')).toMatchObject({ status: 0, stdout: `${PACKAGE.version}\n`, stderr: '' })
    expect(readFileSync(inPackage(PACKAGE.bin.parley), 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/)
  })

  test('finds its short example valid', () => {
    const { status, stdout, stderr } = parley('config', 'check', '--config', inPackage('config/parley.example.yaml'))
    expect([status, stderr]).toEqual([0, ''])
    expect(stdout).toContain('parley.example.yaml is valid')
  })

  test('makes its database, with the driver of this version of Node', () => {
    cpSync(join(ROOT, 'test/fixtures/imports/molf'), join(folder, 'old'), { recursive: true })
    const done = parley('import', 'old')
    expect(done).toMatchObject({ status: 0, stdout: expect.stringContaining('1 imported, 0 there already, 1 skipped') })
    expect(parley('sessions', 'list', '--all', '--json')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('"total": 1'),
    })
  })

  /** Pages for those who change the code: they come with a checkout. */
  const IN_CHECKOUT = /^(?:src|test|adapters)\//

  test.each(['README.md', ...['config', 'systemd'].flatMap(pagesIn)])('has each file that its %s names', (page) => {
    const text = readFileSync(inPackage(page), 'utf8')
    const linked = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = '']) => join(dirname(page), path))
    const named = [...text.matchAll(/(?<![\w./~$-])(?:config|systemd|dist)\/[\w./-]*\w/g)].map(([path]) => path)
    const paths = [...linked, ...named].filter((path) => !IN_CHECKOUT.test(path))
    expect(paths.filter((path) => !existsSync(inPackage(path)))).toEqual([])
    if (page === 'systemd/parley.service') expect(named).toContain('config/parley.example.yaml')
    if (page === 'README.md') expect(named).toContain('config/operating.md')
  })
})

function pagesIn(folder: string): readonly string[] {
  const names = readdirSync(join(ROOT, folder)).filter((name) => /\.(md|yaml|service|example)$/.test(name))
  return names.map((name) => `${folder}/${name}`)
}
