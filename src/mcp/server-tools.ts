import { errorCode, ParleyError, toError } from '../core/errors.ts'
import type { SessionId } from '../core/ids.ts'
import { type McpServer, type McpState, mcpGroup } from '../core/mcp.ts'
import { isIn, namesTool } from '../core/place.ts'
import type { AsksPeople } from '../core/question.ts'
import type { Tool, ToolOutput } from '../core/turn.ts'
import { boundCall } from './bound-call.ts'
import { type ConnectionDeps, createConnection, type McpConnection } from './connection.ts'
import { createElicits, type Elicits } from './elicit.ts'
import type { ListedTool } from './read-tools.ts'
import { resultContent } from './result-content.ts'

/** The tools that were left out, as many as one line of the log names. */
const MOST_NAMED = 50

/** The tools of all servers. */
export interface McpTools {
  /** The tools of each server by their group, listed at the first call. A server that cannot be reached has none. */
  readonly groups: Readonly<Record<string, () => Promise<readonly Tool[]>>>
  /** Returns how each server does, by its name and without asking it. */
  states(this: void): ReadonlyMap<string, McpState>
  /** Ends all connections and the programs behind them. */
  close(): Promise<void>
}

export interface McpDeps extends Omit<ConnectionDeps, 'elicits'> {
  /** Puts what a server asks to people; absent: nobody is asked. */
  readonly people?: AsksPeople
  /** Returns the display keys by which marks may name the place of a session; undefined for one that has ended. */
  namesOfPlace(this: void, session: SessionId): Promise<readonly string[] | undefined>
}

/** Makes the groups of the servers. Nothing is started or loaded before a turn of an agent that has one. */
export function createMcpTools(servers: readonly McpServer[], deps: McpDeps): McpTools {
  const connections = servers.map((server) => ({
    server,
    connection: createConnection(server, { ...deps, elicits: deps.people !== undefined }),
  }))
  return {
    groups: Object.fromEntries(
      connections.map(({ server, connection }) => [mcpGroup(server.name), listedOnce(server, connection, deps)]),
    ),
    states: () => new Map(connections.map(({ server, connection }) => [server.name, connection.state()])),
    async close() {
      await Promise.all(connections.map(({ connection }) => connection.close()))
    },
  }
}

/**
 * Returns a function that lists the tools once for the life of the process: a list that changed under a conversation
 * would cost the whole prompt anew, and what an operator has looked at would become something else (decision 0026).
 */
function listedOnce(server: McpServer, connection: McpConnection, deps: McpDeps): () => Promise<readonly Tool[]> {
  const logger = deps.logger.child({ server: server.name })
  let listed: Promise<readonly Tool[]> | undefined
  const list = async (): Promise<readonly Tool[]> => {
    const { tools, leftOut } = await connection.list()
    if (leftOut.length > 0) {
      const named = leftOut.slice(0, MOST_NAMED)
      logger.warn('Tools of a server were left out', { leftOut: named, number: leftOut.length })
    }
    return tools.map((tool) => toolOf(server, tool, { ...deps, connection, logger }))
  }
  return async () => {
    try {
      listed ??= list()
      return await listed
    } catch {
      // The connection has said so in the log. The next turn asks again, after its wait.
      listed = undefined
      return []
    }
  }
}

interface ToolDeps extends Pick<McpDeps, 'namesOfPlace' | 'people' | 'logger' | 'redact'> {
  readonly connection: McpConnection
}

/**
 * Returns a tool of a server as one of the agent's. Nothing that a server says of itself is believed: a call acts
 * beyond the conversation unless the operator says otherwise, it is never repeated, and what it returns is nobody's
 * words.
 */
function toolOf(server: McpServer, tool: ListedTool, deps: ToolDeps): Tool {
  const { connection, namesOfPlace, people, logger, redact } = deps
  const { name, spec } = tool
  const marks = server.inside.filter(({ tools }) => namesTool(tools, name))
  const bound = async (args: unknown): Promise<Readonly<Record<string, unknown>>> => {
    try {
      return await boundCall(server, tool, argumentsOf(args))
    } catch (error) {
      if (errorCode(error) === 'forbidden')
        logger.warn('A call of a tool was refused', { tool: spec.name, reason: toError(error).message })
      throw error
    }
  }
  return {
    class: 'once',
    foreign: true,
    doing: `using ${server.name}`,
    spec,
    // Nobody is asked about a call that would be refused. What it leads to is looked at again when it is made.
    async reach(args, { sessionId }) {
      await bound(args)
      if (marks.length === 0) return 'beyond'
      const place = await namesOfPlace(sessionId)
      return place !== undefined && marks.some((mark) => isIn(mark.in, place)) ? 'inside' : 'beyond'
    },
    async run(args, { signal, keep, turnId: id, sessionId, agentId, callId }): Promise<ToolOutput> {
      const turn = { id, sessionId, agentId, callId }
      let asked: Elicits | undefined
      const asks = (until: AbortSignal): Elicits | undefined => {
        asked = people && createElicits({ people, server: server.name, turn, signal: until, redact })
        return asked
      }
      const result = await connection.call(name, await bound(args), { signal, asks })
      const notes = (asked?.notes ?? []).map((text) => ({ type: 'text' as const, text }))
      const content = [...(await resultContent(result, keep)), ...notes]
      if (!isRefused(result)) return { content }
      const said = content.map((part) => (part.type === 'text' ? part.text : '[a file]')).join('\n')
      throw new ParleyError('invalid', said)
    },
  }
}

function argumentsOf(args: unknown): Readonly<Record<string, unknown>> {
  return typeof args === 'object' && args !== null && !Array.isArray(args) ? { ...args } : {}
}

function isRefused(result: unknown): boolean {
  return typeof result === 'object' && result !== null && 'isError' in result && result.isError === true
}
