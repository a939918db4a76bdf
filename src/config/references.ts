import { join, resolve } from 'node:path'
import { type ConfigPath, formatPath, type Mistake } from './mistake.ts'
import { readBounded, unread } from './read-bounded.ts'
import { namesReferencedSecret, namesSecret } from './secrets.ts'

/** The sources in which references are looked up. */
export interface ReferenceSources {
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder of the configuration, from which a relative `${file:…}` starts. */
  readonly folder: string
  /** Texts that are about to be written, by the path of their file. */
  readonly texts?: ReadonlyMap<string, string>
  /** Returns the form of the tokens of a channel, undefined where they have none. */
  tokenForm(this: void, channel: string): RegExp | undefined
}

export interface Resolved {
  /** The input with every reference replaced; one that cannot be resolved stays as it is and is a mistake. */
  readonly value: unknown
  readonly secrets: readonly string[]
  /** Those of them that open something, such as a token: any other text from a file counts as a secret to be safe. */
  readonly keys: readonly string[]
  readonly mistakes: readonly Mistake[]
  readonly warnings: readonly string[]
}

export const REFERENCE = /\$\{(\w+):([^{}]*)\}/g
/** Matches a reference in shell syntax, which would otherwise be sent as a token. */
const SHELL_REFERENCE = /^\$\{?([A-Z_][A-Z0-9_]*)\}?$/
/** The same as other programs and shells write it, where a secret is expected. */
const OTHER_REFERENCE = /^(?!\$\{env:[^{}]*\}$)(?:\$?\{{0,2} *\$?(?:process\.)?env[:.]|%(?=\w+%$))([A-Z_]\w*)[ }%]*$/i
const UNCLOSED_REFERENCE = /\$\{(?:env|file|credential):[^{}]*$/

export interface ReferenceNames {
  readonly variables: readonly string[]
  /** Files of secrets, as the configuration names them: relative ones begin in its folder. */
  readonly files: readonly string[]
  readonly credentials: readonly string[]
}

/** Returns the names that the references of a configuration use. */
export function referenceNames(tree: unknown): ReferenceNames {
  const names = { env: new Set<string>(), file: new Set<string>(), credential: new Set<string>() }
  for (const { text } of textsIn(tree))
    for (const [, kind = '', name = ''] of text.matchAll(REFERENCE))
      if (kind in names) names[kind as keyof typeof names].add(name.trim())
  return { variables: [...names.env], files: [...names.file], credentials: [...names.credential] }
}

interface PlacedText {
  readonly path: ConfigPath
  readonly text: string
}

/** Yields every text of a configuration with its place. */
export function* textsIn(value: unknown, path: ConfigPath = []): Generator<PlacedText> {
  if (typeof value === 'string') yield { path, text: value }
  else if (typeof value === 'object' && value !== null)
    for (const [key, inner] of Object.entries(value)) yield* textsIn(inner, [...path, key])
}

/** The parts in which plain text under a key such as `token` is a secret. */
const HOLDS_SECRETS: readonly PropertyKey[] = ['channels', 'models', 'audio', 'store', 'tools', 'hooks']

/** Returns true for a header of a tool server: its value opens the server, whatever the header is called. */
function isHeader(path: ConfigPath): boolean {
  return path[0] === 'tools' && path[1] === 'mcp' && path[3] === 'headers'
}

/** Returns true for a setting whose value is a secret. */
export function isSecretAt(path: ConfigPath): boolean {
  return namesSecret(lastName(path)) || isHeader(path) || isStoreKey(path)
}

/** Returns true for the key with which the store is encrypted. */
export function isStoreKey(path: ConfigPath): boolean {
  return path.length === 2 && path[0] === 'store' && path[1] === 'key'
}

/**
 * Replaces `${env:NAME}`, `${file:PATH}` and `${credential:NAME}` (systemd's `$CREDENTIALS_DIRECTORY`), anywhere in any
 * text, by their values without outer white space. A secret written in the file itself works and is warned of.
 */
export function resolveReferences(raw: unknown, sources: ReferenceSources): Resolved {
  const secrets = new Set<string>()
  const keys = new Set<string>()
  const mistakes: Mistake[] = []
  const warnings: string[] = []

  const resolveText = (text: string, path: ConfigPath): string => {
    const [, variable] = SHELL_REFERENCE.exec(text) ?? (isSecretAt(path) ? OTHER_REFERENCE.exec(text) : null) ?? []
    if (UNCLOSED_REFERENCE.test(text)) {
      mistakes.push({ path, message: `${formatPath(path)}: a reference opens here and is not closed; a } is missing` })
      return text
    }
    if (variable !== undefined) {
      mistakes.push({ path, message: `${formatPath(path)}: is no reference; write \${env:${variable}}` })
      return text
    }
    let referenced = false
    let missing = false
    const found = text.replace(REFERENCE, (whole, kind: string, name: string) => {
      referenced = true
      const found = lookUp(kind, name.trim(), sources)
      if ('warning' in found) warnings.push(`${formatPath(path)}: ${found.warning}`)
      if ('message' in found) {
        missing = true
        mistakes.push(mistakeAt(path, found))
      } else keepFound(found.value, { kind, name, path })
      return 'value' in found ? found.value : whole
    })
    const value = mended(found, path, sources)
    // A reference without a value is no secret itself: taken for one, it would be cut from a copy of its file.
    if (HOLDS_SECRETS.includes(path[0] ?? '') && !missing) keepSecretsOf(value, path, referenced)
    return value
  }
  const keepFound = (value: string, { kind, name, path }: { kind: string; name: string; path: ConfigPath }): void => {
    const named = isHeader(path) || [lastName(path), name.trim()].some(namesReferencedSecret)
    if (kind === 'env' && !named) return
    secrets.add(value)
    // A program may print what it was given, in a variable or an argument; the text of a prompt is no secret.
    if (HOLDS_SECRETS.includes(path[0] ?? '')) keys.add(value)
  }
  const keepSecretsOf = (value: string, path: ConfigPath, referenced: boolean): void => {
    const password = passwordOf(value)
    if (password !== undefined) keys.add(password)
    if (!isSecretAt(path)) return
    keys.add(value.trim())
    if (!referenced && value.trim() !== '') {
      warnings.push(
        `${formatPath(path)}: the secret stands in the file itself; write \${env:NAME}, \${file:PATH} or \${credential:NAME}`,
      )
    }
  }
  const walk = (value: unknown, path: ConfigPath): unknown => {
    if (typeof value === 'string') return resolveText(value, path)
    if (Array.isArray(value)) return value.map((item, index) => walk(item, [...path, index]))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, walk(inner, [...path, key])]))
  }
  const value = walk(raw, [])
  const known = (values: Iterable<string>): readonly string[] => [...values].filter((one) => one !== '')
  return { value, secrets: known(new Set([...secrets, ...keys])), keys: known(keys), mistakes, warnings }
}

