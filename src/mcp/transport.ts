import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { Clock } from '../core/clock.ts'
import type { McpAddress, McpProgram } from '../core/mcp.ts'
import { onlyAnswers } from './only-answers.ts'
import type { ProgramTransport } from './program-transport.ts'

export interface TransportDeps {
  readonly clock: Clock
  /** Asks a server of the configuration by HTTP. */
  readonly fetch: typeof globalThis.fetch
  /** Called with each line that a program writes to its standard error. */
  printed(line: string): void
  /** Called when a program writes more than it is asked for. */
  slowed(): void
}

/** The way to a server. */
export interface ServerTransport {
  readonly transport: Transport
  /** Returns how many calls the server has not answered, those that were given up included; by HTTP nobody knows. */
  unanswered(): number
}

/** Returns the way to a server, not yet open. The library is loaded with the first. */
export async function openTransport(at: McpProgram | McpAddress, deps: TransportDeps): Promise<ServerTransport> {
  if (at.kind === 'address') return { transport: await toAddress(at, deps), unanswered: () => 0 }
  const transport = await toProgram(at, deps)
  return { transport, unanswered: () => transport.unansweredCalls }
}

/** A program gets PATH, HOME, LOGNAME, SHELL, TERM and USER of this process, and what the configuration names. */
async function toProgram(program: McpProgram, { clock, printed, slowed }: TransportDeps): Promise<ProgramTransport> {
  const { getDefaultEnvironment } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const { ProgramTransport } = await import('./program-transport.ts')
  return new ProgramTransport(program, { clock, env: getDefaultEnvironment(), printed, slowed })
}

async function toAddress({ url, headers }: McpAddress, { fetch }: TransportDeps): Promise<Transport> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  // Its type allows no session id that is undefined, which the compiler's strictest mode keeps apart.
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch: onlyAnswers(fetch),
  }) as Transport
}
