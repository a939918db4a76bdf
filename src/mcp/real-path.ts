import { lstat, readlink } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

/** The places that the paths of a server begin at; absent for one that runs elsewhere. */
export interface PathBase {
  readonly folder?: string | undefined
  readonly home?: string | undefined
}

const MOST_LINKS = 40
const LONGEST = 4_096
const SCHEME = /^[a-z][a-z0-9+.-]*:/i
/** Controls, halves of a pair, and what turns the direction of a text. NUL ends a path for the system. */
const UNPRINTABLE = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200c\u200d])\p{Cf}/u
/** Forms of a dot or a slash that a server may turn into one: percent-encoded, wide, in Unicode. */
const ENCODED = /%(?:25)*(?:2e|2f|5c|00)/i

/**
 * Returns the path that is meant as an absolute one without `..`, as a text or as the address of a file, whichever it
 * was. This one is passed on, so that a server has nothing left to expand. Returns undefined for one that two programs
 * might read in two ways. Pure.
 */
export function absolutePath(text: string, { folder, home }: PathBase): { path: string; passed: string } | undefined {
  if (text.length > LONGEST || !isPlain(text)) return undefined
  if (SCHEME.test(text)) {
    const path = fromUrl(text)
    return path === undefined ? undefined : { path, passed: pathToFileURL(path).href }
  }
  const path = rooted(text, { folder, home })
  return path === undefined ? undefined : { path, passed: path }
}

function isPlain(text: string): boolean {
  // Servers take quotes and blanks off a path, which may leave a `..` behind.
  if (text === '' || UNPRINTABLE.test(text) || /^["'\s]|["'\s]$/u.test(text)) return false
  if (text.includes('\\') || ENCODED.test(text)) return false
  const parts = text.split('/')
  const [narrow, ...more] = [text.normalize('NFKC').split('/'), parts].map((all) => all.map(dots).join('/'))
  return narrow === more[0] && parts.every((part) => dots(part) === '' || dots(part) === part)
}

/** Returns the dots of a part that leads to its own folder or the one above, in any dress; else nothing. */
function dots(part: string): string {
  return /^[\s"']*(\.{1,2})[\s"']*$/u.exec(part)?.[1] ?? ''
}

function fromUrl(text: string): string | undefined {
  try {
    const url = new URL(text)
    const local = url.protocol === 'file:' && (url.host === '' || url.host === 'localhost')
    if (!local || url.search !== '' || url.hash !== '') return undefined
    const path = fileURLToPath(url)
    return isPlain(path) ? path : undefined
  } catch {
    return undefined
  }
}

function rooted(text: string, { folder, home }: PathBase): string | undefined {
  if (isAbsolute(text)) return resolve(text)
  if (text.startsWith('~')) {
    if (home === undefined || (text !== '~' && !text.startsWith('~/'))) return undefined
    return resolve(home, `.${text.slice(1)}`)
  }
  return folder === undefined ? undefined : resolve(folder, text)
}

/**
 * Returns true if an absolute path without `..` leads into one of the folders: the entry itself, which may be a link
 * that is moved or deleted, and what it leads to, whether that exists or is made by the call.
 */
export async function leadsInto(folders: readonly string[], path: string): Promise<boolean> {
  const [target, parent, ...reached] = await Promise.all([path, dirname(path), ...folders].map(realPath))
  const inside = (one: string | undefined): boolean =>
    one !== undefined && reached.some((folder) => folder !== undefined && isWithin(folder, one))
  if (!inside(target)) return false
  return folders.includes(path) || (parent !== undefined && inside(join(parent, basename(path))))
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`)
}

interface Way {
  real: string
  readonly ahead: string[]
  exists: boolean
  links: number
}

/** Returns the path without links, also where its end does not exist; undefined for one that cannot be followed. */
async function realPath(path: string): Promise<string | undefined> {
  const way: Way = { real: sep, ahead: path.split(sep), exists: true, links: 0 }
  for (let name = way.ahead.shift(); name !== undefined; name = way.ahead.shift()) {
    if (!(await step(way, name))) return undefined
  }
  return way.real
}

async function step(way: Way, name: string): Promise<boolean> {
  if (name === '' || name === '.') return true
  if (name === '..') {
    way.real = dirname(way.real)
    return way.exists
  }
  const next = join(way.real, name)
  const entry: Entry = way.exists ? await entryAt(next) : { kind: 'missing' }
  if (entry.kind === 'link') {
    way.ahead.unshift(...entry.target.split(sep))
    if (isAbsolute(entry.target)) way.real = sep
    return ++way.links <= MOST_LINKS
  }
  way.real = next
  way.exists = entry.kind === 'there'
  return entry.kind !== 'closed'
}

type Entry = { readonly kind: 'there' | 'missing' | 'closed' } | { readonly kind: 'link'; readonly target: string }

async function entryAt(path: string): Promise<Entry> {
  try {
    const stats = await lstat(path)
    return stats.isSymbolicLink() ? { kind: 'link', target: await readlink(path) } : { kind: 'there' }
  } catch (error) {
    return { kind: error instanceof Error && 'code' in error && error.code === 'ENOENT' ? 'missing' : 'closed' }
  }
}
