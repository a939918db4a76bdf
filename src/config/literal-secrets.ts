import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  parseDocument,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml'
import type { ReplacedSecret } from '../core/backup.ts'
import { type ConfigPath, formatPath } from './mistake.ts'
import { readYaml } from './read-yaml.ts'
import { isSecretAt, REFERENCE, type ReferenceNames, referenceNames } from './references.ts'

/** The surroundings of a text whose secrets are taken out. */
export interface LiteralContext {
  /** The folder of the configuration, from which relative paths start. */
  readonly folder: string
  /** The values that are known to be secret. */
  readonly secrets: readonly string[]
}

/**
 * Replaces the secrets that stand in the text of a configuration by references, and leaves all other characters as they
 * are. The place of a value decides, not its name: what a program or a header is given, the address of a hook, and the
 * user, query and unusual path of any address. Comments that may hold a secret are left out.
 */
export function withoutLiterals(
  source: string,
  context: LiteralContext,
): { readonly text: string; readonly replaced: readonly ReplacedSecret[] } {
  const { refer, replaced } = createReferences(source)
  const edits = new Map<number, Edit>()
  const document = parseDocument(source)
  for (const { path, value, before, range } of scalarsIn(document, document.contents, TOP)) {
    const place = placeOf(path)
    // A value that an alias repeats stands once in the file: of its places the one that may hold secrets counts.
    if (value.trim() === '' || (edits.has(range.from) && place === 'open')) continue
    const found = { value, place, before, folder: context.folder }
    const clean = withReferences(found, () => refer(path))
    const end = /\n$/.exec(source.slice(range.from, range.to)) ?? ''
    if (clean !== value) edits.set(range.from, { ...range, by: JSON.stringify(clean) + end })
  }
  const inEdit = ({ from }: Edit) => [...edits.values()].some((edit) => from >= edit.from && from < edit.to)
  const comments = commentsIn(source).filter((one) => !inEdit(one) && maySaySecret(one.by, context.secrets))
  if (comments.length > 0) replaced.push({ setting: 'a comment', reference: LEFT_OUT })
  const all = [...edits.values(), ...comments.map((one) => ({ ...one, by: LEFT_OUT }))]
  const text = all
    .toSorted((one, other) => other.from - one.from)
    .reduce((changed, { from, to, by }) => changed.slice(0, from) + by + changed.slice(to), source)
  return { text, replaced }
}

/** Returns what a configuration names, files by their whole path, and the setting of a secret that stands in it. */
export function secretsIn(source: string, folder: string): ReferenceNames & { readonly literal: string | undefined } {
  const names = referenceNames(readYaml(source).tree)
  const [literal] = withoutLiterals(source, { folder, secrets: [] }).replaced
  return { ...names, files: names.files.map((name) => resolve(folder, name)), literal: literal?.setting }
}

const LEFT_OUT = '# [left out]'

interface Edit {
  readonly from: number
  readonly to: number
  readonly by: string
}

/** Returns what makes a new reference for a setting, named after it and like no other in the file. */
function createReferences(source: string) {
  const taken = new Set([...source.matchAll(REFERENCE)].map(([, , name = '']) => name.trim()))
  const replaced: ReplacedSecret[] = []
  const refer = (path: ConfigPath): string => {
    const words = path.filter((key) => !['channels', 'accounts', 'models', 'tools'].includes(String(key)))
    const base = `PARLEY_${words.join('_')}`.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
    let name = base
    for (let no = 2; taken.has(name); no++) name = `${base}_${no}`
    taken.add(name)
    const reference = `\${env:${name}}`
    replaced.push({ setting: formatPath(path), reference })
    return reference
  }
  return { refer, replaced }
}

/** secret: all of it. variable: what a program is given in its environment. open: anything else. */
type Place = 'secret' | 'variable' | 'argument' | 'open'

function placeOf(path: ConfigPath): Place {
  const [part, , setting] = path
  const around = path.at(-2)
  if (isSecretAt(path) || around === 'headers' || (part === 'hooks' && setting === 'url')) return 'secret'
  if (around === 'env') return 'variable'
  return around === 'args' ? 'argument' : 'open'
}

interface FoundValue {
  readonly value: string
  readonly place: Place
  /** The argument before it. */
  readonly before: string | undefined
  readonly folder: string
}

