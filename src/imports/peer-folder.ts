import { constants, mkdtempSync } from 'node:fs'
import { type FileHandle, open, readdir, realpath, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { readYaml } from '../config/read-yaml.ts'
import { DOORS } from '../core/doors.ts'
import { ParleyError, toError } from '../core/errors.ts'
import { readJson } from '../core/read-json.ts'
import { removeAtEnd } from '../platform/remove-at-end.ts'
import { json5ToJson, readDotenv } from './lenient-texts.ts'

/** Many times what such a program writes by itself; a larger file is no setting. */
const MOST_BYTES = DOORS.peer.bytes
const MOST_DATABASE_BYTES = 512 * 1024 * 1024
const MOST_ROWS = 1_000
const MOST_NAMES = 1_000

export type PeerFields = Readonly<Record<string, unknown>>

/** The set-up of another program as its files have it. */
export interface PeerSource {
  readonly folder: PeerFolder
  readonly settings: PeerFields
  readonly variables: ReadonlyMap<string, string>
}

/**
 * The folder of another program, of which nothing is believed: files are read up to a size, links that lead out of it
 * are not followed, and nothing in it is changed. A file that is there and cannot be read becomes a line of `unread`
 * and counts as absent.
 */
export class PeerFolder {
  /** The real path of the folder. */
  readonly path: string
  readonly #unread = new Map<string, string>()

  private constructor(path: string) {
    this.path = path
  }

  /** Throws `invalid` for a folder that is not there or may not be read. */
  static async open(path: string): Promise<PeerFolder> {
    try {
      const real = await realpath(path)
      await readdir(real)
      return new PeerFolder(real)
    } catch (thrown) {
      throw new ParleyError('invalid', `The folder ${path} ${reasonOf(thrown)}`, { cause: thrown })
    }
  }

  /** The files that are there and were not read, a line each with the reason and the remedy. */
  get unread(): readonly string[] {
    return [...this.#unread.values()]
  }

  /** Returns the text of a file; undefined if there is none, or it was not read. */
  async text(name: string, most = MOST_BYTES): Promise<string | undefined> {
    const path = await this.#inside(name)
    if (path === undefined) return undefined
    try {
      return await readBounded(path, most)
    } catch (thrown) {
      return this.#skip(name, thrown)
    }
  }

  /** Returns the value of a file of JSON or JSON5; undefined if there is none. Throws `invalid` for a broken one. */
  async json(name: string): Promise<unknown> {
    const text = await this.text(name)
    if (text === undefined) return undefined
    try {
      return readJson(json5ToJson(text), DOORS.peer)
    } catch (thrown) {
      throw broken(join(this.path, name), 'JSON', toError(thrown).message)
    }
  }

  /** Returns the value of a file of YAML; undefined if there is none. Throws `invalid` for a broken one. */
  async yaml(name: string): Promise<unknown> {
    const text = await this.text(name, 1024 * 1024)
    if (text === undefined) return undefined
    const { tree, mistakes } = readYaml(text)
    const [first] = mistakes
    if (first !== undefined) throw broken(join(this.path, name), 'YAML', `line ${first.line}: ${first.message}`)
    return tree
  }

  /** Returns what `json` does; a broken file, one beside the main one, is a line of `unread`. */
  async jsonBeside(name: string): Promise<unknown> {
    return this.json(name).catch((thrown: unknown) => this.#skip(name, thrown))
  }

  /** Returns the variables of a `.env` file, none if there is no such file. */
  async variables(name: string): Promise<ReadonlyMap<string, string>> {
    return readDotenv((await this.text(name, 256 * 1024)) ?? '')
  }

  /** Returns the names of the folders and files in a folder, none if there is none. */
  async names(folder: string): Promise<readonly string[]> {
    const path = await this.#inside(folder)
    if (path === undefined) return []
    const names = await readdir(path).catch((): string[] => [])
    return names.sort().slice(0, MOST_NAMES)
  }

  /**
   * Returns the rows of a table of an SQLite database; none if there is no such database, table or column. It is read
   * from a copy: to open the original would make files beside it.
   */
  async rows(name: string, table: string): Promise<readonly PeerFields[]> {
    const path = await this.#inside(name)
    if (path === undefined) return []
    const { Database } = await import('../store/engines/sqlite-driver.ts')
    const copy = mkdtempSync(join(tmpdir(), `parley-peer-${process.pid}-`))
    const remove = removeAtEnd(copy)
    try {
      await copyDatabase(path, join(copy, 'peer.db'))
      const database = new Database(join(copy, 'peer.db'))
      try {
        const known = database.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?").get(table)
        if (known === undefined) return []
        return database.prepare<[], PeerFields>(`SELECT * FROM "${table}" LIMIT ${MOST_ROWS}`).all()
      } finally {
        database.close()
      }
    } catch (thrown) {
      this.#skip(name, thrown)
      return []
    } finally {
      remove()
    }
  }

  /** Returns another folder that the settings name, as their workspace; undefined if it cannot be read. */
  async beside(path: string, home: string): Promise<PeerFolder | undefined> {
    const expanded = path === '~' || path.startsWith('~/') ? join(home, path.slice(1)) : path
    return PeerFolder.open(resolve(this.path, expanded)).catch(() => undefined)
  }

  /** Returns the real path of what has this name, undefined if there is nothing, or a link that leads out. */
  async #inside(name: string): Promise<string | undefined> {
    try {
      const real = await realpath(join(this.path, name))
      const way = relative(this.path, real)
      if (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)) return real
      return this.#skip(name, new ParleyError('invalid', 'is a link out of the folder, and is not followed'))
    } catch (thrown) {
      return isAbsent(thrown) ? undefined : this.#skip(name, thrown)
    }
  }

  #skip(name: string, thrown: unknown): undefined {
    this.#unread.set(name, `${join(this.path, name)} ${reasonOf(thrown)}`)
    return undefined
  }
}

