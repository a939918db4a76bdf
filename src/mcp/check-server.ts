import { errorCode, ParleyError, toError } from '../core/errors.ts'
import type { CheckedTool, McpCheck, McpServer } from '../core/mcp.ts'
import { namesTool } from '../core/place.ts'
import { type ConnectionDeps, createConnection } from './connection.ts'

/** Lines of what a program printed last that are shown of one that does not answer. */
const MOST_PRINTED = 20

/**
 * Connects to a server, lists its tools and ends the connection. Throws `unavailable` for one that does not answer,
 * with what its program printed last: there it mostly says why.
 */
export async function checkServer(server: McpServer, deps: ConnectionDeps): Promise<McpCheck> {
  const printed: string[] = []
  const connection = createConnection(server, { ...deps, elicits: true, printed: (line) => void printed.push(line) })
  try {
    const { tools, leftOut, unknown } = await connection.list()
    const checked = tools.map(({ name, spec }) => ({
      name: spec.name,
      description: spec.description,
      use: useOf(server, name),
      ...checkOf(server, name),
    }))
    return { server: server.name, tools: checked, leftOut, unknown }
  } catch (error) {
    throw withPrinted(error, printed)
  } finally {
    await connection.close()
  }
}

function useOf({ inside }: McpServer, tool: string): CheckedTool['use'] {
  const marks = inside.filter(({ tools }) => namesTool(tools, tool))
  if (marks.length === 0) return 'asks'
  return marks.some((mark) => mark.in === undefined) ? 'inside' : 'inside in some places'
}

function checkOf({ bounds }: McpServer, tool: string): Pick<CheckedTool, 'checked'> {
  const taken = bounds?.arguments.find(({ tools }) => namesTool(tools, tool))
  if (bounds === undefined || taken === undefined) return {}
  const where = bounds.tier === 'full' ? 'anywhere' : `within ${bounds.folders.join(', ')}`
  const paths = taken.paths.length === 0 ? [] : [`${taken.paths.join(', ')} ${where}`]
  const commands =
    taken.command.length === 0 ? [] : [`${taken.command.join(' ')}: ${bounds.allowedCommands.join(', ')}`]
  return { checked: [...paths, ...commands].join('; ') || 'no paths' }
}

function withPrinted(error: unknown, printed: readonly string[]): unknown {
  if (errorCode(error) !== 'unavailable' || printed.length === 0) return error
  const lines = printed.slice(-MOST_PRINTED).map((line) => `  ${line}`)
  return new ParleyError('unavailable', [`${toError(error).message}. It wrote:`, ...lines].join('\n'))
}
