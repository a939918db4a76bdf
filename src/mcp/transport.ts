import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { RequestId } from '@modelcontextprotocol/sdk/types.js'
import type { Clock } from '../core/clock.ts'
import type { McpAddress, McpProgram } from '../core/mcp.ts'
import type { ProgramEnd } from './program-transport.ts'

export interface TransportDeps {
  readonly clock: Clock
  /** Asks a server of the configuration by HTTP. */
  readonly fetch: typeof globalThis.fetch
  /** The server may ask people something, also outside of a call. */
  readonly elicits: boolean
  /** Takes the configured secrets out of what a program prints. */
  readonly redact?: ((text: string) => string) | undefined
  /** Called with each line that a program prints, which is no message. */
  printed(line: string): void
  /** Called when a server writes more than it is asked for. */
  slowed(): void
}

/** The way to a server. */
export interface ServerTransport extends Transport {
  /** The calls that the server has not answered, those that were given up included. */
  readonly unansweredCalls: number
  /** Returns the params of the call that a request of the server is about; absent, or undefined: that is not known. */
  callBehind?(request: RequestId): unknown
  /** Returns the last lines that a program has printed; absent by HTTP. */
  printed?(): readonly string[]
  /** The end of a program; absent while it runs, and by HTTP. */
  readonly ended?: ProgramEnd | undefined
}

/** Returns the way to a server, not yet open. The library is loaded with the first. */
export async function openTransport(at: McpProgram | McpAddress, deps: TransportDeps): Promise<ServerTransport> {
  if (at.kind === 'program') return toProgram(at, deps)
  const { clock, fetch, elicits, slowed } = deps
  const { AddressTransport } = await import('./address-transport.ts')
  return new AddressTransport(at, { clock, fetch, listens: elicits, slowed })
}

/** A program gets PATH, HOME, LOGNAME, SHELL, TERM and USER of this process, and what the configuration names. */
async function toProgram(program: McpProgram, deps: TransportDeps): Promise<ServerTransport> {
  const { clock, printed, slowed, redact } = deps
  const { getDefaultEnvironment } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const { ProgramTransport } = await import('./program-transport.ts')
  return new ProgramTransport(program, { clock, env: getDefaultEnvironment(), printed, slowed, redact })
}
