import {
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  type Pair,
  parseDocument,
  type YAMLError,
  type YAMLMap,
} from 'yaml'
import type { ConfigPath } from './mistake.ts'
import { DANGLING, TOO_DEEP, toPlainTree } from './plain-tree.ts'

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
    return { tree: {}, mistakes: causes(broken).map(({ code, pos }) => describe(code, lineAt(pos[0]))), lineOf }
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
  BAD_ALIAS: DANGLING,
  RESOURCE_EXHAUSTION: TOO_DEEP,
  TAG_RESOLVE_FAILED: 'tags ("!name") are not used here; put the value in quotes',
}

/** Leaves out what follows from an earlier mistake: after the first unexpected line each further one is so, too. */
function causes<One extends Pick<YAMLError, 'code'>>(all: readonly One[]): readonly One[] {
  const first = all.findIndex(({ code }) => code === 'UNEXPECTED_TOKEN')
  return all.filter(({ code }, index) => code !== 'UNEXPECTED_TOKEN' || index === first)
}

function describe(code: YAMLError['code'], line: number): YamlMistake {
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
