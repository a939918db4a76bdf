import { createHash } from 'node:crypto'
import { cutText } from '../../core/cut-text.ts'
import type { ModelToolCall, ToolSpec } from '../../core/model.ts'
import { newCallId } from './call-ids.ts'
import { isRecord, parseArguments } from './tool-arguments.ts'

/** Characters of the name of a tool that every provider takes. */
const LONGEST_NAME = 64

/** Name spaces that models know from their training and put before the names of tools. */
const SPACES =
  /^(?:functions?|tools?|default_api|default|api|assistant|namespace|multi_tool_use|[\w-]+(?=::))(?:::|[.:/])/i

/**
 * Returns the name of the one offered tool that a name means, which a model wrote in another spelling: with a name
 * space, a number or tokens around it, in other letters. Returns the name, of 64 characters at most, where none or
 * several could be meant.
 */
export function resolveName(name: string, tools: readonly Pick<ToolSpec, 'name'>[]): string {
  const offered = new Set(tools.map((tool) => tool.name))
  const cut = (name.split('<|')[0] ?? '').trim().replace(/^["'`]|["'`]$/g, '')
  const bare = cut.replace(SPACES, '')
  for (const exact of [name, cut, bare, cut.replace(/:\d+$/, ''), bare.replace(/:\d+$/, '')])
    if (offered.has(exact)) return exact
  const alike = [cut, bare, bare.replace(/:\d+$/, '')].map(spelled).filter((one) => one !== '')
  const meant = [...offered].filter((tool) => alike.includes(spelled(tool)))
  const [only] = meant
  return meant.length === 1 && only !== undefined ? only : cutText(name, LONGEST_NAME)
}

function spelled(name: string): string {
  return name.toLowerCase().replace(/[-_.\s]/g, '')
}

/**
 * Returns the calls that a call means: by the names of the offered tools, with arguments that were written as JSON
 * twice read, and those of `multi_tool_use.parallel` for itself.
 */
export function resolveCalls(
  call: ModelToolCall,
  offered: readonly Pick<ToolSpec, 'name' | 'parameters'>[],
): readonly ModelToolCall[] {
  const name = resolveName(call.name, offered)
  const known = offered.find((tool) => tool.name === name)
  const args = asTyped(argumentsOf(call.args), known === undefined ? [] : [{ type: 'object', ...known.parameters }])
  const several = offered.some((tool) => tool.name === name) ? undefined : severalOf(call.name, args)
  if (several === undefined) return [{ id: call.id, name, args }]
  return several.map((one) => ({
    ...{ id: newCallId(), name: resolveName(one.name, offered) },
    args: argumentsOf(one.args),
  }))
}

function argumentsOf(args: unknown): unknown {
  if (typeof args !== 'string') return args
  const read = parseArguments(args)
  if (typeof read === 'string' && read !== args) return argumentsOf(read)
  return isRecord(read) && args.trim() !== '' ? read : args
}

/**
 * Returns a value as its schema wants it where a model wrote its JSON as a text: a list, an object, a number, a truth
 * value or null. A text stays one wherever the schema takes a text, or says nothing.
 */
function asTyped(value: unknown, schemas: readonly unknown[]): unknown {
  const forms = schemas.flatMap(formsOf)
  const types = forms.flatMap(({ type }) => (type === undefined ? [] : [type].flat()))
  const takesText = types.includes('string') || forms.length === 0 || forms.some(({ type }) => type === undefined)
  const read = typeof value === 'string' && !takesText ? readAs(value, types) : value
  if (Array.isArray(read)) return asItems(read, forms)
  return isRecord(read) ? asProperties(read, forms) : read
}

function asItems(list: readonly unknown[], forms: readonly Record<string, unknown>[]): unknown {
  const items = forms.flatMap((form) => (form.items === undefined ? [] : [form.items]))
  return items.length === 0 ? list : list.map((one) => asTyped(one, items))
}

function asProperties(record: Record<string, unknown>, forms: readonly Record<string, unknown>[]): unknown {
  const known = forms.flatMap(({ properties }) => (isRecord(properties) ? [properties] : []))
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => {
      const schemas = known.flatMap((properties) => (Object.hasOwn(properties, key) ? [properties[key]] : []))
      return [key, schemas.length === 0 ? value : asTyped(value, schemas)]
    }),
  )
}

/** Returns the forms that a value may have, without those around them. */
function formsOf(schema: unknown): readonly Record<string, unknown>[] {
  if (!isRecord(schema)) return []
  const alternatives = [schema.anyOf, schema.oneOf].flatMap((list) => (Array.isArray(list) ? list : []))
  return alternatives.length === 0 ? [schema] : alternatives.flatMap(formsOf)
}

/** Python's words for what JSON writes otherwise. */
const WORDS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' }

function readAs(text: string, types: readonly unknown[]): unknown {
  const word = text.trim()
  if (word === '') return text
  const read = parseArguments(Object.hasOwn(WORDS, word) ? (WORDS[word] ?? word) : word)
  if (read === null) return null
  const type = Array.isArray(read) ? 'array' : typeof read
  const isWanted = types.includes(type) || (types.includes('integer') && Number.isSafeInteger(read))
  return isWanted && type !== 'string' ? read : text
}

interface Several {
  readonly name: string
  readonly args: unknown
}

/** The wrapper in which models of OpenAI call several tools at once, though nobody offers it. */
function severalOf(name: string, args: unknown): readonly Several[] | undefined {
  if (!/^(?:functions\.)?(?:multi_tool_use[._-])?parallel(?:<\||$)/.test(name.trim())) return undefined
  const uses: unknown = isRecord(args) ? args.tool_uses : undefined
  if (!Array.isArray(uses) || uses.length === 0) return undefined
  const several = uses.map(useOf).filter((use) => use !== undefined)
  return several.length === uses.length ? several : undefined
}

function useOf(use: unknown): Several | undefined {
  if (!isRecord(use) || typeof use.recipient_name !== 'string') return undefined
  return { name: use.recipient_name, args: use.parameters ?? {} }
}

const LEGAL = /^[a-zA-Z0-9_-]{1,64}$/
const DIGEST = 8

/**
 * Returns the name of a call as every provider accepts it in a history: letters, digits, `_` and `-`, 1 to 64 of them.
 * Names that differ stay different.
 */
export function legalName(name: string): string {
  if (LEGAL.test(name)) return name
  const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST)
  const legal = name.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, LONGEST_NAME - DIGEST - 1)
  return `${legal === '' || legal === '_' ? 'unnamed' : legal}_${digest}`
}
