import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { ParleyError } from '../core/errors.ts'
import type { McpBounds, McpServer } from '../core/mcp.ts'
import { namesTool } from '../core/place.ts'
import type { ListedTool } from './read-tools.ts'
import { absolutePath, leadsInto, type PathBase } from './real-path.ts'

type Args = Readonly<Record<string, unknown>>
/** A tool by its server's own names. */
type Bound = Pick<ListedTool, 'name' | 'names'>

/**
 * Returns the arguments as they are passed on: paths are absolute, without `..` and `~`, and lead into the folders of
 * the tier (C47), now, through every link. Throws `forbidden` in words for the model. A server without bounds gets what
 * the model wrote.
 */
export async function boundCall(server: McpServer, { name, names }: Bound, args: Args): Promise<Args> {
  const { bounds } = server
  const taken = bounds?.arguments.find(({ tools }) => namesTool(tools, name))
  if (bounds === undefined || taken === undefined) return args
  const known = [...taken.paths, ...taken.command].map((way) => way.split(/[.[]/)[0])
  const odd = Object.keys(args).find((key) => !known.includes(key) && !names.includes(key))
  if (odd !== undefined) throw denied('it has an argument that the tool does not list.')
  const at = { bounds, base: baseOf(server) }
  let passed = args
  for (const way of taken.paths) passed = await changeValues(passed, way, (text) => passedPath(text, way, at))
  if (taken.command.length > 0) await checkCommand(passed, taken.command, at)
  return passed
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

/**
 * Returns the arguments with each value that `way` names (`path`, `edits[].path`, `paths[]`) replaced by what `change`
 * returns. Nothing is done where an argument was left out. Throws `forbidden` where something else than a text stands
 * there: it is not known what a server makes of it.
 */
async function changeValues(args: Args, way: string, change: (value: string) => Promise<string>): Promise<Args> {
  const steps = way.split('.').flatMap((name) => name.split(/(?=\[\])/))
  return (await changed(args, steps, change, way)) as Args
}

/** Returns the texts that `way` names. */
async function valuesAt(args: Args, way: string): Promise<readonly string[]> {
  const found: string[] = []
  await changeValues(args, way, async (value) => {
    found.push(value)
    return value
  })
  return found
}

async function changed(
  value: unknown,
  [step, ...rest]: readonly string[],
  change: (value: string) => Promise<string>,
  way: string,
): Promise<unknown> {
  if (step === undefined) {
    if (typeof value === 'string') return change(value)
    throw unknownShape(way)
  }
  if (step === '[]') {
    if (!Array.isArray(value)) throw unknownShape(way)
    return Promise.all(value.map((one) => changed(one, rest, change, way)))
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw unknownShape(way)
  const inside: Args = { ...value }
  return Object.hasOwn(inside, step) ? { ...inside, [step]: await changed(inside[step], rest, change, way) } : inside
}

function unknownShape(way: string): ParleyError {
  return new ParleyError('forbidden', `Denied: the argument ${way} has a form that cannot be checked.`)
}

/** Characters by which a shell does more than to start one program, and everything that is no printed character. */
const SHELL = /[;&|<>()$`\\"'*?[\]{}~#!]|[^\P{C}]|[^\P{Z} ]/u

/**
 * `listed`: the operator has listed this very command. `program`: an allowed program with these words behind it.
 * `refused`: neither.
 */
type ReadCommand =
  | { readonly kind: 'listed' }
  | { readonly kind: 'program'; readonly words: readonly string[] }
  | { readonly kind: 'refused'; readonly why: string }

/** Reads a command: a line first, or its program, then further words. Pure. */
function readCommand([line = '', ...more]: readonly string[], allowed: readonly string[]): ReadCommand {
  if (allowed.includes([line, ...more].join(' '))) return { kind: 'listed' }
  if ([line, ...more].some((one) => SHELL.test(one))) return { kind: 'refused', why: 'has characters of a shell in it' }
  const [program = '', ...words] = line.split(/ +/)
  if (program === '' || !allowed.includes(program)) return { kind: 'refused', why: 'begins with no allowed program' }
  // Some servers put the words together again, and a shell takes them apart at each space.
  const apart = more.flatMap((word) => (word.includes(' ') ? [word, ...word.split(' ')] : [word]))
  return { kind: 'program', words: [...words, ...apart].filter((word) => word !== '') }
}

/** Programs find a path behind one of these: `if=/x`, `@/x`, `a:/x`, `a,/x`, `+/x`. */
const MARK = /[=@:,+]/g
const LONGEST_OPTION = 100

/**
 * Returns what a program may take for a path in a word behind it: the word, and whatever stands in it behind a mark.
 * Returns undefined for an option in which a path may stand without one (`-C/x`, `-C..`).
 */
function pathsIn(word: string): readonly string[] | undefined {
  const marks = [...word.matchAll(MARK)].map(({ index }) => index)
  const behind = marks.map((at) => word.slice(at + 1)).filter((part) => part !== '')
  if (!word.startsWith('-')) return [word, ...behind]
  const option = word.slice(0, marks[0]).normalize('NFKC')
  if (option.includes('/') || option.includes('..') || option.length > LONGEST_OPTION) return undefined
  // A link of the folder may lead out of it: `-Clink`, also behind other letters.
  const glued = option.startsWith('--') ? [] : [...option].slice(2).map((_, at) => option.slice(at + 2))
  return [...glued, ...behind]
}
