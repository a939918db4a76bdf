import { createHash } from 'node:crypto'
import { constants, type Dirent, lstatSync } from 'node:fs'
import { open, readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import * as z from 'zod'
import { ParleyError, toError } from '../core/errors.ts'
import { shellWord } from '../core/machine.ts'
import { readJson } from '../core/read-json.ts'

export const MANIFEST = 'manifest.json'
/** The database in a copy, whatever its file is called in the store. */
export const DATABASE = 'parley.db'
/** Copies are named by their second in UTC, so that a name needs no zone and sorts by time. */
export const COPY_NAME = /^parley-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ(?:-\d+)?$/

const names = z.array(z.string().max(4_096)).readonly()
const whole = z.int().min(0)

const schema = z.object({
  format: z.literal(1),
  /** The version of the program, and of its schema. */
  program: z.string(),
  schema: whole,
  /** Ms since the epoch. */
  madeAt: whole,
  store: whole.optional(),
  mark: whole,
  encrypted: z.boolean(),
  rows: z.record(z.string(), whole),
  files: z
    .array(
      z.object({
        path: z.string(),
        bytes: whole,
        sha256: z.string().regex(/^[0-9a-f]{64}$/),
        /** A file of the configuration that its owner may run. */
        isProgram: z.boolean().optional(),
      }),
    )
    .readonly(),
  /** Files of conversations that the store itself had not, or had damaged. */
  lost: names,
  config: z
    .object({
      /** The path of the file in the copy, and where it lay. */
      file: z.string(),
      from: z.string(),
      replaced: z.array(z.object({ setting: z.string(), reference: z.string() })).readonly(),
      elsewhere: names,
    })
    .optional(),
  needs: z.object({
    variables: names,
    files: names,
    credentials: names,
    programs: names.default([]),
    logins: names,
  }),
})

export type Manifest = z.output<typeof schema>
export type CopiedFile = Manifest['files'][number]

/** Returns the text of a manifest: it ends with the checksum of what stands before it. */
export function manifestText(manifest: Manifest): string {
  const text = JSON.stringify(manifest, null, 1)
  return `${JSON.stringify({ ...manifest, sha256: digestOf(text) }, null, 1)}\n`
}

/** Reads the manifest of a copy. Throws `unreadable` for a folder that is no whole copy. */
export async function readManifest(folder: string): Promise<Manifest> {
  const text = await readPlainFile(join(folder, MANIFEST), BOUNDS.bytes).catch((cause: unknown) => {
    const code = Object(cause).code
    if (CLOSED.has(code)) throw closedCopy(folder)
    const why = code === 'ENOENT' || code === 'ENOTDIR' ? 'has no manifest.json' : toError(cause).message
    throw new ParleyError('unreadable', `${folder} is no backup of Parley, or a damaged one: it ${why}`, { cause })
  })
  const manifest = parse(text.toString('utf8'))
  if (manifest !== undefined) return manifest
  throw new ParleyError('unreadable', `${folder} is a damaged backup: its manifest.json was changed or cut`)
}

const CLOSED = new Set(['EACCES', 'EPERM'])

/** Throws `forbidden` for a copy that this user cannot enter, which looks as if it were not there. */
export function checkOpen(folder: string): void {
  try {
    lstatSync(join(folder, MANIFEST))
  } catch (error) {
    if (CLOSED.has(Object(error).code)) throw closedCopy(folder)
  }
}

function closedCopy(folder: string): ParleyError {
  const [copy, name] = [shellWord(folder), shellWord(basename(folder))]
  const isHidden = lstatOf(folder) === undefined
  const run = isHidden ? `sudo cp -a ${copy} . && sudo chown -R "$(id -u)" ${name}` : `sudo chown -R "$(id -u)" ${copy}`
  const says = `${folder} ${isHidden ? 'lies in a folder of' : 'belongs to'} another user`
  return new ParleyError('forbidden', `${says}: nothing of it can be read.\nRun: ${run}`)
}

function lstatOf(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch {
    return undefined
  }
}

/** A million files of conversations. */
const BOUNDS = { bytes: 200_000_000, values: 8_000_000 }

function parse(text: string): Manifest | undefined {
  try {
    const { sha256, ...rest } = Object(readJson(text, BOUNDS))
    const manifest = schema.parse(rest)
    return digestOf(JSON.stringify(rest, null, 1)) === sha256 ? manifest : undefined
  } catch {
    return undefined
  }
}

/**
 * Returns the files of a copy by their paths in it, without following a link. Throws `unreadable` for anything that is
 * neither file nor folder: a path of the manifest is only ever one of these.
 */
export async function filesIn(folder: string): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>()
  const walk = async (under: string): Promise<void> => {
    const entries: readonly Dirent[] = await readdir(join(folder, under), { withFileTypes: true })
    for (const entry of entries) {
      const path = under === '' ? entry.name : `${under}/${entry.name}`
      if (entry.isDirectory()) await walk(path)
      else if (entry.isFile()) found.set(path, lstatSync(join(folder, path)).size)
      else throw new ParleyError('unreadable', `${join(folder, path)} is no plain file: nothing of this copy is used`)
    }
  }
  await walk('')
  return found
}

/** Reads a file without following a link, nor waiting for a writer as of a pipe; one that is longer is not read. */
export async function readPlainFile(path: string, most = Number.POSITIVE_INFINITY): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const found = await file.stat()
    if (!found.isFile()) throw new Error('is no plain file')
    if (found.size > most) throw new Error(`has ${found.size} bytes, and at most ${most} are read`)
    return await file.readFile()
  } finally {
    await file.close()
  }
}

/** Returns the checksum of a file, piece by piece: a database does not fit into memory. */
export async function checksumOf(path: string): Promise<{ readonly sha256: string; readonly bytes: number }> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  const hash = createHash('sha256')
  let bytes = 0
  try {
    for await (const piece of file.createReadStream({ autoClose: false, highWaterMark: 1 << 20 })) {
      hash.update(piece)
      bytes += piece.length
    }
  } finally {
    await file.close()
  }
  return { sha256: hash.digest('hex'), bytes }
}

export function digestOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
