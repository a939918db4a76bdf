import { placeOf } from '../approvals/place-of.ts'
import type { Config, McpSettings } from '../config/config.ts'
import type { Secret } from '../config/secrets.ts'
import type { AgentProfile } from '../core/agent-profile.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { type Logger, silentLogger } from '../core/logger.ts'
import { type McpCheck, type McpServer, mcpGroup } from '../core/mcp.ts'
import type { SessionIdentity } from '../core/session.ts'
import { checkServer } from '../mcp/check-server.ts'
import type { ConnectionDeps } from '../mcp/connection.ts'
import { createMcpTools, type McpTools } from '../mcp/server-tools.ts'
import type { Store } from '../store/store.ts'
import { createDoor } from '../web/door.ts'
import { doorFetch } from '../web/door-fetch.ts'

interface WayParts {
  readonly clock: Clock
  readonly logger: Logger
  readonly version: string
}

interface McpParts extends WayParts {
  readonly config: Pick<Config, 'mcp'>
  readonly store: Pick<Store, 'read'>
}

/** Bytes of one answer of a server. */
const MOST_BYTES = 20_000_000

/** Returns the tools of the configured servers; those that are reached by HTTP are asked through the door. */
export function makeMcp({ config: { mcp = [] }, store, ...parts }: McpParts): McpTools {
  const { sessions } = store.read
  return createMcpTools(mcp.map(revealed), {
    ...wayTo(mcp, parts),
    async placeOf(id) {
      const session = await sessions.get(id)
      return session && placeOf(sessions, session)
    },
  })
}

/** Asks one of the configured servers for its tools. Throws `not_found` and `unavailable`. */
export async function testMcp({ mcp = [] }: Pick<Config, 'mcp'>, name: string, version: string): Promise<McpCheck> {
  const server = mcp.find((one) => one.name === name)
  const parts = { clock: systemClock, logger: silentLogger, version }
  if (server !== undefined) return checkServer(revealed(server), wayTo([server], parts))
  const known = mcp.length === 0 ? 'there is none under tools.mcp' : `known: ${mcp.map((one) => one.name).join(', ')}`
  throw new ParleyError('not_found', `There is no tool server ${name}; ${known}.`)
}

function wayTo(servers: readonly McpSettings[], { clock, logger, version }: WayParts): ConnectionDeps {
  const withinMs = Math.max(0, ...servers.map(({ timeoutMs }) => timeoutMs))
  const fetch = doorFetch(createDoor({ clock, withinMs, most: MOST_BYTES }))
  return { clock, logger: logger.child({ subsystem: 'mcp' }), fetch, version }
}

function revealed({ at, ...server }: McpSettings): McpServer {
  if (at.kind === 'program') return { ...server, at: { ...at, env: values(at.env) } }
  return { ...server, at: { ...at, headers: values(at.headers) } }
}

function values(secrets: Readonly<Record<string, Secret>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(secrets).map(([name, secret]) => [name, secret.reveal()]))
}

/**
 * Returns the rule for which sessions have an agent whose tools are described by a server that the operator does not
 * trust. Each such server counts, also one that cannot be reached: the rule must not depend on a moment.
 */
export function describedByOthers(
  { mcp = [] }: Pick<Config, 'mcp'>,
  agent: (session: SessionIdentity) => Pick<AgentProfile, 'tools'>,
): (session: SessionIdentity) => boolean {
  const groups = new Set(
    mcp.filter(({ at, trusted }) => at.kind === 'address' && !trusted).map(({ name }) => mcpGroup(name)),
  )
  return groups.size === 0 ? () => false : (session) => agent(session).tools.some((group) => groups.has(group))
}
