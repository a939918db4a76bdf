import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import type { ReplacedSecret } from '../core/backup.ts'
import type { Channels } from '../core/channel-traits.ts'
import { createTextRedactor } from '../core/redact.ts'
import { withEnvironment } from './environment.ts'
import { withoutLiterals } from './literal-secrets.ts'
import type { ConfigPath } from './mistake.ts'
import { programAt } from './program-at.ts'
import { isFolder, readBounded } from './read-bounded.ts'
import { readYaml } from './read-yaml.ts'
import { type ReferenceNames, referenceNames, textsIn } from './references.ts'

/** A configuration as a backup keeps it: without the value of any secret of a setting. */
export interface CopiedConfig {
  /** The files by their path below the folder of the configuration, itself among them. */
  readonly files: ReadonlyMap<string, CopiedContent>
  readonly replaced: readonly ReplacedSecret[]
  /** Files that are named and not copied: they lie elsewhere, are links or hidden, or are too large. */
  readonly elsewhere: readonly string[]
  /** The programs that it starts and that are not among the files. */
  readonly programs: readonly string[]
}

export interface CopiedContent {
  readonly bytes: Uint8Array
  /** True if its owner may run it. */
  readonly isProgram: boolean
}

/** The surroundings in which a configuration is copied. */
export interface CopyContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly channels: Channels
  /** The values that are secret. */
  readonly secrets: readonly string[]
}

/** Returns the prompts, skills, tools and rules that lie beside a configuration, as far as it names them. */
export function filesBeside(file: string): readonly string[] {
  const folder = dirname(file)
  const { tree } = readYaml(readBounded(file).text)
  return namedBeside(tree).flatMap((named) => filesAt(resolve(folder, named), folder).files)
}

/** A prompt or a tool has some kilobytes. */
const MOST_BYTES = 5_000_000

/** Returns the names that the references of a configuration use; without a file those of the environment alone. */
export function referencesIn(file: string | undefined, { env, channels }: CopyContext): ReferenceNames {
  const tree = file === undefined ? {} : readYaml(readBounded(file).text).tree
  return referenceNames(withEnvironment(tree, env, channels))
}

/** Copies a configuration with the prompts, skills, tools and rules that lie beside it. */
export function copyConfig(file: string, context: CopyContext): CopiedConfig {
  const source = readBounded(file).text
  const folder = dirname(file)
  const { text, replaced } = withoutLiterals(source, { folder, secrets: context.secrets })
  const redact = createTextRedactor(context.secrets)
  const files = new Map<string, CopiedContent>()
  const changed: ReplacedSecret[] = []
  const put = (path: string, content: Buffer, isProgram = false): void => {
    const plain = isText(content) ? content.toString('utf8') : undefined
    const clean = plain && redact(plain)
    if (clean !== plain) changed.push({ setting: path, reference: '[secret]' })
    files.set(path, { bytes: clean === undefined ? content : Buffer.from(clean), isProgram })
  }
  put(basename(file), Buffer.from(text))
  const { tree } = readYaml(source)
  const secretFiles = new Set(referencesIn(file, context).files.map((name) => resolve(folder, name)))
  const elsewhere: string[] = []
  for (const named of namedBeside(tree)) {
    const found = filesAt(resolve(folder, named), folder)
    elsewhere.push(...found.elsewhere)
    for (const path of found.files)
      if (!secretFiles.has(path))
        put(relative(folder, path), readFileSync(path), (lstatSync(path).mode & OWNER_RUNS) !== 0)
  }
  const programs = programsIn(tree, folder).filter((path) => !files.has(relative(folder, path)))
  return { files, replaced: [...replaced, ...changed], elsewhere: [...new Set(elsewhere)], programs }
}

const OWNER_RUNS = 0o100

/** Returns the programs that a configuration starts: those of the system by their name, others by their whole path. */
function programsIn(tree: unknown, folder: string): readonly string[] {
  const started = [...textsIn(tree)].filter(({ path, text }) => path.at(-1) === 'command' && !text.includes('${'))
  const named = started.filter(({ path }) => NAMING_FILES.some((form) => isOfForm(path, form)))
  return [...new Set(named.map(({ text }) => programAt(text, folder)))]
}

function isText(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString('utf8')).equals(bytes)
}

const SCRIPT = /^scripted\/(?=.*[./])/
/** The settings that name a file or folder, with `*` for any key. */
const NAMING_FILES = [
  ['agents', '*', 'prompt'],
  ['agents', '*', 'skills'],
  ['tools', 'own', '*'],
  ['tools', 'mcp', '*', 'command'],
  ['hooks', '*', 'command'],
  ['hooks', '*', '*', 'command'],
]

/** Returns the files and folders that a configuration names, as they stand there. */
function namedBeside(tree: unknown): readonly string[] {
  const named = [...textsIn(tree)].flatMap(({ path, text }) => {
    if (SCRIPT.test(text)) return [text.replace(SCRIPT, '')]
    const names = NAMING_FILES.some((form) => isOfForm(path, form))
    // A program by its bare name is one of the system.
    return names && (path.at(-1) !== 'command' || text.includes('/')) ? [text] : []
  })
  return [...new Set(named)].filter((text) => !text.includes('${'))
}

function isOfForm(path: ConfigPath, form: readonly string[]): boolean {
  return form.length === path.length && form.every((key, at) => key === '*' || key === path[at])
}

interface FoundFiles {
  readonly files: readonly string[]
  readonly elsewhere: readonly string[]
}

/** Returns the file, or those of the folder, where they lie by the configuration; a tool may import its neighbours. */
function filesAt(path: string, home: string): FoundFiles {
  if (!liesIn(path, home)) return { files: [], elsewhere: [path] }
  const folder = dirname(path)
  const all = isFolder(path) || folder === home || !/\.[cm]?[jt]s$/.test(path) ? [path] : [folder]
  return all.map(walk).reduce((one, more) => ({
    files: [...one.files, ...more.files],
    elsewhere: [...one.elsewhere, ...more.elsewhere],
  }))
}

/** Returns whether a path leads below a folder without a link on the way. */
function liesIn(path: string, home: string): boolean {
  const inside = relative(home, path)
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) return false
  try {
    return realpathSync(dirname(path)) === join(realpathSync(home), dirname(inside))
  } catch {
    return true
  }
}

/** Hidden files and folders in a folder, such as `.env` and `.git`, and installed packages are none of Parley's. */
const NOT_OURS = /^(?:\.|node_modules$)/

function walk(path: string): FoundFiles {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return { files: [], elsewhere: [] }
  if (found.isFile() && found.size <= MOST_BYTES) return { files: [path], elsewhere: [] }
  if (!found.isDirectory()) return { files: [], elsewhere: [path] }
  const inner = readdirSync(path).map((name): FoundFiles => {
    const entry = join(path, name)
    return NOT_OURS.test(name) ? { files: [], elsewhere: [entry] } : walk(entry)
  })
  return { files: inner.flatMap(({ files }) => files), elsewhere: inner.flatMap(({ elsewhere }) => elsewhere) }
}
