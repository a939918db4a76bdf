import { readdir, readFile, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { DOORS } from '../core/doors.ts'
import { ParleyError, toError } from '../core/errors.ts'
import type { OldFile } from '../core/import.ts'
import { readJson } from '../core/read-json.ts'

/** The folders of sessions below the folder of an older program: that of Molf, that of PicoClaw. */
const BELOW = ['sessions', 'workspace/sessions']
/** The folder of OpenClaw's agents, each of which has sessions. */
const AGENTS = 'agents'
/** OpenClaw's index of the keys beside the files. */
const INDEX = 'sessions.json'

/**
 * Returns the files of conversations in a folder, or in those that an older program has below it. Links and folders
 * with the name of a file are reported and not followed.
 */
export async function readOldStore(folder: string): Promise<readonly OldFile[]> {
  const refuse = (cause: unknown): never => {
    throw new ParleyError('invalid', `The folder ${folder} cannot be read: ${toError(cause).message}`, { cause })
  }
  await list(folder).catch(refuse)
  const files: OldFile[] = []
  const agents = await list(join(folder, AGENTS)).catch((error): Entries => {
    files.push(...unreadFolder(AGENTS, error))
    return []
  })
  const below = [...BELOW, ...agents.map(({ name }) => `${AGENTS}/${name}/sessions`)]
  for (const one of below)
    files.push(...(await readFolder(folder, join(folder, one)).catch((error) => unreadFolder(one, error))))
  // The files beside a folder of sessions are those of the program itself.
  const found = files.length > 0 ? files : await readFolder(folder, folder).catch(refuse)
  if (found.length > 0) return found
  const message = `The folder ${folder} has no conversations of PicoClaw, OpenClaw or Molf; name that of the program, such as ~/.picoclaw.`
  throw new ParleyError('invalid', message)
}

/** One that is not there is none; any other is reported: half of a store must not look complete. */
function unreadFolder(name: string, thrown: unknown): readonly OldFile[] {
  const error = toError(thrown)
  const isNone = 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
  return isNone ? [] : [{ name, text: '', unread: `it cannot be read: ${error.message}` }]
}

type Entries = readonly { readonly name: string; isFile(): boolean }[]

function list(folder: string): Promise<Entries> {
  return readdir(folder, { withFileTypes: true })
}

function isSession(name: string): boolean {
  return /\.jsonl?$/.test(name) && !name.endsWith('.meta.json') && name !== INDEX
}

async function readFolder(root: string, folder: string): Promise<readonly OldFile[]> {
  const entries = await list(folder)
  const names = new Map(entries.map((entry) => [entry.name, entry.isFile()]))
  const index = await readBeside(folder, INDEX, names)
  const keys = index === undefined ? new Map<string, string>() : keysOf(index.text)
  const damaged =
    keys === undefined ? `the index of its keys, ${relative(root, join(folder, INDEX))}, is damaged` : undefined
  const files: OldFile[] = []
  // One after another: a process has few descriptors.
  for (const name of entries
    .map((entry) => entry.name)
    .filter(isSession)
    .sort())
    files.push(await readOne(folder, name, { names, keys, damaged, shown: relative(root, join(folder, name)) }))
  return files
}

interface Beside {
  /** The names in the folder, each with true for a plain file. */
  readonly names: ReadonlyMap<string, boolean>
  readonly keys: ReadonlyMap<string, string> | undefined
  /** Why the keys are not known: under other keys the conversations would be there twice once that is mended. */
  readonly damaged: string | undefined
  /** The name in the report. */
  readonly shown: string
}

async function readOne(folder: string, name: string, { names, keys, damaged, shown }: Beside): Promise<OldFile> {
  const found = names.get(name) ? await read(join(folder, name)) : NO_FILE
  const beside = name.replace(/\.jsonl$/, '.meta.json')
  const key = keys?.get(name)
  const meta = beside === name ? undefined : (await readBeside(folder, beside, names))?.text
  const unread = found.unread ?? damaged
  return {
    ...{ name: shown, text: found.text },
    ...(unread === undefined ? {} : { unread }),
    ...(meta === undefined ? {} : { meta }),
    ...(key === undefined ? {} : { key }),
  }
}

const NO_FILE = { text: '', unread: 'it is no plain file' }

/**
 * Returns what names the keys, empty and so damaged where it cannot be read or is a link: without its keys the
 * conversations would be there twice once it can. Undefined if there is none.
 */
async function readBeside(
  folder: string,
  name: string,
  names: Beside['names'],
): Promise<Pick<OldFile, 'text' | 'unread'> | undefined> {
  const isFile = names.get(name)
  if (isFile === undefined) return undefined
  return isFile ? read(join(folder, name)) : NO_FILE
}

/**
 * Returns the key of each file of an index, undefined for a damaged one; the topic of a key is written behind its chat,
 * as everywhere here.
 */
function keysOf(index: string): Map<string, string> | undefined {
  const parsed = parse(index)
  if (!isFields(parsed)) return undefined
  const keys = new Map<string, string>()
  for (const [key, entry] of Object.entries(parsed)) {
    const { sessionId, sessionFile } = fieldsOf(entry)
    const file = typeof sessionFile === 'string' ? sessionFile.split(/[\\/]/).at(-1) : undefined
    const name = file ?? (typeof sessionId === 'string' ? `${sessionId}.jsonl` : undefined)
    if (name !== undefined) keys.set(name, key.replace(/:(?:topic|thread):([^:]+)$/, '/$1'))
  }
  return keys
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  return isFields(value) ? { ...value } : {}
}

function parse(text: string): unknown {
  try {
    return readJson(text, DOORS.oldStore)
  } catch {
    return undefined
  }
}

/** Some editors begin a file with a mark of its encoding, which is no JSON. */
function withoutMark(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** A file that cannot be read is reported with the reason. */
async function read(path: string): Promise<Pick<OldFile, 'text' | 'unread'>> {
  try {
    if ((await stat(path)).size > DOORS.oldStore.bytes) return { text: '', unread: 'it is larger than 64 MiB' }
    return { text: withoutMark(await readFile(path, 'utf8')) }
  } catch (error) {
    return { text: '', unread: `it cannot be read: ${toError(error).message}` }
  }
}
