import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  LineCounter,
  parseDocument,
  visit,
  type YAMLError,
} from 'yaml'
import type { ConfigPath } from './mistake.ts'

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
 * Parses the text of a configuration file. Whole numbers too large to be exact, as ids of Discord are, come out as
 * text. Messages never quote the source: a token may stand beside the mistake.
 */
export function readYaml(source: string): YamlFile {
  const lines = new LineCounter()
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false, intAsBigInt: true })
  const broken = [...document.errors, ...document.warnings, ...danglingAliases(document)]
  const mistakes = broken.filter(isCause).map(({ code, pos }) => describe(code, lines.linePos(pos[0]).line))
  mistakes.push(...unusableKeys(document, lines))
  const tree = mistakes.length > 0 ? {} : dataOf(document)
  if (tree === undefined) mistakes.push({ line: 1, message: OVERGROWN })
  return { tree: tree ?? {}, mistakes, lineOf: (path) => lineOf(document, path, lines) }
}

const OVERGROWN = 'aliases ("*name") repeat themselves without end here; write the values out'

/** Undefined for aliases that contain themselves, or each other so often that they would fill the memory. */
function dataOf(document: Document): unknown {
  try {
    return exactNumbers(document.toJS() ?? {})
  } catch {
    return undefined
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: 'the same key stands here twice; keep one of them',
  TAB_AS_INDENT: 'the line is indented by a tab; use spaces',
  BAD_INDENT: 'the indentation does not fit the lines above, or a bracket or quote there is not closed',
  MISSING_CHAR: 'a quote, bracket, comma or colon is missing',
  MULTILINE_IMPLICIT_KEY: 'a key must stand on one line; a colon may be missing',
  BLOCK_AS_IMPLICIT_KEY: 'a nested block cannot stand here; check the indentation, and quote a text with ": " in it',
  UNEXPECTED_TOKEN:
    'this does not belong to the lines above; is the line that begins their block a comment (#) or missing?',
  BAD_ALIAS: 'a value that begins with "*" is an alias; put it in quotes',
  TAG_RESOLVE_FAILED: 'tags ("!name") are not used here; put the value in quotes',
}

/**
 * False for what follows from an earlier mistake: after the first unexpected line the parser finds each further one so.
 */
function isCause({ code }: Pick<YAMLError, 'code'>, index: number, all: readonly Pick<YAMLError, 'code'>[]): boolean {
  return code !== 'UNEXPECTED_TOKEN' || all.findIndex((one) => one.code === code) === index
}

function describe(code: YAMLError['code'], line: number): YamlMistake {
  return { line, message: REMEDIES[code] ?? `not valid YAML (${code})` }
}

/** The parser finds them only when it resolves them, and then without a line. */
function danglingAliases(document: Document): Pick<YAMLError, 'code' | 'pos'>[] {
  const dangling: Pick<YAMLError, 'code' | 'pos'>[] = []
  visit(document, {
    Alias(_, alias) {
      const start = alias.range?.[0] ?? 0
      if (!alias.resolve(document)) dangling.push({ code: 'BAD_ALIAS', pos: [start, start] })
    },
  })
  return dangling
}

/** A key that the schema would pass over without a word: whoever is called so would be nobody (F-G09). */
function unusableKeys(document: Document, lines: LineCounter): YamlMistake[] {
  const found: YamlMistake[] = []
  visit(document, {
    Pair(_, { key }) {
      const name = isAlias(key) ? key.resolve(document) : key
      if (!isNode(key) || !isScalar(name) || name.value !== '__proto__') return
      found.push({ line: lines.linePos(key.range?.[0] ?? 0).line, message: 'no key can be `__proto__`; rename it' })
    },
  })
  return found
}

function exactNumbers(value: unknown): unknown {
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
  if (Array.isArray(value)) return value.map(exactNumbers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, exactNumbers(item)]))
}

function lineOf(document: Document, path: ConfigPath, lines: LineCounter): number | undefined {
  for (let length = path.length; length > 0; length--) {
    const start = startOf(document, path.slice(0, length))
    if (start !== undefined) return lines.linePos(start).line
  }
  return undefined
}

/** Offset of a key in its map, or of an item in its list. */
function startOf(document: Document, path: ConfigPath): number | undefined {
  const key = path.at(-1)
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true)
  if (isMap(parent)) {
    const pair = parent.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key))
    return isScalar(pair?.key) ? pair.key.range?.[0] : undefined
  }
  const node: unknown = document.getIn(path, true)
  return isNode(node) ? node.range?.[0] : undefined
}
