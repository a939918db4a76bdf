import { lstatSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml'
import type { ReplacedSecret } from '../core/backup.ts'
import type { Channels } from '../core/channel-traits.ts'
import { createTextRedactor } from '../core/redact.ts'
import { withEnvironment } from './environment.ts'
import { type ConfigPath, formatPath } from './mistake.ts'
import { isFolder, readBounded } from './read-bounded.ts'
import { readYaml } from './read-yaml.ts'
import { isSecretAt, passwordOf, REFERENCE } from './references.ts'

/** A configuration as a backup keeps it: without the value of any secret. */
export interface CopiedConfig {
  /** The files by their path below the folder of the configuration, itself among them. */
  readonly files: ReadonlyMap<string, Uint8Array>
  readonly replaced: readonly ReplacedSecret[]
  /** Files that are named and not copied: they lie elsewhere, are links, or are too large. */
  readonly elsewhere: readonly string[]
}

export interface ReferenceNames {
  readonly variables: readonly string[]
  /** Files of secrets, by their whole path. */
  readonly files: readonly string[]
  readonly credentials: readonly string[]
}

/** The surroundings in which a configuration is copied. */
export interface CopyContext {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly channels: Channels
  /** The values that are secret. */
  readonly secrets: readonly string[]
}

/** A prompt or a tool has some kilobytes. */
const MOST_BYTES = 5_000_000

/** Returns the names that the references of a configuration use; without a file those of the environment alone. */
export function referencesIn(file: string | undefined, { env, channels }: CopyContext): ReferenceNames {
  const tree = file === undefined ? {} : readYaml(readBounded(file).text).tree
  const names = { env: new Set<string>(), file: new Set<string>(), credential: new Set<string>() }
  for (const { text } of textsIn(withEnvironment(tree, env, channels)))
    for (const [, kind = '', name = ''] of text.matchAll(REFERENCE)) {
      const found = kind === 'file' ? resolve(dirname(file ?? ''), name.trim()) : name.trim()
      if (kind in names) names[kind as keyof typeof names].add(found)
    }
  return { variables: [...names.env], files: [...names.file], credentials: [...names.credential] }
}

/** Copies a configuration with the prompts, skills, tools and rules that lie beside it. */
export function copyConfig(file: string, context: CopyContext): CopiedConfig {
  const source = readBounded(file).text
  const { text, replaced } = withoutLiterals(source)
  const redact = createTextRedactor(context.secrets)
  const files = new Map<string, Uint8Array>()
  const changed: ReplacedSecret[] = []
  const put = (path: string, content: string): void => {
    const clean = redact(content)
    if (clean !== content) changed.push({ setting: path, reference: '[secret]' })
    files.set(path, Buffer.from(clean))
  }
  put(basename(file), text)
  const secretFiles = new Set(referencesIn(file, context).files)
  const elsewhere: string[] = []
  for (const named of namedBeside(readYaml(source).tree)) {
    const found = filesAt(resolve(dirname(file), named), dirname(file))
    elsewhere.push(...found.elsewhere)
    for (const path of found.files) {
      if (secretFiles.has(path)) continue
      const [name, bytes] = [relative(dirname(file), path), readFileSync(path)]
      if (isText(bytes)) put(name, bytes.toString('utf8'))
      else files.set(name, bytes)
    }
  }
  return { files, replaced: [...replaced, ...changed], elsewhere: [...new Set(elsewhere)] }
}

function isText(bytes: Buffer): boolean {
  return Buffer.from(bytes.toString('utf8')).equals(bytes)
}

interface PlacedText {
  readonly path: ConfigPath
  readonly text: string
}

function* textsIn(value: unknown, path: ConfigPath = []): Generator<PlacedText> {
  if (typeof value === 'string') yield { path, text: value }
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) yield* textsIn(inner, [...path, key])
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
    const names = NAMING_FILES.some(
      (one) => one.length === path.length && one.every((key, at) => key === '*' || key === path[at]),
    )
    // A program by its bare name is one of the system.
    return names && (path.at(-1) !== 'command' || text.includes('/')) ? [text] : []
  })
  return [...new Set(named)].filter((text) => !text.includes('${'))
}

