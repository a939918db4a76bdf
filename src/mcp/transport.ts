import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { McpAddress, McpProgram } from '../core/mcp.ts'

/** Bytes of one message; what is longer ends the connection. */
const MOST_BYTES = 20_000_000
/** The lines of a program's own log that are kept, and how long each may be. */
const LONGEST_LINE = 500

export interface TransportDeps {
  /** Asks a server of the configuration by HTTP. */
  readonly fetch: typeof globalThis.fetch
  /** Called with each line that a program writes to its standard error. */
  printed(line: string): void
}

/** Returns the way to a server, not yet open. The library is loaded with the first. */
export async function openTransport(at: McpProgram | McpAddress, deps: TransportDeps): Promise<Transport> {
  return at.kind === 'program' ? toProgram(at, deps) : toAddress(at, deps)
}

/** A program gets PATH, HOME, LOGNAME, SHELL, TERM and USER of this process, and what the configuration names. */
async function toProgram({ command, args, env, folder }: McpProgram, { printed }: TransportDeps): Promise<Transport> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const transport = new StdioClientTransport({
    ...{ command, args: [...args], env, stderr: 'pipe', maxBufferSize: MOST_BYTES },
    ...(folder === undefined ? {} : { cwd: folder }),
  })
  let rest = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    const lines = `${rest}${chunk}`.split('\n')
    rest = (lines.pop() ?? '').slice(0, LONGEST_LINE)
    for (const line of lines) if (line.trim() !== '') printed(line.slice(0, LONGEST_LINE))
  })
  return transport
}

async function toAddress({ url, headers }: McpAddress, { fetch }: TransportDeps): Promise<Transport> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  // Its type allows no session id that is undefined, which the compiler's strictest mode keeps apart.
  return new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { ...headers } },
    fetch,
  }) as Transport
}
