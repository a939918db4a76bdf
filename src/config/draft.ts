import { existsSync, readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { type Document, isCollection, isScalar, parseDocument } from 'yaml'
import { ParleyError } from '../core/errors.ts'

/** The configuration as it is to be written: a new one, or the one that is there with all its lines and comments. */
export interface ConfigDraft {
  readonly document: Document
  /** The text that is there; absent for a new one. */
  readonly before?: string
}

/** A setting by its path, and its value. */
export type SettingChange = readonly [path: readonly (string | number)[], value: unknown]

const NEW = `# Written by "parley init", which changes it when it is run again. "parley config check" reads it as the daemon does;
# config/reference.md has every setting. "parley config reload" takes over who may talk, a restart everything.
agents:
  - id: main
    tools: [time] # schedule, web, memory and more: config/reference.md
models:
channels:
routing:
  # By default the owner is answered in groups unasked, and each of their words there costs a call.
  ownerAlwaysTriggers: false
  access:
    direct: owner # and whoever the owner lets in: a card comes, /admit does it
`

/** Reads the configuration to change, or begins a new one. */
export function openDraft(file: string, anew: boolean): ConfigDraft {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined
  if (before !== undefined && !anew) return { document: parseDocument(before), before }
  return { document: parseDocument(NEW), ...(before === undefined ? {} : { before }) }
}

/** Changes one setting after the other. Throws `config` for a place in which nothing can be set. */
export function applyChanges({ document }: ConfigDraft, changes: readonly SettingChange[]): void {
  for (const [path, value] of changes) {
    try {
      for (let depth = 1; depth < path.length; depth++) openBlock(document, path.slice(0, depth))
      // A plain list would be none in which the next change could look.
      document.setIn(path, typeof value === 'object' ? document.createNode(value) : value)
    } catch (cause) {
      throw new ParleyError(
        'config',
        `${path.join('.')} cannot be changed as the file is written; change it by hand.`,
        {
          cause,
        },
      )
    }
  }
}

/** An empty block, such as `channels:`, is a null in which nothing can be set. */
function openBlock(document: Document, path: readonly (string | number)[]): void {
  const node = document.getIn(path, true)
  if (isCollection(node) || (isScalar(node) && node.value !== null)) return
  if (node !== undefined && !isScalar(node)) return
  const block = document.createNode({})
  if (isScalar(node)) block.commentBefore = node.commentBefore ?? node.comment ?? null
  document.setIn(path, block)
}

/** Returns the text of the configuration. Blocks of a new one in which nothing was set are left out. */
export function textOf({ document, before }: ConfigDraft): string {
  const tree: unknown = document.toJS()
  if (before === undefined) {
    for (const name of ['models', 'channels']) if (document.get(name) === undefined) document.delete(name)
    return document.toString({ lineWidth: 0, flowCollectionPadding: false })
  }
  if (isDeepStrictEqual(parseDocument(before).toJS(), tree)) return before
  const text = document.toString({ lineWidth: 0, indentSeq: !/^- /m.test(before) })
  const kept = keepLines(text, before)
  return isDeepStrictEqual(parseDocument(kept).toJS(), tree) ? kept : text
}

/** Gives lines that were only set anew, in other spaces, back as they were written, with the empty ones before them. */
function keepLines(text: string, before: string): string {
  const bare = (line: string) => line.replaceAll(/\s/g, '')
  const indent = (line: string) => line.length - line.trimStart().length
  const old = before.split('\n')
  const lines: string[] = []
  let at = 0
  for (const line of text.split('\n')) {
    const found = line.trim() === '' ? -1 : old.findIndex((one, index) => index >= at && bare(one) === bare(line))
    const original = old[found]
    if (original === undefined || indent(original) !== indent(line)) {
      if (line.trim() !== '' || lines.at(-1)?.trim() !== '') lines.push(line)
      continue
    }
    while (lines.at(-1)?.trim() === '') lines.pop()
    let gap = found
    while (gap > at && old[gap - 1]?.trim() === '') gap--
    lines.push(...old.slice(gap, found), original)
    at = found + 1
  }
  return `${lines.join('\n').trimEnd()}\n`
}

/** Returns the changes by which a draft gets what another program had; a setting that is there stays. */
export function changesFrom(
  config: Readonly<Record<string, unknown>>,
  { document, before }: ConfigDraft,
): readonly SettingChange[] {
  const walk = (value: unknown, path: readonly string[]): SettingChange[] => {
    if (isTree(value)) return Object.entries(value).flatMap(([key, inner]) => walk(inner, [...path, key]))
    const there = document.getIn(path)
    return there === undefined || there === null || before === undefined ? [[path, value]] : []
  }
  return walk(config, [])
}

function isTree(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
}