type Refer = () => string

/** Stands for a reference, which is no secret, where the text around it is looked at. */
const MARK = '\u00a4'

/** A value that has a reference already stays as it is, unless something else in it may be secret. */
function withReferences(found: FoundValue, refer: Refer): string {
  const { value } = found
  const marked = value.replace(REFERENCE, MARK)
  if (marked === value) return cleanAt(found, refer)
  return cleanAt({ ...found, value: marked }, () => '') === marked ? value : refer()
}

function cleanAt(found: FoundValue, refer: Refer): string {
  const { value, place, before, folder } = found
  if (isMarked(value)) return value
  if (place === 'secret') return refer()
  if (place === 'argument') {
    const [, name, rest = ''] = /^(--[a-z][a-z-]*=|[A-Z][A-Z0-9_]*=)([^=].*)$/s.exec(value) ?? []
    if (name !== undefined) return name + cleanAt({ ...found, value: rest, place: 'variable' }, refer)
    if (isFlag(value) || isWordOfCommand(value, before)) return value
  }
  if (ADDRESS.test(value)) return cleanAddress(value, refer)
  if (place === 'open') return value.replace(USER_IN_TEXT, (_all, scheme) => `${scheme}${refer()}@`)
  return isHarmless(value, folder) ? value : refer()
}

/** A value of nothing but references, with the word or the name of a header before it. */
function isMarked(value: string): boolean {
  return /^(?:[\w-]+: *)?(?:(?:bearer|basic|token|bot) +)?[\u00a4\s]*$/i.test(value) && value.includes(MARK)
}

/** A short number, or a day, as versions of an API are named. */
const NUMBER = /^(?:-?\d{1,6}(?:\.\d{1,6})?|\d{4}-\d\d-\d\d)$/
const USUAL = /^(?:true|false|on|off|yes|no|stdio|sse|https?|streamable-http|trace|debug|info|warn|error|production)$/i

/** Returns true for short numbers, the usual words of settings, and paths that lead to something here. */
function isHarmless(value: string, folder: string): boolean {
  return NUMBER.test(value) || USUAL.test(value) || existsSync(resolve(folder, value))
}

function isFlag(value: string): boolean {
  return /^(?:-[A-Za-z]|--(?:[a-z][a-z-]{0,40})?)$/.test(value)
}

/** The flags behind which no value stands. */
const SWITCH = /^(?:-[iqy]|--|--(?:yes|quiet|rm|init|interactive))$/
/** A program, package or image: words of letters, with a version. */
const WORDS = /^@?[a-z]{1,24}(?:[-./:_][a-z]{1,24})*(?:@(?:latest|\d{1,4}(?:\.\d{1,4}){0,2}))?$/

function isWordOfCommand(value: string, before = ''): boolean {
  if (/^(?:-e|--env)$/.test(before)) return /^[A-Z][A-Z_]*$/.test(value)
  return WORDS.test(value) && (!isFlag(before) || SWITCH.test(before) || before === '-m')
}

const ADDRESS = /^[a-z][\w+.-]*:\/\/\S*$/i
const USER_IN_TEXT = /(\b[a-z][\w+.-]*:\/\/)[^\s/@\u00a4]+@/gi
const HOST = /^(?:\[[^\]]*\]|[\w.\u00a4-]*)(?::[\d\u00a4]{1,5})?$/