/**
 * Returns a token or key of another service without what is copied along with it: quotes, the brackets of an example,
 * invisible characters, and the word that a request has before it. None of these services issues one with them.
 */
function mended(text: string, path: ConfigPath, { tokenForm }: ReferenceSources): string {
  const [part, channel] = path
  if (!ISSUES_SECRETS.includes(part ?? '') || !namesSecret(lastName(path))) return text
  const bare = text
    .replace(/\p{Cf}/gu, '')
    .trim()
    .replace(COPIED_ALONG, '')
    .trim()
  const unprefixed = bare.replace(/^bot\s*/i, '')
  const form = lastName(path) === 'token' ? tokenForm(String(channel)) : undefined
  return form?.test(bare) === false && form.test(unprefixed) ? unprefixed : bare
}

/** The parts whose secrets other services have issued. */
const ISSUES_SECRETS: readonly PropertyKey[] = ['channels', 'models', 'audio']
const COPIED_ALONG = /^["'`\u201c\u201d\u2018\u2019<]+(?:Bearer\s+)?|^Bearer\s+|["'`\u201c\u201d\u2018\u2019>]+$/gi

type Found = { readonly value: string; readonly warning?: string } | Absent
type Absent = { readonly message: string; readonly missing?: true }

function mistakeAt(path: ConfigPath, { message, missing }: Absent): Mistake {
  return { path, message: `${formatPath(path)}: ${message}`, ...(missing ? { missing } : {}) }
}

function lookUp(kind: string, name: string, { env, folder, texts }: ReferenceSources): Found {
  switch (kind) {
    case 'env': {
      const value = Object.hasOwn(env, name) ? env[name]?.trim() : undefined
      return value
        ? { value }
        : { message: `the variable ${name} is not set; set it or change the reference`, missing: true }
    }
    case 'file': {
      const text = texts?.get(resolve(folder, name))?.trim()
      if (text) return { value: text }
      return readSecret(resolve(folder, name), { remedy: 'create it, or change the reference', warns: true })
    }
    case 'credential':
      return lookUpCredential(name, env.CREDENTIALS_DIRECTORY)
    default:
      return { message: `\${${kind}:…} is no reference; write \${env:NAME}, \${file:PATH} or \${credential:NAME}` }
  }
}

function lookUpCredential(name: string, folder: string | undefined): Found {
  if (!/^[\w.-]+$/.test(name) || name.startsWith('.')) {
    return { message: 'a credential is named by letters, digits, dots, _ and -' }
  }
  const remedy = `add LoadCredential=${name}:<file> to the systemd unit`
  if (!folder)
    return { message: `there are no credentials outside systemd; ${remedy}, or use \${file:PATH}`, missing: true }
  // The service manager is responsible for its owner and its file mode.
  return readSecret(join(folder, name), { remedy, warns: false })
}

interface Reading {
  readonly remedy: string
  /** True if it warns that others may open the file. */
  readonly warns: boolean
}

function readSecret(file: string, { remedy, warns }: Reading): Found {
  try {
    const { text, mode } = readBounded(file)
    const value = text.trim()
    if (value === '') return { message: `${file} is empty; put the secret in it`, missing: true }
    if (!warns || (mode & OTHERS_READ_OR_WRITE) === 0) return { value }
    return { value, warning: `every user of this machine may open ${file}; run: chmod 600 ${file}` }
  } catch (error) {
    return { message: unread(file, error, remedy), missing: true }
  }
}

const OTHERS_READ_OR_WRITE = 0o006

function lastName(path: ConfigPath): string {
  return String(path.at(-1) ?? '')
}

/** Returns the password inside `scheme://user:password@host`. */
export function passwordOf(text: string): string | undefined {
  return /^[\w+.-]+:\/\/[^/@:]*:([^/@]+)@/.exec(text)?.[1]
}
