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
  const args = asNested(argumentsOf(call.args), offered.find((tool) => tool.name === name)?.parameters)
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

/** Returns arguments with each that has to be a list or an object read, where a model wrote it as a text. */
function asNested(args: unknown, parameters: ToolSpec['parameters'] | undefined): unknown {
  const properties = parameters?.properties
  if (!isRecord(args) || !isRecord(properties)) return args
  return Object.fromEntries(
    Object.entries(args).map(([key, value]) => {
      const schema = Object.hasOwn(properties, key) ? properties[key] : undefined
      const type = isRecord(schema) ? schema.type : undefined
      if (typeof value !== 'string' || (type !== 'array' && type !== 'object')) return [key, value]
      const read = parseArguments(value)
      return [key, Array.isArray(read) === (type === 'array') && typeof read === 'object' ? read : value]
    }),
  )
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
