import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, existsSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** The packages of the database driver: one of its two versions, and the packages that this version requires. */
const DRIVER = ['better-sqlite3', 'better-sqlite3-12', 'bindings', 'file-uri-to-path']

/** The built program and the Node that runs it, where every user may read both. */
export interface OpenProgram {
  readonly node: string
  readonly main: string
  remove(): void
}

/** Returns a new folder that every user may enter, though TMPDIR may be closed to others; removed when the test ends. */
export function openFolder(): string {
  const folder = makeFolder()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/**
 * Copies the built program, its database driver and, where others cannot reach it, Node: the repository may be in a
 * folder of root that other users cannot enter.
 */
export function openProgram(): OpenProgram {
  const folder = makeFolder()
  copyFileSync(join(ROOT, 'package.json'), join(folder, 'package.json'))
  const dist = join(ROOT, 'dist')
  cpSync(dist, join(folder, 'dist'), { recursive: true, filter: (path) => path === dist || path.endsWith('.js') })
  for (const name of DRIVER.map((one) => join('node_modules', one))) {
    if (!existsSync(join(ROOT, name))) continue
    cpSync(join(ROOT, name), join(folder, name), { recursive: true, filter: isLoaded })
  }
  const node = isOpen(process.execPath) ? process.execPath : join(folder, 'node')
  if (node !== process.execPath) copyFileSync(process.execPath, node)
  // A checkout may have been made with a umask that leaves nothing to others.
  execFileSync('chmod', ['-R', 'a+rX', folder])
  return { node, main: join(folder, 'dist', 'main.js'), remove: () => rmSync(folder, { recursive: true }) }
}

/** A driver that was compiled here lies beside its sources and objects, which are ten times its size. */
function isLoaded(path: string): boolean {
  return statSync(path).isDirectory() || /\.(?:js|json|node)$/.test(path)
}

function makeFolder(): string {
  const places = [tmpdir(), '/tmp', '/var/tmp', '/dev/shm']
  const place = places.find((one) => existsSync(one) && isOpen(one))
  if (place === undefined)
    throw new Error(`Every user must be able to enter one of these folders: ${places.join(', ')}`)
  const folder = mkdtempSync(join(place, 'parley-open-'))
  chmodSync(folder, 0o755)
  return folder
}

/** Whether users other than the owner may enter a folder, or run a file, and enter every folder above it. */
function isOpen(path: string): boolean {
  const real = realpathSync(path)
  return (statSync(real).mode & 0o001) !== 0 && (real === dirname(real) || isOpen(dirname(real)))
}
