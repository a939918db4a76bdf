import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { ParleyError } from '../core/errors.ts'
import type { McpBounds, McpServer } from '../core/mcp.ts'
import { namesTool } from '../core/place.ts'
import { changeValues, valuesAt } from './argument-values.ts'
import { pathsIn, readCommand } from './read-command.ts'
import type { ListedTool } from './read-tools.ts'
import { absolutePath, leadsInto, type PathBase } from './real-path.ts'

type Args = Readonly<Record<string, unknown>>

/**
 * Returns the arguments as they are passed on: paths are absolute, without `..` and `~`, and lead into the folders of
 * the tier (C47), now, through every link. Throws `forbidden` in words for the model. A server without bounds gets what
 * the model wrote.
 */
export async function boundCall(server: McpServer, { name, spec }: ListedTool, args: Args): Promise<Args> {
  const { bounds } = server
  const taken = bounds?.arguments.find(({ tools }) => namesTool(tools, name))
  if (bounds === undefined || taken === undefined) return args
  const known = [...taken.paths, ...taken.command].map((way) => way.split(/[.[]/)[0])
  const odd = Object.keys(args).find((key) => !known.includes(key) && !isListed(spec.parameters, key))
  if (odd !== undefined) throw denied('it has an argument that the tool does not list.')
  const at = { bounds, base: baseOf(server) }
  let passed = args
  for (const way of taken.paths) passed = await changeValues(passed, way, (text) => passedPath(text, way, at))
  if (taken.command.length > 0) await checkCommand(passed, taken.command, at)
  return passed
}

function isListed(parameters: Args, key: string): boolean {
  const { properties } = parameters
  return typeof properties === 'object' && properties !== null && Object.hasOwn(properties, key)
}

interface Bounded {
  readonly bounds: McpBounds
  readonly base: PathBase
}

async function passedPath(text: string, way: string, { bounds, base }: Bounded): Promise<string> {
  if (bounds.tier === 'full') return text
  const meant = absolutePath(text, base)
  if (meant === undefined)
    throw denied(`the argument ${way} is no plain path. Write an absolute one, without quotes, escapes or a scheme.`)
  if (await leadsInto(bounds.folders, meant.path)) return meant.passed
  throw denied(`the argument ${way} leads outside of ${bounds.folders.join(', ')}, which is all that may be reached.`)
}

async function checkCommand(args: Args, ways: readonly string[], { bounds, base }: Bounded): Promise<void> {
  const [first = [], ...more] = await Promise.all(ways.map((way) => valuesAt(args, way)))
  // Without the first value the next one would be taken for the program.
  const command = readCommand(first.length === 0 ? [] : [...first, ...more.flat()], bounds.allowedCommands)
  if (command.kind === 'refused') {
    throw denied(`the command ${command.why}. Allowed: ${bounds.allowedCommands.join(', ') || 'none'}.`)
  }
  if (command.kind === 'listed' || bounds.tier === 'full') return
  for (const word of command.words) {
    const within = pathsIn(word)?.map((path) => isWithin(path, { bounds, base }))
    if (within === undefined || (await Promise.all(within)).includes(false))
      throw denied(`a word of the command leads outside of ${bounds.folders.join(', ')}.`)
  }
}

/** In a command, `host:x` may be a file of that name: it is checked as one, beside the part behind the colon. */
const ELSEWHERE = /^(?!file:)[a-z][a-z0-9+.-]*:/i

async function isWithin(path: string, { bounds: { folders }, base }: Bounded): Promise<boolean> {
  const meant = absolutePath(ELSEWHERE.test(path) ? `./${path}` : path, base)
  return meant !== undefined && leadsInto(folders, meant.path)
}

/** A program expands `~` by its own variables, and begins in its folder; where another machine begins is not known. */
function baseOf({ at }: McpServer): PathBase {
  if (at.kind === 'address') return {}
  return { folder: at.folder ?? resolve('.'), home: at.env.HOME ?? homedir() }
}

function denied(why: string): ParleyError {
  return new ParleyError('forbidden', `Denied: ${why}`)
}
