import { chmodSync, chownSync, existsSync, mkdirSync, realpathSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type ConfigDraft, textOf } from '../../config/draft.ts'
import { ParleyError, toError } from '../../core/errors.ts'
import { removeAtEnd } from '../../platform/remove-at-end.ts'
import type { CliPorts } from '../ports.ts'
import { writePrivately } from '../write-privately.ts'

/** A file that stands beside the configuration, which refers to it. */
export interface BesideFile {
  readonly name: string
  readonly text: string
}

export interface Written {
  /** The paths of all files, the configuration first. */
  readonly files: readonly string[]
  /** The copy of the configuration that was there. */
  readonly copy?: string
}

type WritePorts = Pick<CliPorts, 'load' | 'now'>

/**
 * Writes the configuration and the files beside it, each complete or not at all, and nothing unless it is valid. Keeps
 * a copy of the configuration that was there, and its mode and owner. Throws `config` with the mistakes.
 */
export async function writeSetup(
  ports: WritePorts,
  draft: ConfigDraft,
  { file, beside }: { readonly file: string; readonly beside: readonly BesideFile[] },
): Promise<Written> {
  const folder = dirname(file)
  const like = ownerFor(file)
  makeFolder(folder, like)
  // A link is followed, as people keep their configuration elsewhere.
  const target = existsSync(file) ? realpathSync(file) : file
  const text = textOf(draft)
  const write = async (path: string, content: string): Promise<string> => {
    makeFolder(dirname(path), like)
    await writePrivately(
      path,
      (async function* () {
        yield content
      })(),
      { force: true, now: ports.now() },
    )
    settle(path, like)
    return path
  }
  await checkFirst(ports, text, file)
  const written: string[] = []
  for (const { name, text: content } of beside) written.push(await write(join(folder, name), content))
  if (draft.before === text) return { files: written }
  const stamp = new Date(ports.now()).toISOString().slice(0, 19).replaceAll(':', '-')
  const copy = draft.before === undefined ? undefined : await write(`${target}.${stamp}`, draft.before)
  await write(target, text)
  return { files: [file, ...written], ...(copy === undefined ? {} : { copy }) }
}

/** Reads the text as the daemon would, from a file beside the other that is gone afterwards. */
async function checkFirst({ load, now }: WritePorts, text: string, file: string): Promise<void> {
  const trial = join(dirname(file), `.${basename(file)}.trial-${process.pid}`)
  await writePrivately(
    trial,
    (async function* () {
      yield text
    })(),
    { force: true, now: now() },
  )
  const remove = removeAtEnd(trial)
  try {
    await load(trial, 'ask')
  } catch (error) {
    const message = toError(error).message.replaceAll(trial, file)
    throw new ParleyError('config', `${message}\nNothing was written.`, { cause: error })
  } finally {
    remove()
  }
}

/** The mode and the owner that new files get. */
interface Like {
  readonly mode: number
  readonly owner?: Pick<Stats, 'uid' | 'gid'>
}

const PRIVATE = 0o600
/** A service may read its configuration by its group. */
const GROUP_READS = 0o040

/** Root writes for the user to whom the configuration, or the folder for it, belongs. */
function ownerFor(file: string): Like {
  if (existsSync(file)) {
    const { mode, uid, gid } = statSync(file)
    return { mode: PRIVATE | (mode & GROUP_READS), ...ownerOf({ uid, gid }) }
  }
  let above = dirname(file)
  while (!existsSync(above)) above = dirname(above)
  return { mode: PRIVATE, ...ownerOf(statSync(above)) }
}

function ownerOf({ uid, gid }: Pick<Stats, 'uid' | 'gid'>): Pick<Like, 'owner'> {
  return process.geteuid?.() === 0 && uid + gid > 0 ? { owner: { uid, gid } } : {}
}

function settle(path: string, { mode, owner }: Like): void {
  if (owner !== undefined) chownSync(path, owner.uid, owner.gid)
  if (mode !== PRIVATE) chmodSync(path, mode)
}

/** Makes a folder and those above it, for this user alone. */
export function makeFolder(folder: string, like: Like = ownerFor(folder)): void {
  const first = mkdirSync(folder, { recursive: true, mode: 0o700 })
  if (first === undefined || like.owner === undefined) return
  for (let made = folder; made.length >= first.length; made = dirname(made))
    chownSync(made, like.owner.uid, like.owner.gid)
}
