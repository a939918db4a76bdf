import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { type Clock, within } from '../core/clock.ts'
import { toError } from '../core/errors.ts'
import type { McpProgram } from '../core/mcp.ts'
import { readPaced } from './paced-lines.ts'

export interface ProgramDeps {
  readonly clock: Clock
  /** The variables that every program gets. */
  readonly env: Readonly<Record<string, string>>
  /** Called with each line that the program writes to its standard error. */
  printed(line: string): void
  /** Called when it writes more than it is asked for and is read slowly from then on. */
  slowed(): void
}

/** Bytes of one message; what is longer ends the connection. */
const MOST_BYTES = 20_000_000
/** Bytes a second of messages that answer nothing, and of its own log. */
const UNASKED = 256_000
const PRINTED = 64_000
/** The longest line of its log, in bytes. */
const LONGEST_LINE = 500
/** Bytes that wait to be read by the program. */
const MOST_WAITING = 4_000_000
const STEP_MS = 2_000

/**
 * The way to a program over its standard streams. That of the library hands on whatever comes as fast as it comes: here
 * only what answers a request, or asks for something, reaches the client, and the rest is read at a pace.
 */
export class ProgramTransport implements Transport {
  onclose?: () => void
  onerror?: (error: Error) => void
  onmessage?: (message: JSONRPCMessage) => void
  readonly #program: McpProgram
  readonly #deps: ProgramDeps
  /** The program has ended: what is left of its output is read at once. */
  readonly #exited = new AbortController()
  /** All is read, or given up. */
  readonly #ended = new AbortController()
  /** The requests without an answer, each with its method. */
  readonly #open = new Map<RequestId, string>()
  #child: ChildProcess | undefined

  constructor(program: McpProgram, deps: ProgramDeps) {
    this.#program = program
    this.#deps = deps
  }

  /** Starts the program, in a process group of its own: what it starts itself ends with it. */
  async start(): Promise<void> {
    const { command, args, env, folder } = this.#program
    const { clock, printed, slowed } = this.#deps
    const child = spawn(command, args, {
      ...{ stdio: 'pipe', detached: true, env: { ...this.#deps.env, ...env } },
      ...(folder === undefined ? {} : { cwd: folder }),
    })
    child.on('error', (error) => this.onerror?.(error))
    child.stdin.on('error', () => undefined)
    child.once('exit', () => {
      signalGroup(child, 'SIGKILL')
      this.#exited.abort()
      void within(clock, STEP_MS, once(child, 'close')).then(() => this.#over(child))
    })
    await once(child, 'spawn')
    this.#child = child
    const pace = { clock, signal: this.#exited.signal, slowed }
    const take = (line: string): boolean => this.#take(line)
    readPaced(child.stdout, { ...pace, most: MOST_BYTES, long: 'end', rate: UNASKED, take })
      .catch((error: unknown) => this.onerror?.(toError(error)))
      .finally(() => void this.close())
    const print = (line: string): boolean => {
      if (line.trim() !== '') printed(line)
      return false
    }
    readPaced(child.stderr, { ...pace, most: LONGEST_LINE, long: 'cut', rate: PRINTED, take: print }).catch(() => {})
  }

  /** Calls of tools that the program has not answered, also where nobody waits for them any more. */
  get unansweredCalls(): number {
    return [...this.#open.values()].filter((method) => method === 'tools/call').length
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin
    if (!stdin || this.#ended.signal.aborted) throw new Error('the connection is closed')
    if (stdin.writableLength > MOST_WAITING) {
      void this.close()
      throw new Error('the program does not read what it is sent')
    }
    if ('method' in message && 'id' in message) this.#open.set(message.id, message.method)
    stdin.write(`${JSON.stringify(message)}\n`)
  }

  /** Closes its input, which is the protocol's word to end; then with a signal; then for good. */
  async close(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    child.stdin?.end()
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      if (await within(this.#deps.clock, STEP_MS, this.#end())) return
      if (!this.#exited.signal.aborted) signalGroup(child, signal)
    }
    await this.#end()
  }

  async #end(): Promise<void> {
    if (!this.#ended.signal.aborted) await once(this.#ended.signal, 'abort')
  }

  #over(child: ChildProcess): void {
    this.#ended.abort()
    child.stdout?.destroy()
    child.stderr?.destroy()
    this.onclose?.()
  }

  /** Returns true for the answer to a request. */
  #take(line: string): boolean {
    const message = parsed(line)
    if (message === undefined) return false
    const { id, method } = message
    if (typeof method === 'string') {
      if (id !== undefined) this.onmessage?.(message as unknown as JSONRPCMessage)
      return false
    }
    if (!this.#open.delete(id as RequestId)) return false
    this.onmessage?.(message as unknown as JSONRPCMessage)
    return true
  }
}

function parsed(line: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const found: unknown = JSON.parse(line)
    return typeof found === 'object' && found !== null && !Array.isArray(found) ? { ...found } : undefined
  } catch {
    return undefined
  }
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal)
  } catch {
    // Nobody of the group is left.
  }
}
