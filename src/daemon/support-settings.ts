import type { JsonSchema } from '../config/json-schema.ts'

type Leaf = string | number | boolean | null

/** Settings whose values are ids, wherever they stand. */
const IDS = new Set(['chat', 'topic', 'space', 'sender', 'person', 'ids', 'botIds', 'account', 'digestOf', 'deliverTo'])
const MOST_SETTINGS = 2_000
const LONGEST_WORD = 40

/**
 * Replaces the names and ids of one file by numbers: the same name has the same number everywhere in it, and nothing
 * leads back to it.
 */
export class Pseudonyms {
  readonly #known = new Map<string, string>()
  readonly #counts = new Map<string, number>()

  of(kind: string, name: string): string {
    const key = name.trim().toLowerCase()
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    const pseudonym = `${kind} ${count}`
    this.#known.set(key, pseudonym)
    return pseudonym
  }
}

/** The words that are Parley's own: the names of settings, those of numbers among them, and the values they offer. */
export interface OwnWords {
  readonly settings: ReadonlySet<string>
  readonly numbers: ReadonlySet<string>
  readonly values: ReadonlySet<string>
}

/** Returns the words of the schema of the configuration. */
export function ownWords(schema: JsonSchema, channels: readonly string[]): OwnWords {
  const settings = new Set<string>()
  const numbers = new Set<string>()
  const values = new Set<string>(channels)
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    const { properties = {}, enum: offered, const: only } = node as JsonSchema
    for (const name of Object.keys(properties)) settings.add(name)
    for (const name of numbersIn(properties)) numbers.add(name)
    for (const text of [only, ...(Array.isArray(offered) ? offered : [])].filter(isWord)) values.add(text)
    for (const inner of Object.values(node)) visit(inner)
  }
  visit(schema)
  return { settings, numbers, values }
}

function isWord(text: unknown): text is string {
  return typeof text === 'string' && text.length <= LONGEST_WORD
}

function numbersIn(properties: NonNullable<JsonSchema['properties']>): readonly string[] {
  return Object.entries(properties).flatMap(([name, setting]) => (isNumber(setting) && name !== 'id' ? [name] : []))
}

function isNumber({ type, anyOf, items }: JsonSchema): boolean {
  const forms = [...(Array.isArray(anyOf) ? anyOf : []), ...(items === undefined ? [] : [items])]
  return type === 'number' || type === 'integer' || forms.some(isNumber)
}

/**
 * Returns each setting of a file by its path, with only that of its value which is Parley's own: a switch, a number, a
 * word that a setting offers, a time. Every other text is replaced by its length, every name and id by a number.
 */
export function plainSettings(
  tree: unknown,
  { words, names }: { readonly words: OwnWords; readonly names: Pseudonyms },
): Readonly<Record<string, Leaf>> {
  const found: Record<string, Leaf> = {}
  const visit = (value: unknown, path: readonly string[]): void => {
    if (Object.keys(found).length >= MOST_SETTINGS) return
    if (Array.isArray(value)) {
      value.forEach((one, at) => {
        visit(one, [...path, String(at)])
      })
    } else if (typeof value === 'object' && value !== null) {
      for (const [key, one] of Object.entries(value)) visit(one, [...path, keyIn(key, path, { words, names })])
    } else found[path.join('.')] = plainValue(value, path, { words, names })
  }
  visit(tree, [])
  return found
}

interface Replacing {
  readonly words: OwnWords
  readonly names: Pseudonyms
}

const KINDS: Readonly<Record<string, string>> = {
  ...{ people: 'person', accounts: 'account', models: 'server', mcp: 'tool server', own: 'tool', only: 'id' },
  ...{ env: 'variable', headers: 'header' },
}

/** Under some settings stand names that people choose, and one of them may be a word of ours. */
function keyIn(key: string, path: readonly string[], { words, names }: Replacing): string {
  const kind = KINDS[path.at(-1) ?? '']
  const isOwn = words.settings.has(key) && (kind === undefined || path.at(-1) === 'models')
  return isOwn ? key : names.of(kind ?? 'name', key)
}

function plainValue(value: unknown, path: readonly string[], replacing: Replacing): Leaf {
  const setting = path.filter((one) => !/^\d+$/.test(one)).at(-1) ?? ''
  if (typeof value === 'boolean' || value === null || value === undefined) return value ?? null
  if (IDS.has(setting)) return placeOf(String(value), replacing)
  const isAmount = typeof value === 'number' && replacing.words.numbers.has(setting)
  return isAmount ? value : plainText(String(value), { setting, path }, replacing)
}

function plainText(
  text: string,
  { setting, path }: { readonly setting: string; readonly path: readonly string[] },
  { words, names }: Replacing,
): string {
  const [, reference] = /^\s*\$\{(env|file|credential):[^}]*\}\s*$/.exec(text) ?? []
  if (reference !== undefined) return `from ${reference}`
  const isTime = setting === 'cron' ? /^[\d*/,\-? ]{1,60}$/.test(text) : setting === 'timezone' && isZone(text)
  if (words.values.has(text) || isTime) return text
  if (!/^(?:id|agent|name)$/.test(setting)) return `text of ${text.length} characters`
  return names.of(setting === 'id' && path[0] === 'schedules' ? 'schedule' : 'agent', text)
}

/** Returns the address or id of a place or person with what is its platform's, and the rest replaced. */
function placeOf(text: string, { words, names }: Replacing): string {
  const parts = text.split(/(?<=[:/@])|(?=[:/@])/)
  return parts.map((part) => (/^[:/@]$/.test(part) || words.values.has(part) ? part : names.of('id', part))).join('')
}

function isZone(text: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone.length > 0
  } catch {
    return false
  }
}
