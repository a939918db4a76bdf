import { basename, dirname } from 'node:path'
import { ParleyError } from '../core/errors.ts'
import { configError, type LineOf } from './mistake.ts'
import { findConfigFile, misnamedBeside, type Surroundings, usualConfigFile } from './places.ts'
import { IS_FOLDER, readBounded } from './read-bounded.ts'

/** The configuration as it is written, before anything is checked or resolved. */
export interface Source {
  /** Absent when there is no file and the environment is all there is. */
  readonly file?: string
  /** The folder that its relative paths start from. */
  readonly folder: string
  readonly tree: unknown
  readonly lineOf: LineOf
}

export interface SourceOptions extends Surroundings {
  /** The value of `--config`, relative to `cwd`. */
  readonly path?: string
  /** Texts that are about to be written, by the path of their file: each counts in place of what is there. */
  readonly texts?: ReadonlyMap<string, string>
}

/** Throws `config` for a file that cannot be read or is not YAML. */
export async function readSource(options: SourceOptions): Promise<Source> {
  const file = findConfigFile(options.path, options)
  if (file === undefined) {
    const usual = usualConfigFile(options)
    const alike = usual === undefined ? [] : misnamedBeside(usual)
    if (usual !== undefined && alike.length > 0) throw new ParleyError('config', `${usual}: ${insteadOf(alike)}`)
    return { folder: options.cwd, tree: {}, lineOf: () => undefined }
  }
  const text = options.texts?.get(file) ?? readText(file)
  // Loaded only now: who needs no file does not pay for the parser.
  const { readYaml } = await import('./read-yaml.ts')
  const { tree, mistakes, lineOf } = readYaml(text)
  if (mistakes.length > 0) {
    const distinct = new Map(mistakes.map((mistake) => [`${mistake.line}: ${mistake.message}`, mistake]))
    throw configError(file, [...distinct.values()], ({ line }) => line)
  }
  return { file, folder: dirname(file), tree, lineOf }
}

function readText(file: string): string {
  try {
    const { text, damaged } = readBounded(file)
    if (!damaged) return text
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const alike = code === 'ENOENT' ? misnamedBeside(file) : []
    const remedy = alike.length > 0 ? insteadOf(alike) : remedyFor(code)
    throw new ParleyError('config', `${file}: ${remedy}`, { cause: error })
  }
  throw new ParleyError('config', `${file}: is not in UTF-8; save it so`)
}

/** Names the file that lies in place of the missing one. */
function insteadOf([first = '', ...others]: readonly string[]): string {
  const names = [first, ...others].map((file) => basename(file)).join(' and ')
  return `there is no such file, but ${names} beside it; rename it, or start with --config ${first}`
}

function remedyFor(code = 'an error'): string {
  if (code === 'ENOENT') return 'there is no such file; check --config or PARLEY_CONFIG, or write it'
  if (code === 'EACCES') return 'may not be read; give the user that runs parley the right to read it'
  if (code === 'EISDIR') return IS_FOLDER
  if (code === 'too_long') return 'is larger than 1 MB, which is no configuration; name another file'
  if (code === 'unavailable') return 'is a pipe into which nobody writes; name a file'
  if (code === 'invalid') return 'is a device, or has no end; name a file'
  return `cannot be read (${code})`
}
