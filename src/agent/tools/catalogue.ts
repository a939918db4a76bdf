import { ParleyError } from '../../core/errors.ts'
import type { SessionTools } from '../../core/session-tools.ts'
import type { Tool } from '../../core/turn.ts'
import type { WebTools } from '../../core/web.ts'
import { currentTime } from './current-time.ts'
import { sessionsHistory } from './sessions-history.ts'
import { sessionsList } from './sessions-list.ts'
import { sessionsSend } from './sessions-send.ts'
import { webFetch } from './web-fetch.ts'
import { webSearch } from './web-search.ts'

/**
 * The tools behind the group names of an agent's `tools:` list, each tool once; a list is looked up once. Throws
 * `config` for an unknown group.
 */
type ToolCatalogue = (groups: readonly string[]) => readonly Tool[]

/** The groups that need no file and no configuration. */
export const BUILT_IN_GROUPS = ['time', 'sessions', 'web'] as const

export interface CatalogueOptions {
  readonly timeZone: string
  readonly sessions: SessionTools
  readonly web: WebTools
  /** Groups beside the built-in ones. */
  readonly more?: Readonly<Record<string, readonly Tool[]>>
}

export function createCatalogue({ timeZone, sessions, web, more = {} }: CatalogueOptions): ToolCatalogue {
  const builtIn: Readonly<Record<(typeof BUILT_IN_GROUPS)[number], readonly Tool[]>> = {
    time: [currentTime(timeZone)],
    sessions: [sessionsList(sessions), sessionsHistory(sessions), sessionsSend(sessions)],
    web: [webFetch(web), ...(web.search ? [webSearch(web.search)] : [])],
  }
  const groups = new Map<string, readonly Tool[]>([...Object.entries(builtIn), ...Object.entries(more)])
  const chosen = new WeakMap<readonly string[], readonly Tool[]>()
  return (names) => {
    const known = chosen.get(names)
    if (known !== undefined) return known
    const tools = toolsOf(names, groups)
    chosen.set(names, tools)
    return tools
  }
}

function toolsOf(names: readonly string[], groups: ReadonlyMap<string, readonly Tool[]>): readonly Tool[] {
  const tools = new Set<Tool>()
  for (const name of names) {
    const group = groups.get(name)
    if (!group) {
      const known = [...groups.keys()].join(', ')
      throw new ParleyError('config', `There is no tool group "${name}"; known groups: ${known}.`)
    }
    for (const tool of group) tools.add(tool)
  }
  return [...tools]
}
