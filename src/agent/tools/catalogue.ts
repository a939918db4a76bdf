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
 * The tools behind the group names of an agent's `tools:` list, each tool once; a list is looked up once. `called` are
 * the names of tools that the turn has calls of. Rejects with `config` for an unknown group.
 */
type ToolCatalogue = (groups: readonly string[], called?: readonly string[]) => Promise<readonly Tool[]>

/** The tools of a group, or the way to ask for them, which never rejects. */
export type ToolGroup = readonly Tool[] | ((called: readonly string[]) => Promise<readonly Tool[]>)

/** The groups that need no file and no configuration. */
export const BUILT_IN_GROUPS = ['time', 'sessions', 'web'] as const

interface CatalogueOptions {
  readonly timeZone: string
  readonly sessions: SessionTools
  readonly web: WebTools
  /** Groups beside the built-in ones. */
  readonly more?: Readonly<Record<string, ToolGroup>>
}

export function createCatalogue({ timeZone, sessions, web, more = {} }: CatalogueOptions): ToolCatalogue {
  const builtIn: Readonly<Record<(typeof BUILT_IN_GROUPS)[number], readonly Tool[]>> = {
    time: [currentTime(timeZone)],
    sessions: [sessionsList(sessions), sessionsHistory(sessions), sessionsSend(sessions)],
    web: [webFetch(web), ...(web.search ? [webSearch(web.search)] : [])],
  }
  const groups = new Map<string, ToolGroup>([...Object.entries(builtIn), ...Object.entries(more)])
  checkNames(groups)
  const chosen = new WeakMap<readonly string[], readonly Tool[]>()
  return async (names, called = []) => {
    const known = chosen.get(names)
    if (known !== undefined) return known
    const found = groupsOf(names, groups)
    const all = await Promise.all(found.map((group) => (typeof group === 'function' ? group(called) : group)))
    const tools = [...new Set(all.flat())]
    // The tools of a server may be there with the next turn.
    if (!found.some((group) => typeof group === 'function')) chosen.set(names, tools)
    return tools
  }
}

/** No model is asked with two tools of one name. Those of servers begin with the name of theirs. */
function checkNames(groups: ReadonlyMap<string, ToolGroup>): void {
  const owners = new Map<string, { readonly group: string; readonly tool: Tool }>()
  for (const [group, tools] of groups) {
    for (const tool of typeof tools === 'function' ? [] : tools) {
      const { name } = tool.spec
      const known = owners.get(name) ?? { group, tool }
      if (known.tool !== tool)
        throw new ParleyError('config', `${group}: there is a tool ${name} already, in ${known.group}; rename yours.`)
      owners.set(name, known)
    }
  }
}

function groupsOf(names: readonly string[], groups: ReadonlyMap<string, ToolGroup>): readonly ToolGroup[] {
  return names.map((name) => {
    const group = groups.get(name)
    if (group !== undefined) return group
    const known = [...groups.keys()].join(', ')
    throw new ParleyError('config', `There is no tool group "${name}"; known groups: ${known}.`)
  })
}
