import type * as z from 'zod'
import { nearMatch } from '../core/near-match.ts'
import { configJsonSchema, type JsonSchema } from './json-schema.ts'
import { type ConfigPath, formatPath, type Mistake } from './mistake.ts'
import type { ChannelCatalogue } from './schema.ts'

/** Says in plain words what a value must be; schemas that bring their own words keep them. Never shows the value. */
export const describeIssue: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined
        ? `is missing; it must be ${kind(issue.expected)}`
        : (wrongNumber(issue) ?? `must be ${kind(issue.expected)}, not ${kindOf(issue.input)}`)
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}${suggestion(issue.input, issue.values.map(String))}`
    case 'too_small':
      return issue.origin === 'string' || issue.origin === 'array'
        ? 'is empty; fill it in or leave the key out'
        : `must be ${issue.inclusive ? 'at least' : 'more than'} ${issue.minimum}`
    case 'too_big':
      return tooBig(issue)
    case 'invalid_format':
      return issue.format === 'url' ? wrongAddress(issue.input) : 'has the wrong form'
    case 'invalid_union':
      return nearestForm(issue.errors)
    default:
      return 'has the wrong form'
  }
}

function wrongAddress(typed: unknown): string {
  return typeof typed === 'string' && /^https?:\/\//i.test(typed)
    ? 'is no valid address: check its host and its port'
    : 'must be an address that begins with http:// or https://'
}

/** Returns what is wrong by the one of several forms that the value has from outside. */
function nearestForm(forms: readonly (readonly z.core.$ZodIssue[])[]): string {
  const first = forms.flatMap(([issue]) => issue ?? [])
  const typed = first.filter(({ code, path }) => path.length > 0 || code !== 'invalid_type')
  const inner = typed.filter(({ path }) => path.length > 0)
  const [found, ...others] = inner.length > 0 ? inner : typed
  if (found === undefined || others.length > 0) return 'has the wrong form'
  // The word of a form that has one is not all that may stand there.
  const kinds = first.flatMap((one) =>
    one.code === 'invalid_type' && one.path.length === 0 ? [kind(one.expected)] : [],
  )
  return kinds.length === 0
    ? found.message
    : found.message.replace(/^must be one of (?=[^,]+$)/, `must be ${kinds.join(' or ')} or `)
}

function tooBig({ origin, maximum }: { readonly origin: string; readonly maximum: unknown }): string {
  if (origin === 'array') return `has more than ${maximum} entries`
  return `must be at most ${maximum}${origin === 'string' ? ' characters long' : ''}`
}

/** The issues of a failed parse of `tree` as mistakes; an unknown key comes with the key that was probably meant. */
export function explainIssues(
  issues: readonly z.core.$ZodIssue[],
  { catalogue, tree }: { readonly catalogue: ChannelCatalogue; readonly tree: unknown },
): Mistake[] {
  const root = issues.some((issue) => issue.code === 'unrecognized_keys' || issue.code === 'invalid_type')
    ? configJsonSchema(catalogue)
    : {}
  // A value of another type is measured all the same: its length says nothing.
  const typed = issues.filter(({ code }) => code === 'invalid_type').map(({ path }) => formatPath(path))
  const telling = issues.filter(({ code, path }) => code !== 'too_big' || !typed.includes(formatPath(path)))
  return telling.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(root, issue.path, key))
    if (issue.code === 'invalid_key') return [badKey(issue)]
    const form = issue.code === 'invalid_type' ? rightForm(issue, { root, tree }) : ''
    return [{ path: issue.path, message: `${formatPath(issue.path) || 'the file'}: ${issue.message}${form}` }]
  })
}

/** Returns how a list or a block is written that stands there in another form, or as one value. */
function rightForm(
  { expected, path }: z.core.$ZodIssueInvalidType,
  { root, tree }: { readonly root: JsonSchema; readonly tree: unknown },
): string {
  const written = path.reduce<unknown>((value, key) => (isBlock(value) ? value[key as string] : undefined), tree)
  if (written === undefined || written === null || path.length === 0) return ''
  const { items, properties = {} } = schemaAt(root, path) ?? {}
  if (expected === 'array') return listForm(items ?? {}, written)
  if (expected !== 'object' && expected !== 'record') return ''
  const name = String(path.at(-1))
  if (Object.hasOwn(properties, name)) return `; \`${name}\` belongs ${placeName([...path.slice(0, -1), '<name>'])}`
  if (Array.isArray(written))
    return `; write each entry under its name, without a dash or brackets${keysOf(root, path)}`
  const only = typeof written === 'string' ? onlyKey(schemaAt(root, path)) : undefined
  return keysOf(root, path) || (only === undefined ? '' : `; write { ${only}: … }`)
}

