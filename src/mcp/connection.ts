import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { backOffMs } from '../core/backoff.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError, toError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { McpServer, McpState } from '../core/mcp.ts'
import type { ElicitationAnswer, Elicits } from './elicit.ts'
import { type PausableDeadline, pausableDeadline } from './pausable-deadline.ts'
import { type Redact, readTools, type ToolList } from './read-tools.ts'
import { startWords } from './start-words.ts'
import { openTransport } from './transport.ts'

/** The connection to one server, opened at its first use and again after it has ended. */
export interface McpConnection {
  /** Returns the tools as the server lists them now. Throws `unavailable`. */
  list(): Promise<ToolList>
  /**
   * Returns the result as the server gives it. Throws `unavailable` in words for the model, and `aborted`. What the
   * server asks meanwhile is answered by `asks`, whose waiting does not count for the time limit.
   */
  call(tool: string, args: Readonly<Record<string, unknown>>, running: RunningCall): Promise<unknown>
  /** Returns how the server does, without asking it. */
  state(): McpState
  /** Ends it for good, with its program. */
  close(): Promise<void>
}

export interface RunningCall {
  readonly signal: AbortSignal
  /** Makes what answers the server while this call runs, until the signal ends it; absent: nobody is asked. */
  asks?(this: void, signal: AbortSignal): Elicits | undefined
}

export interface ConnectionDeps {
  readonly clock: Clock
  readonly logger: Logger
  /** Returns the way to ask a server by HTTP. */
  fetchOf(this: void, server: McpServer): typeof globalThis.fetch
  readonly version: string
  /** Default: a text stays as it is. */
  readonly redact?: Redact
  /** Called with each line that a program writes to its standard error. */
  printed?(this: void, line: string): void
  /** The time for a start and for a list, in ms. */
  readonly startMs?: number
  /** Servers may ask people something while a call of theirs runs. */
  readonly elicits?: boolean
}

const PACE = { firstMs: 1_000, longestMs: 300_000 }
/** A server that is not ready by then would hold up a turn for nothing. */
const START_MS = 15_000
const MOST_PAGES = 20
const MOST_LISTED = 10_000
/** The longest time a timer of Node keeps. */
const LONGEST_MS = 2 ** 31 - 1

export function createConnection(server: McpServer, deps: ConnectionDeps): McpConnection {
  return new Connection(server, deps)
}

class Connection implements McpConnection {
  readonly #server: McpServer
  readonly #deps: ConnectionDeps
  readonly #logger: Logger
  #client: Promise<Client> | undefined
  #failures = 0
  #up = false
  #tools: number | undefined
  #trouble: McpState['lastTrouble']
  /** By the time that ran, before which nothing is tried: the time of day may be set back. */
  #retryAt = Number.NEGATIVE_INFINITY
  #closed = false
  /** Resolves when the programs that were given up have ended. */
  #ending: Promise<void> = Promise.resolve()
  /** The calls that run now. */
  readonly #calls = new Set<{ readonly asks: Elicits | undefined; readonly limit: PausableDeadline }>()
  #listing = 0
  /** The server asked a person while it may still run a call that was given up: its next use restarts it. */
  #isStale = false

  constructor(server: McpServer, deps: ConnectionDeps) {
    this.#server = server
    this.#deps = deps
    this.#logger = deps.logger.child({ server: server.name })
  }

