import { existsSync, mkdirSync, readFileSync, realpathSync, type Stats, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type ConfigDraft, textOf } from '../../config/draft.ts'
import { ParleyError, toError } from '../../core/errors.ts'
import { filePlace } from '../../platform/private-folder.ts'
import type { CliPorts, LoadedConfig } from '../ports.ts'
import { checkWritable, writePrivately } from '../write-privately.ts'

/** A file that stands beside the configuration, which refers to it. */
export interface BesideFile {
  readonly name: string
  readonly text: string
}

export interface Written {
  /** The paths of all files, the configuration first. */
  readonly files: readonly string[]
  /** The copies of the files that were there with another text. */
  readonly copies: readonly string[]
  /** The new files and folders that a group which may read the configuration cannot read. */
  readonly closed: readonly string[]
  readonly loaded: LoadedConfig
  readonly warnings: readonly string[]
}

interface Writing {
  readonly file: string
  readonly beside: readonly BesideFile[]
  /** `run`: an account whose variable is not set here is written too, as a daemon runs without it. */
  readonly use?: 'check' | 'run'
}

type WritePorts = Pick<CliPorts, 'load' | 'compile' | 'now'>

/**
 * Writes the configuration and the files beside it, each complete or not at all, and nothing unless it is valid. A file
 * that was there with another text is kept as a copy. The configuration keeps its mode, everything else is for its
 * owner alone. Throws `config` with the mistakes.
 */
export async function writeSetup(
  ports: WritePorts,
  draft: ConfigDraft,
  { file, beside, use = 'check' }: Writing,
): Promise<Written> {
  const text = textOf(draft)
  const others = new Map(beside.map((one) => [join(dirname(file), one.name), one.text]))
  const checked = await checkFirst(ports, { file, use, texts: new Map([...others, [file, text]]) })
  for (const path of [...others.keys(), file]) await placeFor(path, file)
  const mode = existsSync(file) ? statSync(file).mode & 0o777 : PRIVATE
  const files: string[] = []
  const copies: string[] = []
  const replace = async (path: string, content: string, like?: number): Promise<boolean> => {
    const { changed, copy } = await replaceFile(path, content, { now: ports.now(), near: file, mode: like })
    if (copy !== undefined) copies.push(copy)
    return changed
  }
  for (const [path, content] of others) if (await replace(path, content)) files.push(path)
  const closed = (mode & GROUP_READS) === 0 ? [] : closedIn(files, dirname(file))
  if (await replace(file, text, mode)) files.unshift(file)
  return { files, copies, closed, ...checked }
}

/** Reads the texts as `parley config check` would read the files. */
async function checkFirst(
  { load, compile }: WritePorts,
  { file, use, texts }: Required<Pick<Writing, 'file' | 'use'>> & { readonly texts: ReadonlyMap<string, string> },
): Promise<Pick<Written, 'loaded' | 'warnings'>> {
  try {
    const loaded = await load(file, use, texts)
    return { loaded, warnings: [...loaded.config.warnings, ...(await compile(loaded.config))] }
  } catch (error) {
    throw new ParleyError('config', `${toError(error).message}\nNothing was written.`, { cause: error })
  }
}

function closedIn(files: readonly string[], folder: string): readonly string[] {
  const folders = new Set(files.map((path) => dirname(path)).filter((one) => one !== folder))
  return [...folders, ...files]
}

const PRIVATE = 0o600
/** A service may read its configuration by its group. */
const GROUP_READS = 0o040

interface Replacing {
  readonly now: number
  /** Root writes for the user to whom this file, or the folder for it, belongs. */
  readonly near: string
  readonly mode?: number | undefined
}

/** Writes a file, with its folder, and keeps what it said before as a copy beside it. */
export async function replaceFile(
  path: string,
  text: string,
  { now, near, mode = PRIVATE }: Replacing,
): Promise<{ readonly changed: boolean; readonly copy?: string }> {
  const { target, owner } = await placeFor(path, near)
  if (!existsSync(target)) {
    await writeText(target, text, { now, mode, owner })
    return { changed: true }
  }
  const before = readFileSync(target)
  if (before.equals(Buffer.from(text))) return { changed: false }
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(':', '-')
  const copy = `${target}.${stamp}`
  await writeText(copy, before, { now, mode: PRIVATE, owner })
  await writeText(target, text, { now, mode, owner })
  return { changed: true, copy }
}

async function writeText(
  path: string,
  text: string | Uint8Array,
  rest: { readonly now: number; readonly mode: number; readonly owner: Owner | undefined },
): Promise<void> {
  const pieces = (async function* () {
    yield text
  })()
  await writePrivately(path, pieces, { force: true, ...rest })
}

type Owner = Pick<Stats, 'uid' | 'gid'>

/**
 * Returns the file that is written in the place of a path, since people keep their files elsewhere, and the owner that
 * it gets; undefined: this user. Makes its folder. Throws `config` where another user could lead root to what is not
 * that user's.
 */
async function placeFor(path: string, near: string): Promise<{ readonly target: string; readonly owner?: Owner }> {
  if (existsSync(path)) await checkWritable(path, true)
  if (process.geteuid?.() !== 0) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    return { target: existsSync(path) ? realpathSync(path) : path }
  }
  const { path: target, folder } = filePlace(path)
  const { uid, gid } = statSync(existsSync(near) ? near : folder.path)
  // A user gets nothing but what lies in a folder of that user.
  return { target, owner: uid === 0 || uid === folder.owner.uid ? { uid, gid } : folder.owner }
}
