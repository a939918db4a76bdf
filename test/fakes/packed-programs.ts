import { execFileSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'

const ROOT = new URL('../../', import.meta.url).pathname
const PACKAGE = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** Packs the build under another version; `change` edits the text of each of its files. Returns the packed file. */
export function packAs(
  version: string,
  folder: string,
  change?: (text: string, name: string) => string,
  about: object = {},
): string {
  const place = mkdtempSync(join(folder, 'package-'))
  for (const name of ['dist', 'config', 'systemd']) mkdirSync(join(place, name))
  for (const name of readdirSync(join(ROOT, 'dist')).filter((name) => /\.js$|openapi\.json$/.test(name))) {
    const [from, to] = [join(ROOT, 'dist', name), join(place, 'dist', name)]
    if (change && name.endsWith('.js')) writeFileSync(to, change(readFileSync(from, 'utf8'), name))
    else cpSync(from, to)
  }
  cpSync(join(ROOT, 'systemd/parley.service'), join(place, 'systemd/parley.service'))
  const { name, type, bin, engines, parley } = PACKAGE
  const schema = parley.schema + (change === withNewerSchema ? 1 : 0)
  // Its dependencies lie beside it, so that no registry is asked: see installInto.
  writeFileSync(
    join(place, 'package.json'),
    JSON.stringify({ name, type, bin, engines, version, parley: { schema }, ...about }),
  )
  const [packed] = JSON.parse(npm(place, 'pack', '--json', '--ignore-scripts', '--pack-destination', folder))
  return join(folder, packed.filename)
}

/** Installs a packed file with npm below a prefix of its own, beside the packages that the build does not carry. */
export function installInto(prefix: string, packed: string): void {
  const packages = join(prefix, 'lib/node_modules')
  mkdirSync(packages, { recursive: true })
  for (const name of Object.keys({ ...PACKAGE.dependencies, ...PACKAGE.optionalDependencies }))
    if (existsSync(join(ROOT, 'node_modules', name)))
      symlinkSync(join(ROOT, 'node_modules', name), join(packages, name))
  npm(prefix, 'install', '--global', '--prefix', prefix, '--ignore-scripts', '--offline', packed)
}

function npm(cwd: string, ...args: readonly string[]): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe' })
}

/** Returns a build whose schema is one version higher, by a migration that makes a table. */
export function withNewerSchema(text: string): string {
  const last = /(\w+),\n\]/.exec(readFileSync(join(ROOT, 'src/store/migrations/index.ts'), 'utf8'))?.[1]
  const count = readdirSync(join(ROOT, 'src/store/migrations')).filter((name) => /^\d{4}-/.test(name)).length
  const step = `{version:${count + 1},name:"made-by-a-test",statements:()=>["CREATE TABLE made_by_a_test (id INTEGER)"]}`
  return text.replace(new RegExp(`\\b${last}\\s*\\]`), () => `${last},${step}]`)
}