/** Replaces user and password, a path with something like a token, and the values of the query. */
function cleanAddress(value: string, refer: Refer): string {
  const parts = /^([a-z][\w+.-]*:\/\/)(?:([^/?#]*)@)?([^/?#]*)([^?#]*)(.*)$/is.exec(value)
  const [, scheme = '', user, host = '', path = '', rest = ''] = parts ?? []
  if (!HOST.test(host) || looksLikeToken(host.replaceAll('.', ' '))) return refer()
  const isName = user === undefined || /^\w{0,20}:?\u00a4+$/.test(user)
  const who = user === undefined ? '' : `${isName ? user : refer()}@`
  const where = looksLikeToken(path) ? `/${refer()}` : path
  return scheme + who + host + where + cleanQuery(rest, refer)
}

function cleanQuery(rest: string, refer: Refer): string {
  return rest.replace(/[^?&#;]+/g, (part) => {
    const [, name = '', equals = '', value = ''] = /^([^=]*)(=?)(.*)$/s.exec(part) ?? []
    if (equals === '' || looksLikeToken(name)) return part === MARK ? part : refer()
    return /^\u00a4*$/.test(value) || NUMBER.test(value) || USUAL.test(value) ? part : `${name}=${refer()}`
  })
}

/** A long run that mixes letters with digits, or small letters with capitals. */
function looksLikeToken(text: string): boolean {
  const runs = text.match(/[\w+=%~-]{10,}/g) ?? []
  return runs.some((run) => /\d/.test(run) || (/[a-z]/.test(run) && /[A-Z]/.test(run)))
}

const SAYS_SECRET =
  /(?:token|secret|passw(?:or)?d|passphrase|credentials?|key|pat|auth|dsn|bearer)["']?(?:\s*[:=]\s*|\s+(?=\S{12}))["']?[^\s"'{[#&|>]{4}/i

/** Returns true for a comment with a setting that names a secret, an address with a user, or something like a token. */
function maySaySecret(comment: string, secrets: readonly string[]): boolean {
  const text = comment.replace(REFERENCE, '')
  const isKnown = secrets.some((secret) => secret.length >= 4 && text.includes(secret))
  const runs = text.match(/[\w+=%~-]{12,}/g) ?? []
  const isToken = runs.some(
    (run) => (/\d/.test(run) && /[a-z]/i.test(run)) || (run.length >= 20 && looksLikeToken(run)),
  )
  return isKnown || isToken || SAYS_SECRET.test(text) || /:\/\/[^\s/@]+@/.test(text)
}

/** These are the lexer's own: before a scalar, at the beginning of a document, at the end of a broken flow. */
const SCALAR = '\u001f'
const CONTROLS = [SCALAR, '\u0002', '\u0018']

/** Returns the comments of a YAML text; a `#` in a value is none. */
function commentsIn(source: string): readonly Edit[] {
  const found: Edit[] = []
  let at = 0
  let isScalar = false
  for (const token of new Lexer().lex(source)) {
    const isControl = CONTROLS.includes(token)
    if (!isControl && !isScalar && token.startsWith('#')) found.push({ from: at, to: at + token.length, by: token })
    if (!isControl) at += token.length
    isScalar = token === SCALAR
  }
  return found
}

const TOP = { path: [], before: undefined }

interface PlacedScalar {
  readonly path: ConfigPath
  readonly value: string
  readonly before: string | undefined
  readonly range: { readonly from: number; readonly to: number }
}

/** So many nodes lie within each other in no configuration; an alias may lie within itself. */
const DEEPEST = 40

/** Yields the texts and numbers of a document, what an alias repeats at the place of the alias too. */
function* scalarsIn(document: Document, node: unknown, at: Pick<PlacedScalar, 'path' | 'before'>): Scalars {
  if (at.path.length > DEEPEST) return
  if (isAlias(node)) yield* scalarsIn(document, node.resolve(document), at)
  else if (isScalar(node)) yield* textOf(node, at)
  else if (isMap(node) || isSeq(node))
    for (const inner of partsOf(node))
      yield* scalarsIn(document, inner.node, { ...inner, path: [...at.path, inner.key] })
}

type Scalars = Generator<PlacedScalar>

function* textOf({ value, source, range }: Scalar, at: Pick<PlacedScalar, 'path' | 'before'>): Scalars {
  if (!range || (typeof value !== 'string' && typeof value !== 'number')) return
  const text = typeof value === 'string' ? value : (source ?? String(value))
  yield { path: at.path, before: at.before, value: text, range: { from: range[0], to: range[1] } }
}

interface Part {
  readonly key: string | number
  readonly node: unknown
  readonly before: string | undefined
}

function partsOf(node: YAMLMap | YAMLSeq): readonly Part[] {
  if (isMap(node))
    return node.items.map(({ key, value }) => ({
      ...{ key: isScalar(key) ? String(key.value) : '', node: value, before: undefined },
    }))
  return node.items.map((item, at, { [at - 1]: last }) => ({
    ...{ key: at, node: item, before: isScalar(last) ? String(last.value) : undefined },
  }))
}
