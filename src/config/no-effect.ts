import type { Channels } from '../core/channel-traits.ts'
import { mcpGroup } from '../core/mcp.ts'
import { MEMORY_GROUP } from '../core/memory.ts'
import type { ConfigFile } from './schema.ts'

/**
 * One warning for each setting that is read and checked, but does nothing: its feature does not run yet, or not there.
 */
export function noEffectWarnings(file: ConfigFile, { traits }: Channels): readonly string[] {
  const idle: string[] = []
  for (const [index, rule] of file.routing.access.groups.entries()) {
    const { channel } = rule.match
    const rooms = rule.followThreads && channel !== undefined && traits(channel).topics === 'rooms'
    if (rooms)
      idle.push(
        `routing.access.groups[${index}].followThreads: ${traits(channel).name} has no threads to follow; take it out`,
      )
  }
  for (const [index, { bots, botIds = [] }] of file.routing.access.groups.entries()) {
    if ((bots === 'mentioned' || bots === 'allow') && botIds.length === 0) {
      idle.push(`routing.access.groups[${index}].bots: no bot is listed under botIds, so none is answered`)
    }
  }
  for (const [index, { trigger, precheck }] of file.routing.access.groups.entries()) {
    if (precheck !== undefined && trigger !== 'always')
      idle.push(
        `routing.access.groups[${index}].precheck: is asked with trigger: always alone; set that, or take it out`,
      )
  }
  if (file.session.checkpoint !== undefined && !file.agents.some(({ tools }) => tools?.includes(MEMORY_GROUP)))
    idle.push('session.checkpoint: no agent has the tools memory, so there is no checkpoint; add them, or take it out')
  idle.push(...unusedServers(file))
  return idle
}

/** A server that is configured is not yet a tool of anybody. */
function unusedServers({ agents, tools: { mcp } }: ConfigFile): readonly string[] {
  const used = new Set(agents.flatMap(({ tools = [] }) => tools))
  const unused = Object.keys(mcp).filter((name) => !used.has(mcpGroup(name)))
  return unused.map((name) => `tools.mcp.${name}: no agent has its tools; add ${mcpGroup(name)} to agents[].tools`)
}