interface FoundFiles {
  readonly files: readonly string[]
  readonly elsewhere: readonly string[]
}

/** Returns the file, or those of the folder, where they lie by the configuration; a tool may import its neighbours. */
function filesAt(path: string, home: string): FoundFiles {
  const inside = relative(home, path)
  if (inside === '' || inside.startsWith('..') || isAbsolute(inside)) return { files: [], elsewhere: [path] }
  const folder = dirname(path)
  const all = isFolder(path) || folder === home || !/\.[cm]?[jt]s$/.test(path) ? [path] : [folder]
  return all.map(walk).reduce((one, more) => ({
    files: [...one.files, ...more.files],
    elsewhere: [...one.elsewhere, ...more.elsewhere],
  }))
}

function walk(path: string): FoundFiles {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return { files: [], elsewhere: [] }
  if (found.isFile() && found.size <= MOST_BYTES) return { files: [path], elsewhere: [] }
  if (!found.isDirectory()) return { files: [], elsewhere: [path] }
  if (basename(path) === 'node_modules') return { files: [], elsewhere: [path] }
  const inner = readdirSync(path).map((name) => walk(join(path, name)))
  return { files: inner.flatMap(({ files }) => files), elsewhere: inner.flatMap(({ elsewhere }) => elsewhere) }
}

/** Replaces the secrets that stand in a file itself by references, and leaves all other characters as they are. */
function withoutLiterals(source: string): { readonly text: string; readonly replaced: readonly ReplacedSecret[] } {
  const edits: { readonly from: number; readonly to: number; readonly by: string }[] = []
  const replaced: ReplacedSecret[] = []
  const taken = new Set<string>()
  const referenceFor = (path: ConfigPath): string => {
    const words = path.filter((key) => !['channels', 'accounts', 'models', 'tools'].includes(String(key)))
    const base = `PARLEY_${words.join('_')}`.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
    let name = base
    for (let no = 2; taken.has(name); no++) name = `${base}_${no}`
    taken.add(name)
    const reference = `\${env:${name}}`
    replaced.push({ setting: formatPath(path), reference })
    return reference
  }
  for (const { path, value, range } of scalarsIn(parseDocument(source).contents)) {
    if (value.trim() === '' || value.includes('${')) continue
    const password = passwordOf(value)
    if (isSecretAt(path)) edits.push({ ...range, by: JSON.stringify(referenceFor(path)) })
    else if (password !== undefined)
      edits.push({ ...range, by: JSON.stringify(value.replace(password, () => referenceFor(path))) })
  }
  let text = source
  for (const { from, to, by } of edits.toSorted((one, other) => other.from - one.from))
    text = text.slice(0, from) + by + text.slice(to)
  const clean = text.replace(IN_COMMENT, '$1[secret]')
  if (clean !== text) replaced.push({ setting: 'a comment', reference: '[secret]' })
  return { text: clean, replaced }
}

/** A setting that was put behind `#` with its value. */
const IN_COMMENT =
  /((?:^|\s)#.*?(?:token|secret|password|passphrase|api_?key)["']?\s*[:=]\s*["']?)(?!\$\{)[^\s"']{8,}/gim

interface PlacedScalar {
  readonly path: ConfigPath
  readonly value: string
  readonly range: { readonly from: number; readonly to: number }
}

function* scalarsIn(node: unknown, path: ConfigPath = []): Generator<PlacedScalar> {
  if (isAlias(node)) return
  if (isMap(node))
    for (const { key, value } of node.items) yield* scalarsIn(value, [...path, isScalar(key) ? String(key.value) : ''])
  else if (isSeq(node)) for (const [at, item] of node.items.entries()) yield* scalarsIn(item, [...path, at])
  else if (isScalar(node) && node.range && (typeof node.value === 'string' || typeof node.value === 'number'))
    yield { path, value: String(node.value), range: { from: node.range[0], to: node.range[1] } }
}
