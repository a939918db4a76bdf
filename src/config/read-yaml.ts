import {
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Pair,
  parseDocument,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import type { ConfigPath } from './mistake.ts'
import { keptByYaml, TOO_DEEP, toPlainTree } from './plain-tree.ts'

export interface YamlFile {
  /** Plain objects, lists, texts, numbers, booleans and nulls; an empty file is an empty object. */
  readonly tree: unknown
  /** The mistakes in the YAML itself; the tree is empty then. */
  readonly mistakes: readonly YamlMistake[]
  /** 1-based line of the key or item at `path`, or of the nearest one above it that is there. */
  lineOf(path: ConfigPath): number | undefined
}

export interface YamlMistake {
  readonly line: number
  readonly message: string
}

/**
 * Parses the text of a configuration file, in a time in proportion to its length. Messages never quote the source: a
 * token may stand beside the mistake.
 */
export function readYaml(source: string): YamlFile {
  const lines = new LineCounter()
  // To compare the keys of a block with each other takes the parser the square of their number: the tree does it.
  const document = parseDocument(source, {
    lineCounter: lines,
    prettyErrors: false,
    intAsBigInt: true,
    uniqueKeys: false,
    resolveKnownTags: false,
  })
  const lineAt = (offset: number): number => lines.linePos(offset).line
  const lineOf = lineFinder(document.contents, lineAt)
  const broken = [...document.errors, ...document.warnings]
  if (broken.length > 0) {
    return { tree: {}, mistakes: mistakesOf(source, broken, lineAt), lineOf }
  }
  const { tree, mistakes } = toPlainTree(document)
  if (mistakes.length === 0) return { tree: tree ?? {}, mistakes: [], lineOf }
  return { tree: {}, mistakes: mistakes.map(({ offset, message }) => ({ line: lineAt(offset), message })), lineOf }
}

const REMEDIES: Readonly<Record<string, string>> = {
  TAB_AS_INDENT: 'the line is indented by a tab; use spaces',
  BAD_INDENT: 'the indentation does not fit the lines above, or a bracket or quote there is not closed',
  MISSING_CHAR: 'a quote, bracket, comma or colon is missing',
  MULTILINE_IMPLICIT_KEY: 'a key must stand on one line; a colon may be missing',
  BLOCK_AS_IMPLICIT_KEY: 'a nested block cannot stand here; check the indentation, and quote a text with ": " in it',
  UNEXPECTED_TOKEN:
    'this does not belong to the lines above; is the line that begins their block a comment (#) or missing?',
  RESOURCE_EXHAUSTION: TOO_DEEP,
}

const UNQUOTED = `within { } or [ ] a reference stands in quotes: { token: "\${env:NAME}" }`

/** Returns what is wrong; where one slip explains the objections of the parser, that slip alone. */
function mistakesOf(source: string, broken: readonly YAMLError[], lineAt: (offset: number) => number): YamlMistake[] {
  const at = (offsets: readonly (readonly [offset: number, message: string])[]): YamlMistake[] =>
    offsets.map(([offset, message]) => ({ line: lineAt(offset), message }))
  const unquoted = broken.filter(({ pos }) => source.startsWith('${', pos[0] - 1))
  if (unquoted.length > 0) return at(unquoted.map(({ pos }) => [pos[0], UNQUOTED]))
  const kept = broken.flatMap((one) => {
    const mark = keptMarkOf(source, one)
    return mark === undefined ? [] : [[one.pos[0], keptByYaml(mark)] as const]
  })
  if (kept.length > 0) return at(kept)
  const cut = broken.every(({ code }) => code === 'BAD_INDENT' || code === 'MISSING_CHAR')
  const unclosed = cut ? unclosedIn(source) : []
  if (unclosed.length > 0) return at(unclosed.map(({ offset, mark }) => [offset, notClosed(mark)]))
  return causes(broken).map((one) => describe(one, lineAt(one.pos[0])))
}

/** The objections to a text that begins with a mark of YAML; they stand at the mark, or behind it in its line. */
const OF_MARKS: ReadonlySet<string> = new Set([
  'ALIAS_PROPS',
  'BAD_ALIAS',
  'BAD_DIRECTIVE',
  'BAD_SCALAR_START',
  'TAG_RESOLVE_FAILED',
])
const MARKED = /(?:^|[-:?]\s|[[{,])\s*([*&!%@`|>])[^"']*$/

/** Returns the mark of YAML with which the text begins that the parser objects to. */
function keptMarkOf(source: string, { code, message, pos: [start] }: YAMLError): string | undefined {
  if (!OF_MARKS.has(code) && !/ at node end$|^Not a YAML token/.test(message)) return undefined
  return MARKED.exec(source.slice(source.lastIndexOf('\n', start - 1) + 1, start + 1))?.[1]
}

const CLOSING: Readonly<Record<string, string>> = { '{': '}', '[': ']' }

function notClosed(mark: string): string {
  const closing = CLOSING[mark]
  return closing === undefined
    ? `a quote (${mark}) opens in this line and is not closed`
    : `a "${mark}" opens in this line and is not closed; a "${closing}" is missing`
}

interface Unclosed {
  readonly offset: number
  readonly mark: string
}

/** Returns the brackets that the first broken block leaves open, or the quote. */
function unclosedIn(source: string): readonly Unclosed[] {
  const open: Unclosed[] = []
  for (const { offset, token } of tokensOf(source)) {
    if (isOpenQuote(token)) return [{ offset, mark: token.charAt(0) }]
    if (token === FLOW_CUT && open.length > 0) return open
    if (Object.hasOwn(CLOSING, token)) open.push({ offset, mark: token })
    const last = token === '}' || token === ']' ? open.pop() : undefined
    if (last !== undefined && CLOSING[last.mark] !== token) return [last]
  }
  return open
}

function isOpenQuote(token: string): boolean {
  return /^["']/.test(token) && (token.length === 1 || !token.endsWith(token.charAt(0)))
}

/** Stands for no character of the text: the parser ends a bracket here because a line is not indented enough. */
const FLOW_CUT = '\x18'
const TEXT_FOLLOWS = '\x1f'
const CONTROLS = ['\x02', TEXT_FOLLOWS, FLOW_CUT]

/** Returns the tokens of the parser, each with its place, without text that stands in no quotes. */
function* tokensOf(source: string): Generator<{ readonly offset: number; readonly token: string }> {
  let offset = 0
  let last = ''
  for (const token of new Lexer().lex(source)) {
    if (last !== TEXT_FOLLOWS) yield { offset, token }
    if (!CONTROLS.includes(token)) offset += token.length
    last = token
  }
}

/** Leaves out what follows from an earlier mistake: after the first unexpected line each further one is so, too. */
function causes<One extends Pick<YAMLError, 'code'>>(all: readonly One[]): readonly One[] {
  const first = all.findIndex(({ code }) => code === 'UNEXPECTED_TOKEN')
  return all.filter(({ code }, index) => code !== 'UNEXPECTED_TOKEN' || index === first)
}

function describe({ code, message }: YAMLError, line: number): YamlMistake {
  if (/^Unexpected flow-(?:map|seq)-end/.test(message))
    return { line, message: 'a bracket closes here that none opens' }
  return { line, message: REMEDIES[code] ?? `not valid YAML (${code})` }
}

/** Looks through every block once, for all mistakes in it. */
function lineFinder(contents: unknown, lineAt: (offset: number) => number): YamlFile['lineOf'] {
  const known = new Map<YAMLMap, ReadonlyMap<string, Pair>>()
  const childOf = (node: unknown, key: PropertyKey): { readonly place: unknown; readonly node: unknown } => {
    if (!isMap(node)) {
      const item = isSeq(node) ? node.items[Number(key)] : undefined
      return { place: item, node: item }
    }
    const pairs = known.get(node) ?? pairsByKey(node)
    known.set(node, pairs)
    const pair = pairs.get(String(key))
    return { place: pair?.key, node: pair?.value }
  }
  return (path) => {
    let node = contents
    let start: number | undefined
    for (const key of path) {
      const child = childOf(node, key)
      if (!isNode(child.place)) break
      start = child.place.range?.[0]
      node = child.node
    }
    return start === undefined ? undefined : lineAt(start)
  }
}

function pairsByKey({ items }: YAMLMap): ReadonlyMap<string, Pair> {
  return new Map(items.flatMap((pair) => (isScalar(pair.key) ? [[String(pair.key.value), pair]] : [])))
}