  async list(): Promise<ToolList> {
    const client = await this.#connected()
    const { ListToolsResultSchema } = await import('@modelcontextprotocol/sdk/types.js')
    // The schema of the library refuses the whole list for one bad tool: only the cursor is its business here.
    const page = ListToolsResultSchema.pick({ nextCursor: true }).loose()
    const listed: unknown[] = []
    let cursor: string | undefined
    this.#listing++
    try {
      for (let pages = 0; pages < MOST_PAGES; pages++) {
        const params = cursor === undefined ? {} : { cursor }
        const found = await client.request({ method: 'tools/list', params }, page, { timeout: this.#startMs })
        if (Array.isArray(found.tools)) listed.push(...found.tools)
        cursor = found.nextCursor
        if (cursor === undefined || listed.length > MOST_LISTED) break
      }
    } catch (error) {
      throw this.#failed(error)
    } finally {
      this.#listing--
    }
    this.#failures = 0
    const read = readTools(this.#server, listed, this.#deps.redact)
    this.#tools = read.tools.length
    return read
  }

  async call(tool: string, args: Readonly<Record<string, unknown>>, { signal, asks }: RunningCall): Promise<unknown> {
    const client = await this.#connected()
    const { timeoutMs, name } = this.#server
    const { CompatibilityCallToolResultSchema } = await import('@modelcontextprotocol/sdk/types.js')
    const over = new AbortController()
    const ended = new AbortController()
    const limit = pausableDeadline(this.#deps.clock, timeoutMs, () => over.abort())
    const running = { limit, asks: asks?.(AbortSignal.any([signal, over.signal, ended.signal])) }
    this.#calls.add(running)
    try {
      const request = { method: 'tools/call', params: { name: tool, arguments: { ...args } } } as const
      // The library's own limit would run on while a person is asked.
      const options = { signal: AbortSignal.any([signal, over.signal]), timeout: LONGEST_MS }
      const result = await client.request(request, CompatibilityCallToolResultSchema, options)
      this.#failures = 0
      return result
    } catch (error) {
      if (signal.aborted) throw new ParleyError('aborted', 'The call is no longer wanted.')
      const why = over.signal.aborted ? `the call timed out after ${timeoutMs / 1_000} s` : toError(error).message
      throw new ParleyError('unavailable', `${name}: ${why}`.slice(0, 1_000))
    } finally {
      this.#calls.delete(running)
      limit.end()
      ended.abort()
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    const client = await this.#client?.catch(() => undefined)
    await Promise.all([client?.close(), this.#ending])
  }

  state(): McpState {
    const status = this.#up ? 'up' : this.#failures > 0 ? 'down' : 'unused'
    return {
      status,
      ...(this.#tools === undefined ? {} : { tools: this.#tools }),
      ...(this.#trouble === undefined ? {} : { lastTrouble: this.#trouble }),
    }
  }

  get #startMs(): number {
    return this.#deps.startMs ?? START_MS
  }

  #connected(): Promise<Client> {
    const { clock } = this.#deps
    if (this.#closed) throw new ParleyError('unavailable', `${this.#server.name}: the daemon is stopping.`)
    if (this.#isStale && this.#calls.size + this.#listing === 0) this.#leave()
    if (this.#client !== undefined) return this.#client
    const wait = this.#retryAt - clock.elapsed()
    if (wait > 0) {
      const seconds = Math.ceil(wait / 1_000)
      throw new ParleyError('unavailable', `${this.#server.name} cannot be reached; it is tried again in ${seconds} s.`)
    }
    const client = this.#open().catch((error: unknown) => {
      throw this.#failed(error)
    })
    this.#client = client
    return client
  }

  async #open(): Promise<Client> {
    const { fetchOf, version, clock } = this.#deps
    // By HTTP an answer is read to its end before it is looked at: whoever asks in the middle would wait in vain.
    const elicits = this.#deps.elicits === true && this.#server.at.kind === 'program'
    const fetch = fetchOf(this.#server)
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
    const printed = (line: string): void => {
      this.#logger.debug('A tool server printed', { line })
      this.#deps.printed?.(line)
    }
    const slowed = (): void => this.#logger.warn('A tool server writes more than it is asked for, and is read slowly')
    const { transport, unanswered } = await openTransport(this.#server.at, { clock, fetch, printed, slowed })
    // The library refuses everything else that a server may ask: a model, files, a person to open an address.
    const capabilities = elicits ? { elicitation: { form: {} } } : {}
    const client = new Client({ name: 'parley', version }, { capabilities })
    if (elicits) {
      const { ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js')
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => this.#answer(params, unanswered()))
    }
    client.onclose = () => {
      if (this.#client === undefined || this.#closed) return
      this.#failed(new Error('the connection has ended'))
    }
    client.onerror = (err) => this.#logger.debug('A tool server sent what cannot be read', { err })
    try {
      await client.connect(transport, { timeout: this.#startMs })
    } catch (error) {
      // One that hangs takes its time to end, and nobody has to wait for that.
      this.#giveUp(client)
      throw error
    }
    this.#up = true
    return client
  }

  /** Closes a client whose end means nothing any more: this connection may have another client by then. */
  #giveUp(client: Client): void {
    client.onclose = () => {}
    this.#ending = Promise.all([this.#ending, client.close().catch(() => undefined)]).then(() => undefined)
  }

  /**
   * Answers what the server asks. The protocol does not say for which call: while it has several, one that was given up
   * among them, it could be put to somebody whose call it is not about, so that nobody is asked.
   */
  async #answer(params: unknown, unanswered: number): Promise<ElicitationAnswer> {
    const [call, ...others] = this.#calls
    const keepsOld = unanswered > this.#calls.size
    if (call?.asks === undefined || others.length > 0 || keepsOld) {
      this.#isStale ||= keepsOld
      const why = others.length > 0 ? 'several of its calls ran at once' : 'it may be about a call that was given up'
      for (const { asks } of this.#calls) asks?.refuse(why)
      this.#logger.info('A tool server asked a person something, and nobody can be asked', { calls: unanswered })
      return { action: 'cancel' }
    }
    const resume = call.limit.pause()
    try {
      return await call.asks.answer(params)
    } finally {
      resume()
    }
  }

  /** The next use begins another connection. */
  #leave(): void {
    const client = this.#client
    this.#client = undefined
    this.#up = false
    this.#isStale = false
    client?.then((left) => this.#giveUp(left)).catch(() => undefined)
  }

  /** Notes an outage, in the log once until it is over, and returns it in words. */
  #failed(error: unknown): ParleyError {
    this.#leave()
    this.#failures++
    this.#retryAt = this.#deps.clock.elapsed() + backOffMs(this.#failures, PACE)
    if (this.#failures === 1) this.#logger.warn('A tool server cannot be reached', { err: error })
    const why = startWords(error, this.#server.at, this.#startMs)
    this.#trouble = { detail: why, at: this.#deps.clock.now() }
    return new ParleyError('unavailable', `${this.#server.name} cannot be reached: ${why}`)
  }
}
