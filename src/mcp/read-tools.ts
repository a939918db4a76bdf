import * as z from 'zod'
import type { McpServer } from '../core/mcp.ts'
import type { ToolSpec } from '../core/model.ts'
import { namesTool } from '../core/place.ts'

/** A tool as it is offered to models, and the name by which its server knows it. */
export interface ListedTool {
  readonly spec: ToolSpec
  readonly name: string
}

/** The tools of a server, and in words what was left out of its list. */
export interface ToolList {
  readonly tools: readonly ListedTool[]
  readonly leftOut: readonly string[]
}

/** Returns a text without the values of the configured secrets. */
export type Redact = (text: string) => string

const asIs: Redact = (text) => text

const MOST_TOOLS = 100
const LONGEST_NAME = 64
/** Each word of it is paid for in every turn. */
const LONGEST_DESCRIPTION = 1_000
const LONGEST_SCHEMA = 16_000

const LISTED = z.object({
  name: z.string().min(1).max(200),
  description: z.string().nullish(),
  inputSchema: z.unknown(),
})
const OBJECT = z.object({
  type: z.literal('object'),
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  required: z.array(z.string()).optional(),
  additionalProperties: z.union([z.boolean(), z.record(z.string(), z.unknown())]).optional(),
  $defs: z.record(z.string(), z.unknown()).optional(),
  definitions: z.record(z.string(), z.unknown()).optional(),
})

/**
 * Reads what a server lists, in the order of names, whatever that of the list, so that the prompt stays the same. One
 * tool that no model could be given would make every request fail: it is left out, the others are kept. Pure.
 */
export function readTools(server: McpServer, listed: readonly unknown[], redact: Redact = asIs): ToolList {
  const tools = new Map<string, ListedTool>()
  const leftOut: string[] = []
  for (const one of listed) {
    const found = readTool(server, one, redact)
    if (found === undefined) continue
    if (typeof found === 'string') leftOut.push(found)
    else if (tools.has(found.spec.name)) leftOut.push(`${found.name} (another tool has that name)`)
    else if (tools.size === MOST_TOOLS) leftOut.push(`${found.name} (more than ${MOST_TOOLS} tools)`)
    else tools.set(found.spec.name, found)
  }
  return { tools: [...tools.values()].sort((a, b) => (a.spec.name < b.spec.name ? -1 : 1)), leftOut }
}

/** Returns the tool, why it is left out, or undefined for one that nobody wants. */
function readTool(server: McpServer, listed: unknown, redact: Redact): ListedTool | string | undefined {
  const one = LISTED.safeParse(listed)
  if (!one.success) return 'a tool without a name'
  const { name, description, inputSchema } = one.data
  if (server.tools !== undefined && !namesTool(server.tools, name)) return undefined
  const unfit = unfitSchema(inputSchema)
  if (unfit !== undefined) return `${name} (${unfit})`
  const { success, data } = OBJECT.safeParse(inputSchema)
  if (!success) return `${name} (its arguments are no object)`
  const parameters = { properties: {}, ...data }
  const unbound = unboundTool(server, name, Object.keys(data.properties ?? {}))
  if (unbound !== undefined) return `${name} (${unbound})`
  const words = redact((description ?? '').trim()).slice(0, LONGEST_DESCRIPTION)
  const clean = withoutSecrets(parameters, redact)
  if (clean === undefined) return `${name} (its arguments hold a secret)`
  return { name, spec: { name: shownName(server.name, name), description: words || name, parameters: clean } }
}

/** Returns undefined for arguments that could not be read without the secret in them, such as a number. */
function withoutSecrets(parameters: ToolSpec['parameters'], redact: Redact): ToolSpec['parameters'] | undefined {
  const text = JSON.stringify(parameters)
  const clean = redact(text)
  if (clean === text) return parameters
  try {
    return JSON.parse(clean)
  } catch {
    return undefined
  }
}

/** A schema may refer to itself, which costs nothing here; a reference to another document is followed by nobody. */
function unfitSchema(schema: unknown): string | undefined {
  const found = { characters: 0, elsewhere: false }
  try {
    const count = (key: string, value: unknown): unknown => {
      found.characters += key.length + (typeof value === 'string' ? value.length : 4)
      if (found.characters > LONGEST_SCHEMA) throw new RangeError('too long')
      if (key === '$ref' && typeof value === 'string' && !value.startsWith('#')) found.elsewhere = true
      return value
    }
    const text = JSON.stringify(schema, count) ?? ''
    if (text.length > LONGEST_SCHEMA) return 'its arguments are described at too great length'
  } catch {
    // So deep that the stack does not suffice, or stopped above.
    return 'its arguments are described at too great length'
  }
  return found.elsewhere ? 'its arguments refer to another document' : undefined
}

/** A tool of which nobody has said what its arguments are could lead out of bounds. */
function unboundTool(server: McpServer, tool: string, known: readonly string[]): string | undefined {
  if (server.bounds === undefined || server.bounds.tier === 'full') return undefined
  const taken = server.bounds.arguments.find(({ tools }) => namesTool(tools, tool))
  if (taken === undefined) return 'arguments says nothing of it'
  const ways = [...taken.paths, ...taken.command]
  if (ways.length === 0 || ways.some((way) => known.includes(way.split(/[.[]/)[0] ?? ''))) return undefined
  return `it has no argument ${ways.join(' or ')}`
}

/** Providers take letters, digits, `_` and `-`, 64 at most. */
function shownName(server: string, tool: string): string {
  return `${server}__${tool.replace(/[^a-zA-Z0-9_-]/g, '_')}`.slice(0, LONGEST_NAME)
}
