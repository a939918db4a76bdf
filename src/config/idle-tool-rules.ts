import { namesTool } from '../core/place.ts'
import { TOOL_NAMES } from '../core/tool-names.ts'
import { suggestion } from './describe-issue.ts'
import type { ConfigFile } from './schema.ts'

/** The names that tools of the operator's own may have, and beginnings of these. */
const OWN_NAME = /^(?!.*__)[a-z][a-z0-9_]*\*?$/

/** Returns one warning for each name of a tool that no tool has: a rule that denies it would deny nothing. */
export function idleToolWarnings({ tools: { policy, mcp, own } }: ConfigFile): readonly string[] {
  const servers = Object.keys(mcp)
  const hasOwn = Object.keys(own).length > 0
  const rules = policy.flatMap(({ tools }, index) =>
    tools.flatMap((pattern, place) => {
      if (couldName(pattern, servers)) return []
      const hint = meant(pattern, servers)
      // The names of the operator's own tools are in files that are not read here.
      const couldBeOwn = hasOwn && OWN_NAME.test(pattern)
      if (couldBeOwn && hint === '') return []
      const nothing = couldBeOwn ? `so it does nothing, unless a file under tools.own has it` : 'so it does nothing'
      return [`tools.policy[${index}].tools[${place}]: no tool is called ${pattern}, ${nothing}${hint}`]
    }),
  )
  return [...rules, ...Object.entries(mcp).flatMap(([name, { tools, inside }]) => insideWarnings(name, tools, inside))]
}

/** Returns true if a tool of this kind may have the name: those of servers are known by their beginning alone. */
function couldName(pattern: string, servers: readonly string[]): boolean {
  if (TOOL_NAMES.some((tool) => namesTool([pattern], tool))) return true
  const [begins, open] = pattern.endsWith('*') ? [pattern.slice(0, -1), true] : [pattern, false]
  return servers.some((server) => begins.startsWith(`${server}__`) || (open && `${server}__`.startsWith(begins)))
}

function meant(pattern: string, servers: readonly string[]): string {
  const server = servers.find((one) => pattern.replace(/^mcp\./, '').startsWith(one))
  if (server !== undefined) return `; the tools of that server are ${server}__<tool>, all of them ${server}__*`
  const group = TOOL_NAMES.filter((tool) => tool.split('_').includes(pattern))
  return group.length > 0 ? `; a rule names tools: ${group.join(', ')}` : suggestion(pattern, TOOL_NAMES)
}

type Server = ConfigFile['tools']['mcp'][string]

function insideWarnings(name: string, tools: Server['tools'], inside: Server['inside']): readonly string[] {
  const marked = inside.flatMap((one) => (typeof one === 'string' ? [one] : one.tools))
  const left = marked.filter((one) => tools !== undefined && !one.endsWith('*') && !namesTool(tools, one))
  return left.map((one) => `tools.mcp.${name}.inside: ${one} is not among tools, so no agent has it; add it there`)
}