function isAbsent(thrown: unknown): boolean {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  return code === 'ENOENT' || code === 'ENOTDIR'
}

/** Says why something was not read, after its name, and what to do about it. */
function reasonOf(thrown: unknown): string {
  const error = toError(thrown)
  const code = 'code' in error ? String(error.code) : ''
  if (isAbsent(error)) return 'is not there; name the folder of the program.'
  if (code === 'EACCES' || code === 'EPERM')
    return 'may not be read by this user; run parley as the user who owns it, or make it readable.'
  if (code === 'ELOOP') return 'is a link, and is not followed.'
  if (error instanceof ParleyError) return error.message.replace(/\.?$/, '.').replace(/^.*?\.(?:json|yaml|db) /, '')
  return `cannot be read (${code === '' ? error.message : code}).`
}

function broken(path: string, form: string, reason: string): ParleyError {
  const message = `${path} is no ${form} (${reason.replace(/\.$/, '')}); mend the file, or set up without --from.`
  return new ParleyError('invalid', message)
}

async function readBounded(path: string, most: number): Promise<string> {
  const { file, size } = await openPlain(path, most)
  try {
    const bytes = Buffer.alloc(size)
    const { bytesRead } = await file.read(bytes, 0, size, 0)
    return bytes.subarray(0, bytesRead).toString('utf8')
  } finally {
    await file.close()
  }
}

/** Opens a plain file of so many bytes at most; whatever else has its name is refused. */
async function openPlain(path: string, most: number): Promise<{ readonly file: FileHandle; readonly size: number }> {
  // A pipe would wait for a writer.
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW)
  try {
    const found = await file.stat()
    if (!found.isFile()) throw new ParleyError('invalid', 'is no plain file')
    if (found.size > most) throw new ParleyError('too_long', `is larger than ${inUnits(most)}`)
    return { file, size: found.size }
  } catch (thrown) {
    await file.close()
    throw thrown
  }
}

function inUnits(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.round(bytes / 1024)} KB` : `${Math.round(bytes / 1024 / 1024)} MB`
}

/** Copies a database with the log of its last changes, which is there while it is open. */
async function copyDatabase(from: string, to: string): Promise<void> {
  await copyPlain(from, to)
  await copyPlain(`${from}-wal`, `${to}-wal`).catch((thrown: unknown) => {
    if (!isAbsent(thrown)) throw thrown
  })
}

async function copyPlain(from: string, to: string): Promise<void> {
  const { file, size } = await openPlain(from, MOST_DATABASE_BYTES)
  // It may grow meanwhile; the stream closes the file.
  await writeFile(to, size === 0 ? '' : file.createReadStream({ end: size - 1 }))
  await file.close().catch(() => {})
}

/** Returns true for a folder that is there. */
export async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined))?.isDirectory() ?? false
}

export function fields(value: unknown): PeerFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

export function list(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value
  return value === undefined || value === null ? [] : [value]
}

/** Returns a text or number as text; undefined for anything else, and for an empty text. */
export function words(value: unknown): string | undefined {
  if (typeof value === 'number' && Number.isFinite(value)) return String(value)
  const text = typeof value === 'string' ? value.trim() : ''
  return text === '' ? undefined : text
}
