import * as z from 'zod'
import type { OwnCommand, OwnTool } from '../../config/own-tools.d.ts'
import type { ChatCommand } from '../core/command.ts'
import { ParleyError, toError } from '../core/errors.ts'
import { ownGroup } from '../core/own-group.ts'
import { TOOL_NAMES } from '../core/tool-names.ts'
import type { Tool } from '../core/turn.ts'
import { chatCommandOf, type OwnDeps, toolOf } from './own-tool.ts'

/** The tools and commands of the files that the configuration names. */
export interface LoadedOwnTools {
  /** The tools of each file by its group, `own.<name>`. */
  readonly groups: Readonly<Record<string, readonly Tool[]>>
  readonly commands: readonly ChatCommand[]
}

/** A file of the configuration, under its name there. */
export interface OwnToolsFile {
  readonly name: string
  /** An absolute path. */
  readonly path: string
}

interface OwnFiles {
  readonly ownTools?: readonly OwnToolsFile[]
}

const text = z.string().min(1).max(2_000)
const run = z.custom<(...args: never[]) => unknown>((value) => typeof value === 'function', 'must be a function')
const TOOL = z.object({
  name: z.string().regex(/^(?!.*__)[a-z][a-z0-9_]{0,63}$/, 'must be a-z 0-9 and single _, at most 64'),
  description: text,
  parameters: z.looseObject({ type: z.literal('object') }).optional(),
  reach: z.enum(['inside', 'beyond']).optional(),
  foreign: z.boolean().optional(),
  repeatable: z.boolean().optional(),
  timeoutSeconds: z.int().min(1).max(3_600).optional(),
  run,
})
const COMMAND = z.object({
  name: z.string().regex(/^[a-z][a-z0-9_]{0,31}$/, 'must be a-z 0-9 _, at most 32'),
  description: text,
  args: text.optional(),
  who: z.enum(['anyone', 'owner']).optional(),
  run,
})
const FILE = z.object({ tools: z.array(TOOL).default([]), commands: z.array(COMMAND).default([]) })

/**
 * Loads the files, in TypeScript or JavaScript, and checks what they export. The loader itself is loaded only if there
 * is a file. Throws `config` naming the file and what is wrong with it.
 */
export async function loadOwnTools({ ownTools = [] }: OwnFiles, deps: OwnDeps): Promise<LoadedOwnTools> {
  const groups: Record<string, readonly Tool[]> = {}
  const commands: ChatCommand[] = []
  const owners = new Map<string, string>()
  for (const file of ownTools) {
    const own = await readOwnTools(file)
    for (const { name } of own.tools) {
      const there = TOOL_NAMES.includes(name) ? 'Parley itself' : owners.get(name)
      if (there !== undefined)
        throw new ParleyError(
          'config',
          `tools.own.${file.name}: there is a tool ${name} already, of ${there}; rename yours.`,
        )
      owners.set(name, `tools.own.${file.name}`)
    }
    groups[ownGroup(file.name)] = own.tools.map((tool) => toolOf(tool, deps))
    commands.push(...own.commands.map((command) => chatCommandOf(command, deps)))
  }
  return { groups, commands }
}

/** Returns all commands together. Throws `config` where one of the operator's own has a name that is taken. */
export function withOwnCommands(known: readonly ChatCommand[], own: readonly ChatCommand[]): readonly ChatCommand[] {
  const all = [...known]
  for (const command of own) {
    if (all.some(({ name }) => name === command.name))
      throw new ParleyError('config', `tools.own: there is a command /${command.name} already; rename yours.`)
    all.push(command)
  }
  return all
}

async function readOwnTools({
  name,
  path,
}: OwnToolsFile): Promise<{ readonly tools: readonly OwnTool[]; readonly commands: readonly OwnCommand[] }> {
  const { data, error } = FILE.safeParse(await exportOf(name, path))
  // The functions are the file's own; their types are what it promises.
  if (data !== undefined) return data as never
  const [issue] = error.issues
  const at = issue === undefined || issue.path.length === 0 ? 'its default export' : issue.path.join('.')
  throw new ParleyError('config', `tools.own.${name}: ${path}: ${at}: ${issue?.message}`)
}

async function exportOf(name: string, path: string): Promise<unknown> {
  const { createJiti } = await import('jiti')
  try {
    // Nothing is cached on disk, where somebody else could change it.
    return await createJiti(path, { fsCache: false, interopDefault: true }).import(path, { default: true })
  } catch (error) {
    throw new ParleyError('config', `tools.own.${name}: ${path} cannot be loaded: ${toError(error).message}`)
  }
}
