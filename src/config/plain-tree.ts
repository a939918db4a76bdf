import {
  type Alias,
  type Document,
  isAlias,
  isCollection,
  isMap,
  isNode,
  isScalar,
  type Node,
  type Scalar,
  visit,
  type YAMLMap,
} from 'yaml'

export interface PlainTree {
  /** Plain objects, lists, texts, numbers, booleans and nulls; of no use where there are mistakes. */
  readonly tree: unknown
  readonly mistakes: readonly { readonly offset: number; readonly message: string }[]
}

/** Limits the text that the aliases of a file stand for: as much as a file may have that writes it out. */
const MOST_ALIASED = 1024 * 1024
/** Many times what a configuration needs; much more would overflow the stack of whatever walks through the tree. */
const MOST_LEVELS = 100

export const TOO_DEEP = `nests more than ${MOST_LEVELS} levels deep, which is no configuration`
const ENDLESS = 'an alias ("*name") stands inside of the value it names; write the value out'
const TOO_LARGE = 'with this alias ("*name") the aliases stand for more than 1 MB of text; write less, or fewer of them'
const TWICE = 'the same key stands here twice; keep one of them'
const NO_NAME = 'a key is empty here (or null, or ~); write its name, in quotes if it is one of these'
const NO_TEXT = 'a list or a block stands here as a key; a key is one text: put it in quotes'
const PROTOTYPE = 'no key can be `__proto__`; rename it'

/** Returns the sentence for a text that begins with a mark that YAML has another use for. */
export function keptByYaml(mark: string): string {
  const unused = mark === '&' ? '; a name that no alias uses can go' : ''
  return `a text that begins with "${mark}" has to be in quotes: YAML keeps this mark for itself${unused}`
}

/**
 * Returns the data of a document that the parser has no objection to, every alias written out. Whole numbers too large
 * to be exact, as ids of Discord are, come out as text. Takes time in proportion to the text, aliases written out.
 */
export function toPlainTree(document: Document): PlainTree {
  const mistakes: { offset: number; message: string }[] = []
  const { targets, used } = aliasTargets(document)
  const open = new Set<Node>()
  let aliased = 0
  // The alias of the text itself, which may stand for further ones, is where a reader can shorten something.
  let outermost: Alias | undefined

  const report = (node: unknown, message: string): undefined => {
    mistakes.push({ offset: rangeOf(node)[0], message })
  }
  const dataOf = (node: unknown, level: number): unknown => {
    if (isAlias(node)) return targetOf(node, level)
    if (isScalar(node)) {
      const mark = lostMark(node)
      return mark === undefined ? exact(node.value) : report(node, keptByYaml(mark))
    }
    if (!isCollection(node)) return null
    if (level > MOST_LEVELS) return report(outermost ?? node, TOO_DEEP)
    open.add(node)
    const value = isMap(node) ? blockOf(node, level) : node.items.map((item) => dataOf(item, level + 1))
    open.delete(node)
    return value
  }
  // The parser takes the first word of such a text for a name or a tag, so that the text would be without it.
  const lostMark = (node: Scalar): string | undefined => {
    if (node.tag === '!') return '!'
    return node.anchor === undefined || used.has(node.anchor) ? undefined : '&'
  }
  const targetOf = (alias: Alias, level: number): unknown => {
    const target = targets.get(alias)
    if (target === undefined) return report(alias, keptByYaml('*'))
    if (open.has(target)) return report(alias, ENDLESS)
    if (aliased > MOST_ALIASED) return undefined
    const [start, end] = rangeOf(target)
    aliased += Math.max(end - start, 1)
    if (aliased > MOST_ALIASED) return report(outermost ?? alias, TOO_LARGE)
    const before = outermost
    outermost ??= alias
    const value = dataOf(target, level)
    outermost = before
    return value
  }
  const blockOf = ({ items }: YAMLMap, level: number): unknown => {
    const block = new Map<string, unknown>()
    for (const { key, value } of items) {
      const name = nameOf(key, level)
      if (name === undefined) continue
      if (block.has(name)) report(key, TWICE)
      block.set(name, dataOf(value, level + 1))
    }
    return Object.fromEntries(block)
  }
  const nameOf = (key: unknown, level: number): string | undefined => {
    const name = isCollection(key) ? key : dataOf(key, level)
    if (name === undefined) return undefined
    if (name === null || name === '') return report(key, NO_NAME)
    if (typeof name === 'object' || typeof name === 'symbol') return report(key, NO_TEXT)
    // The schema would pass over it without a word: whoever is called so would be nobody (F-G09).
    return name === '__proto__' ? report(key, PROTOTYPE) : String(name)
  }
  return { tree: dataOf(document.contents, 1), mistakes }
}

/** Returns what each alias stands for, the last node before it that has its name, and all names that are used. */
function aliasTargets(document: Document): {
  readonly targets: ReadonlyMap<Alias, Node>
  readonly used: ReadonlySet<string>
} {
  const named = new Map<string, Node>()
  const used = new Set<string>()
  const targets = new Map<Alias, Node>()
  visit(document, {
    Node(_, node) {
      if (isAlias(node)) used.add(node.source)
      const target = isAlias(node) ? named.get(node.source) : undefined
      if (isAlias(node) && target !== undefined) targets.set(node, target)
      else if (!isAlias(node) && node.anchor !== undefined) named.set(node.anchor, node)
    },
  })
  return { targets, used }
}

function rangeOf(node: unknown): readonly [start: number, end: number] {
  const [start = 0, end = start] = (isNode(node) && node.range) || []
  return [start, end]
}

function exact(value: unknown): unknown {
  if (typeof value !== 'bigint') return value
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value)
}
