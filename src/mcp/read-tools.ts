import { createHash } from 'node:crypto'
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import { cutText } from '../core/cut-text.ts'
import type { McpServer } from '../core/mcp.ts'
import type { ToolSpec } from '../core/model.ts'
import { namesTool } from '../core/place.ts'
import { isRecord } from '../core/schema-node.ts'
import { type OfferedSchema, offerSchema } from '../core/tool-schema.ts'

/** A tool as it is offered to models, and the names by which its server knows it and its arguments. */
export interface ListedTool extends Pick<OfferedSchema, 'names' | 'restore'> {
  readonly spec: ToolSpec
  readonly name: string
}

/** The tools of a server, and in words what was left out of its list. */
export interface ToolList {
  readonly tools: readonly ListedTool[]
  readonly leftOut: readonly string[]
  /** Names in the configuration that none of its tools has. */
  readonly unknown: readonly string[]
}

/** Returns a text without the values of the configured secrets. */
export type Redact = (text: string) => string

const asIs: Redact = (text) => text

const MOST_TOOLS = 100
/** Those that are looked at, of which some may be left out. */
const MOST_LOOKED = 150
const LONGEST_NAME = 64
const DIGEST = 8
/** Each word of it is paid for in every turn. */
const LONGEST_DESCRIPTION = 1_000

/** Characters of a name as the server gives it. */
const LONGEST_GIVEN = 200

const LISTED = z.object({
  name: z.string().min(1).max(LONGEST_GIVEN),
  description: z.string().nullish(),
  inputSchema: z.unknown().optional(),
})

/**
 * Reads what a server lists, in the order of names, whatever that of the list, so that the prompt stays the same. One
 * tool that no model could be given would make every request fail: it is left out, the others are kept. Everything
 * else has its turn between two tools: one may take a fifth of a second.
 */
export async function readTools(
  server: McpServer,
  listed: readonly unknown[],
  { redact = asIs, signal }: { readonly redact?: Redact | undefined; readonly signal?: AbortSignal } = {},
): Promise<ToolList> {
  let looked = 0
  const tools = new Map<string, ListedTool>()
  const leftOut: string[] = []
  const shown = shownNames(server.name, listed)
  for (const one of listed) {
    const isFull = tools.size === MOST_TOOLS || looked === MOST_LOOKED
    if (!isFull) looked++
    if (!isFull) await nextTurn()
    signal?.throwIfAborted()
    const found = isFull ? beyond(server, one) : readTool(server, one, { redact, shown })
    if (found === undefined) continue
    if (typeof found === 'string') leftOut.push(found)
    else if (tools.has(found.spec.name)) leftOut.push(`${found.name} (another tool has that name)`)
    else tools.set(found.spec.name, found)
  }
  return {
    tools: [...tools.values()].sort((a, b) => (a.spec.name < b.spec.name ? -1 : 1)),
    leftOut,
    unknown: unknownNames(server, listed),
  }
}

/** Returns the same text for lists of the same tools, in whatever order. */
export function digestOf(listed: readonly unknown[]): string {
  const tools = listed.map((tool) => JSON.stringify(tool)).sort()
  return createHash('sha256').update(tools.join()).digest('hex')
}

/** Returns the configured names of tools that a server does not have; one that ends in `*` is a beginning. */
function unknownNames({ tools = [], inside, bounds }: McpServer, listed: readonly unknown[]): string[] {
  const configured = [...tools, ...[...inside, ...(bounds?.arguments ?? [])].flatMap((entry) => entry.tools)]
  const names = listed.flatMap((one) => nameIn(one) ?? [])
  if (names.length === 0) return []
  return [...new Set(configured)].filter((name) => !names.some((tool) => namesTool([name], tool)))
}

/** Returns the name of a tool, without a look at anything else of it. */
function nameIn(listed: unknown): string | undefined {
  const { name } = isRecord(listed) ? listed : {}
  return typeof name === 'string' && name !== '' && name.length <= LONGEST_GIVEN ? name : undefined
}

/** Returns why a tool is left out for which there is no room; undefined for one that nobody wants. */
function beyond({ tools }: McpServer, listed: unknown): string | undefined {
  const name = nameIn(listed)
  if (name === undefined) return 'a tool without a name'
  const isWanted = tools === undefined || namesTool(tools, name)
  return isWanted ? `${name} (more than ${MOST_TOOLS} tools)` : undefined
}

/** Returns the tool, why it is left out, or undefined for one that nobody wants. */
function readTool(
  server: McpServer,
  listed: unknown,
  { redact, shown }: { readonly redact: Redact; readonly shown: (name: string) => string },
): ListedTool | string | undefined {
  const one = LISTED.safeParse(listed)
  if (!one.success) return 'a tool without a name'
  const { name, description, inputSchema } = one.data
  if (server.tools !== undefined && !namesTool(server.tools, name)) return undefined
  const offered = offerWithout(inputSchema, redact)
  if (typeof offered === 'string') return `${name} (${offered})`
  const { names, restore, parameters } = offered
  const unbound = unboundTool(server, name, names)
  if (unbound !== undefined) return `${name} (${unbound})`
  const words = cutText(redact((description ?? '').trim()), LONGEST_DESCRIPTION)
  return { name, names, restore, spec: { name: shown(name), description: words || name, parameters } }
}

/** Offers a schema without the secrets in it, which must not be cut before they are looked for. */
function offerWithout(schema: unknown, redact: Redact): OfferedSchema | string {
  const offered = offerSchema(schema)
  const text = typeof offered === 'string' ? '' : (JSON.stringify(schema) ?? '')
  const clean = redact(text)
  if (clean === text) return offered
  try {
    return offerSchema(JSON.parse(clean))
  } catch {
    // It could not be read without the secret in it, such as a number.
    return 'its arguments hold a secret'
  }
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

/**
 * Returns the rule for the names under which the tools of a list are offered: providers take letters, digits, `_` and
 * `-`, 64 of them at most. Names that would become the same, or are too long, end in a digest of the server's own name,
 * so that each means the same tool after a restart and in whatever order they are listed.
 */
function shownNames(server: string, listed: readonly unknown[]): (name: string) => string {
  const plain = (name: string): string => `${server}__${name.replace(/[^a-zA-Z0-9_-]/g, '_')}`
  const users = new Map<string, Set<string>>()
  for (const one of listed) {
    const name = nameIn(one)
    if (name === undefined) continue
    const known = users.get(plain(name)) ?? new Set()
    users.set(plain(name), known.add(name))
  }
  return (name) => {
    const shown = plain(name)
    const isOnly = users.get(shown)?.size === 1 || shown === `${server}__${name}`
    if (isOnly && shown.length <= LONGEST_NAME) return shown
    const digest = createHash('sha256').update(name).digest('hex').slice(0, DIGEST)
    return `${shown.slice(0, LONGEST_NAME - DIGEST - 1)}_${digest}`
  }
}