/** Returns the key that a block has to have, where there is one alone: a text in place of the block is its value. */
function onlyKey(schema: JsonSchema | undefined): string | undefined {
  const needed = Array.isArray(schema?.required) ? schema.required : []
  return needed.length === 1 ? String(needed[0]) : undefined
}

function listForm(items: JsonSchema, written: unknown): string {
  const { properties: known } = items
  if (!isBlock(written)) {
    const only = onlyKey(items)
    return `; put it in brackets: [${only === undefined ? ' … ' : `{ ${only}: … }`}]`
  }
  const keys = Object.keys(written)
  if (known === undefined) return `; write the names in brackets: [${keys.join(', ')}]`
  const isEntry = keys.length === 0 || keys.some((key) => Object.hasOwn(known, key))
  if (isEntry) return '; it is one entry of it: begin it with "- ", or put brackets around it: [{ … }]'
  const id = Object.hasOwn(known, 'id') ? `- id: ${keys[0]}` : '-'
  return `; each entry begins with "- " and none has a name before it: "${id}" in place of "${keys[0]}:"`
}

function isBlock(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** More keys than these make the line too long to read. */
const MOST_KEYS = 6

function keysOf(root: JsonSchema, path: ConfigPath): string {
  const keys = Object.keys(schemaAt(root, path)?.properties ?? {})
  return keys.length === 0 || keys.length > MOST_KEYS ? '' : `; known: ${keys.join(', ')}`
}

/** Also for lists of names that no schema knows, such as tool groups. */
export function suggestion(typed: unknown, candidates: readonly string[]): string {
  const near = typeof typed === 'string' ? nearMatch(typed, candidates) : undefined
  return near === undefined ? '' : `; did you mean \`${near}\`?`
}

/** Its hint is looked for when the message is read, which is not so of the many that no error lists. */
function unknownKey(root: JsonSchema, path: ConfigPath, key: string): Mistake {
  const where = path.length === 0 ? 'at top level' : `in ${formatPath(path)}`
  return {
    path: [...path, key],
    get message() {
      return `unknown key \`${key}\` ${where}${keyHint(root, path, key)}`
    },
  }
}

/** Names that other programs have for the same, as their pages show them to be copied. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ['mcpServers', 'mcp'],
  ['url', 'baseUrl'],
  ['host', 'baseUrl'],
  ['endpoint', 'baseUrl'],
  ['key', 'apiKey'],
  ['token', 'apiKey'],
  ['type', 'kind'],
  ['provider', 'kind'],
])

/** The same below tools.mcp, where other programs have more keys; the words say what to do. */
const OTHER_NAMES_OF_MCP: ReadonlyMap<string, string> = new Map([
  ...['type', 'transport', 'transportType'].map((key) => [key, 'leave it out: command or url says it'] as const),
  ...['httpUrl', 'serverUrl', 'endpoint'].map((key) => [key, 'here it is url'] as const),
  ...['token', 'apiKey', 'auth', 'bearerToken'].map((key) => [key, 'write it under headers'] as const),
  ...['cwd', 'workingDirectory'].map((key) => [key, 'here it is folder'] as const),
  ...['timeout', 'timeoutMs'].map((key) => [key, 'here it is timeoutSeconds'] as const),
  ...['autoApprove', 'alwaysAllow', 'trust'].map((key) => [key, 'here it is inside'] as const),
  ...['includeTools', 'allowedTools', 'enabledTools'].map((key) => [key, 'here it is tools'] as const),
  ...['disabled', 'enabled'].map((key) => [key, 'take its group out of the tools of the agents instead'] as const),
  ['environment', 'here it is env'],
])

function keyHint(root: JsonSchema, path: ConfigPath, key: string): string {
  const ofMcp = path.length === 3 && path[0] === 'tools' && path[1] === 'mcp' ? OTHER_NAMES_OF_MCP.get(key) : undefined
  if (ofMcp !== undefined) return `; ${ofMcp}`
  const siblings = Object.keys(schemaAt(root, path)?.properties ?? {})
  const own = OTHER_NAMES.get(key)
  const near = own !== undefined && siblings.includes(own) ? suggestion(own, [own]) : suggestion(key, siblings)
  const block = schemaAt(root, path) ?? {}
  const elsewhere = placesOf(root, key, path)
  if (elsewhere !== undefined)
    return near === '' ? `; it belongs ${elsewhere}` : `${near} \`${key}\` belongs ${elsewhere}`
  if (near !== '') return near
  const renamed = own === undefined ? undefined : (placeOf(block, own, path) ?? placeOf(root, own))
  if (renamed !== undefined) return `; here it is ${own}, ${renamed}`
  return siblings.length === 0 ? '' : `; known: ${siblings.filter((name) => name !== '$schema').join(', ')}`
}

function badKey(issue: z.core.$ZodIssueInvalidElement | z.core.$ZodIssueInvalidKey): Mistake {
  const why = issue.issues[0]?.message ?? 'has the wrong form'
  return { path: issue.path, message: `${formatPath(issue.path)}: the name ${why}` }
}

function schemaAt(root: JsonSchema, path: ConfigPath): JsonSchema | undefined {
  return path.reduce<JsonSchema | undefined>((schema, key) => {
    if (typeof key === 'number') return schema?.items
    const inner = schema?.properties?.[String(key)] ?? schema?.additionalProperties
    return typeof inner === 'object' ? inner : undefined
  }, root)
}

/** Returns the blocks that know a misplaced key: those nearest to it, else any. */
function placesOf(root: JsonSchema, key: string, path: ConfigPath): string | undefined {
  const inside = placeOf(schemaAt(root, path) ?? {}, key, path)
  const near = [placeAround(root, key, path), inside].filter((place) => place !== undefined)
  return near.join(' or ') || placeOf(root, key)
}

/** Returns the nearest block around a misplaced key that knows it, which is not the whole file. */
function placeAround(root: JsonSchema, key: string, path: ConfigPath): string | undefined {
  const around = path.map((_, depth) => path.slice(0, depth)).filter((at) => at.length > 0)
  const known = around.findLast((at) => Object.hasOwn(schemaAt(root, at)?.properties ?? {}, key))
  return known === undefined ? undefined : placeName(known)
}

/** Returns the block that knows a misplaced key, the outermost of several: `under session`, `at top level`. */
function placeOf(schema: JsonSchema, key: string, path: ConfigPath = []): string | undefined {
  for (let level: readonly (readonly [JsonSchema, ConfigPath])[] = [[schema, path]]; level.length > 0; ) {
    for (const [{ properties = {} }, at] of level) if (Object.hasOwn(properties, key)) return placeName(at)
    level = level.flatMap(([{ properties = {}, items, additionalProperties }, at]) => [
      ...Object.entries(properties).map(([name, inner]) => [inner, [...at, name]] as const),
      ...(items === undefined ? [] : [[items, [...at, 0]] as const]),
      ...(isBlock(additionalProperties) ? [[additionalProperties as JsonSchema, [...at, '<name>']] as const] : []),
    ])
  }
  return undefined
}

function placeName(path: ConfigPath): string {
  return path.length === 0 ? 'at top level' : `under ${formatPath(path)}`
}

const KINDS: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a block of keys',
  record: 'a block of keys',
  null: 'empty',
}

/** Undefined for what is no number at all. A whole number that is too large to be exact has become text. */
function wrongNumber({ expected, input }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidType>): string | undefined {
  if (expected !== 'number' && expected !== 'int') return undefined
  if (typeof input === 'number') {
    return Number.isFinite(input) ? 'must be a whole number, not a fraction' : 'must be a finite number'
  }
  return typeof input === 'string' && /^-?\d{16,}$/.test(input) ? 'is too large a number' : undefined
}

function kind(expected: string): string {
  return KINDS[expected] ?? expected
}

function kindOf(value: unknown): string {
  if (value === null) return 'empty'
  if (Array.isArray(value)) return 'a list'
  return kind(typeof value)
}
