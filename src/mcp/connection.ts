import { once } from 'node:events'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { RequestId } from '@modelcontextprotocol/sdk/types.js'
import * as z from 'zod'
import { backOffMs } from '../core/backoff.ts'
import { type Clock, sleep } from '../core/clock.ts'
import { errorCode, ParleyError, toError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { McpAddress, McpProgram, McpServer, McpState } from '../core/mcp.ts'
import type { ElicitationAnswer, Elicits } from './elicit.ts'
import { asElicitation, type Given, lenient, olderVersion, pageIn, UNKNOWN_METHOD } from './lenient.ts'
import type { ProgramEnd } from './program-transport.ts'
import { digestOf, type Redact, readTools, type ToolList } from './read-tools.ts'
import { isConnectionClosed, startWords } from './start-words.ts'

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
  /** Returns the ms before which nothing is tried after a failure; 0: the next use is a try. */
  waitMs(): number
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
  /** The time for a start, in ms. */
  readonly startMs?: number
  /** Servers may ask people something while a call of theirs runs. */
  readonly elicits?: boolean
}

/** Whoever calls a tool may have mended its server. */
const PACE = { firstMs: 1_000, longestMs: 10_000 }
/** A program that downloads itself first, as with npx, would begin anew each time if it was ended earlier. */
const START_MS = { program: 120_000, address: 30_000 }
/** The time for a list. */
const LIST_MS = 15_000
/** Waits before a list that is said to be another is asked for, which grow where it was the same. */
const RELIST = { firstMs: 1_000, longestMs: 300_000 }
const MANY_LISTS = 3
const MOST_PAGES = 20
const MOST_LISTED = 10_000
/** Characters of all pages of a list. */
const MOST_OF_A_LIST = 20_000_000
/** The longest time a timer of Node keeps. */
const LONGEST_MS = 2 ** 31 - 1

/** A call that runs. */
interface Call {
  readonly asks: Elicits | undefined
  readonly limit: PausableDeadline
  readonly params: object
}

/**
 * A result as the server gives it (`Given`): the library would walk it, and refuse a whole answer for one part that it
 * does not know; whoever reads it checks it.
 */
const GIVEN = z.object({ given: z.unknown() })
/** The code by which a server says that a person has to open an address first (2025-11-25). */
const OPEN_ADDRESS = -32_042
const OPENED = z.object({ message: z.string().catch(''), url: z.string() })

export function createConnection(server: McpServer, deps: ConnectionDeps): McpConnection {
  return new Connection(server, deps)
}

class Connection implements McpConnection {
  readonly #server: McpServer
  readonly #deps: ConnectionDeps
  readonly #logger: Logger
  #client: Promise<Client> | undefined
  /** The way that was opened last. */
  #way: ServerTransport | undefined
  #failures = 0
  #up = false
  #tools: number | undefined
  /** The log says that it asks for a login. */
  #saidLogin = false
  /** Its tools are others than those that were listed first. */
  #isChanged = false
  /** The digest of the tools that were listed first. */
  #listed: string | undefined
  #isSaidToChange = false
  #isChecking = false
  /** Lists that were the same although it had said that they are others. */
  #sameLists = 0
  #trouble: McpState['lastTrouble']
  /** By the time that ran, before which nothing is tried: the time of day may be set back. */
  #retryAt = Number.NEGATIVE_INFINITY
  #closed = false
  /** Aborted when it is closed. */
  readonly #over = new AbortController()
  /** Resolves when the programs that were given up have ended. */
  #ending: Promise<void> = Promise.resolve()
  /** The calls that run now. */
  readonly #calls = new Set<Call>()
  #listing = 0
  /** Its requests for which nobody could be asked, since the end of the last call. */
  #unasked = 0
  /**
   * The server asked a person while it may still run a call that was given up, or its gateway has failed: its next use
   * restarts it.
   */
  #isStale = false

  constructor(server: McpServer, deps: ConnectionDeps) {
    this.#server = server
    this.#deps = deps
    this.#logger = deps.logger.child({ server: server.name })
  }

  async list(): Promise<ToolList> {
    let isAsked = false
    const pages = (client: Client): Promise<readonly unknown[]> => {
      isAsked = true
      return this.#pages(client)
    }
    const listed = await this.#ask(pages).catch((error: unknown) => {
      throw isAsked ? this.#failed(error, LIST_MS) : error
    })
    this.#failures = 0
    const read = await readTools(this.#server, listed, { redact: this.#deps.redact, signal: this.#over.signal })
    this.#tools = read.tools.length
    this.#listed = digestOf(listed)
    this.#isChanged = false
    return read
  }

  /** Returns the tools of all pages. A cursor that came before is the end: some servers give the last page for ever. */
  async #pages(client: Client): Promise<readonly unknown[]> {
    const listed: unknown[] = []
    const before = new Set<unknown>()
    const cursors = new Set<string>()
    let size = 0
    let cursor: string | undefined
    this.#listing++
    try {
      for (let pages = 0; pages < MOST_PAGES && listed.length <= MOST_LISTED; pages++) {
        const params = cursor === undefined ? {} : { cursor }
        const listing = client.request({ method: 'tools/list', params }, GIVEN, { timeout: LIST_MS })
        const { tools, nextCursor } = await pageIn(await listing.catch(emptyIfUnknown))
        size += JSON.stringify(tools).length
        if (size > MOST_OF_A_LIST) throw new Error(`it lists tools of more than ${MOST_OF_A_LIST} characters`)
        for (const tool of tools.slice(0, MOST_LISTED)) {
          if (!before.has(nameOf(tool))) listed.push(tool)
          before.add(nameOf(tool))
        }
        if (typeof nextCursor !== 'string' || cursors.has(nextCursor)) break
        cursors.add(nextCursor)
        cursor = nextCursor
      }
    } finally {
      this.#listing--
    }
    return listed
  }

  async call(tool: string, args: Readonly<Record<string, unknown>>, { signal, asks }: RunningCall): Promise<unknown> {
    const { timeoutMs, name } = this.#server
    const over = new AbortController()
    const ended = new AbortController()
    const until = AbortSignal.any([signal, over.signal])
    const limit = pausableDeadline(this.#deps.clock, timeoutMs, () => over.abort())
    const params = { name: tool, arguments: { ...args } }
    const running = { limit, params, asks: asks?.(AbortSignal.any([until, ended.signal])) }
    try {
      // The library's own limit would run on while a person is asked.
      const options = { signal: until, timeout: LONGEST_MS }
      const request = { method: 'tools/call', params } as const
      const made = async (client: Client): Promise<unknown> => {
        this.#calls.add(running)
        return (await client.request(request, GIVEN, options)).given
      }
      const result = await this.#ask(made, until)
      this.#failures = 0
      this.#saidLogin = false
      return result
    } catch (error) {
      if (signal.aborted) throw new ParleyError('aborted', 'The call is no longer wanted.')
      this.#noteLogin(error)
      const isConnected = this.#calls.has(running)
      if (error instanceof ParleyError && (!isConnected || error.message.startsWith(`${name} `))) throw error
      const why = over.signal.aborted ? `the call timed out after ${timeoutMs / 1_000} s` : this.#callWords(error)
      throw new ParleyError('unavailable', `${name}: ${why}`.slice(0, 1_000))
    } finally {
      this.#calls.delete(running)
      limit.end()
      ended.abort()
      const requests = this.#unasked
      this.#unasked = 0
      if (requests > 1)
        this.#logger.info('A tool server asked more than once in a call, and nobody can be asked', { requests })
    }
  }

  /** Says in the log, once until a call has succeeded, that somebody has to log in. */
  #noteLogin(error: unknown): void {
    if (errorCode(error) !== 'unauthorized' || this.#saidLogin) return
    this.#saidLogin = true
    this.#logger.warn('A tool server asks for a login', { why: toError(error).message })
  }

  /** Returns in words for the model why a call failed. */
  #callWords(error: unknown): string {
    const { code, data } = coded(error)
    const { printed, ended } = this.#way ?? {}
    if (isConnectionClosed(error) && ended !== undefined)
      return startWords({ error, at: this.#server.at, waitedMs: 0, printed: printed?.call(this.#way), ended })
    const asked = code === OPEN_ADDRESS ? firstAddress(data) : undefined
    if (asked === undefined) return withoutNumber(error)
    return `it wants a person to open an address first, and then to be asked again: ${asked.message} ${asked.url}`
  }

  /**
   * Asks the server. Where it does not know the session any more, as after a start of its own, it has done nothing, and
   * is asked once more in another session. One whose gateway fails may have lost it: the next use begins another.
   */
  async #ask<Result>(request: (client: Client) => Promise<Result>, until?: AbortSignal): Promise<Result> {
    const connected = this.#connected()
    const client = await (until === undefined ? connected : orAborted(connected, until))
    try {
      return await request(client)
    } catch (error) {
      if (!isRefused(error)) throw error
      // Nobody knows all words for a session that is gone.
      const mayBeGone = error.status >= 500 || (error.status === 400 && /session|initiali[sz]/i.test(error.message))
      if (mayBeGone) this.#isStale ||= this.#client === connected
      if (!error.sessionGone) throw error
      if (this.#client === connected) this.#leave()
      const again = this.#connected()
      return request(await (until === undefined ? again : orAborted(again, until)))
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#over.abort(new ParleyError('unavailable', `${this.#server.name}: the daemon is stopping.`))
    // A start that is under way ends with it.
    await this.#way?.close()
    const client = await this.#client?.catch(() => undefined)
    await Promise.all([client?.close(), this.#ending])
  }

  state(): McpState {
    const idle = this.#failures > 0 ? 'down' : 'unused'
    const status = this.#up ? 'up' : this.#client === undefined ? idle : 'starting'
    return {
      status,
      ...(this.#tools === undefined ? {} : { tools: this.#tools }),
      ...(this.#trouble === undefined ? {} : { lastTrouble: this.#trouble }),
      ...(this.#isChanged ? { changed: true } : {}),
    }
  }

  waitMs(): number {
    return Math.max(0, this.#retryAt - this.#deps.clock.elapsed())
  }

  get #startMs(): number {
    return this.#deps.startMs ?? START_MS[this.#server.at.kind]
  }

  #connected(): Promise<Client> {
    if (this.#closed) throw new ParleyError('unavailable', `${this.#server.name}: the daemon is stopping.`)
    if (this.#isStale && this.#calls.size + this.#listing === 0) this.#leave()
    if (this.#client !== undefined) return this.#client
    const wait = this.waitMs()
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
    try {
      return await this.#begin()
    } catch (error) {
      const version = olderVersion(error)
      if (version === undefined || this.#closed) throw error
      return this.#begin(version)
    }
  }

  /** Connects to the server; `version` is that of the protocol to begin with, default: the newest. */
  async #begin(version?: string): Promise<Client> {
    const { fetchOf, clock, elicits = false } = this.#deps
    const fetch = fetchOf(this.#server)
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
    const printed = (line: string): void => {
      this.#logger.debug('A tool server printed', { line })
      this.#deps.printed?.(line)
    }
    const slowed = (): void => this.#logger.warn('A tool server writes more than it is asked for, and is read slowly')
    const changed = (): void => void this.#listChanged()
    const { redact } = this.#deps
    const way = await openTransport(this.#server.at, { clock, fetch, elicits, printed, slowed, changed, redact })
    this.#way = way
    if (this.#closed) throw new Error('the daemon is stopping')
    // The library refuses everything else that a server may ask: a model, files, a person to open an address.
    const capabilities = elicits ? { elicitation: { form: {} } } : {}
    const client = new Client({ name: 'parley', version: this.#deps.version }, { capabilities })
    // The library's own handler would walk all that a server asks before it is measured.
    if (elicits)
      client.fallbackRequestHandler = ({ method, params }, { requestId }) =>
        this.#answer(asElicitation(method, params?.given), requestId, way)
    client.onerror = (err) => this.#logger.debug('A tool server sent what cannot be read', { err })
    try {
      await client.connect(lenient(way, version), { timeout: this.#startMs })
    } catch (error) {
      // One that hangs takes its time to end, and nobody has to wait for that.
      this.#giveUp(client)
      throw error
    }
    client.onclose = () => {
      if (this.#client === undefined || this.#closed) return
      this.#failed(new Error('the connection has ended'))
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
   * Answers what the server asks. A question in the stream of a call is about that call. Elsewhere the protocol does
   * not say for which: while the server has several, one that was given up among them, it could be put to somebody
   * whose call it is not about, so that nobody is asked.
   */
  async #answer(params: unknown, request: RequestId, way: ServerTransport): Promise<ElicitationAnswer> {
    const behind = way.callBehind?.(request)
    const [first, ...others] = this.#calls
    const keepsOld = behind === undefined && way.unansweredCalls > this.#calls.size
    const call = behind === undefined ? first : [...this.#calls].find((one) => one.params === behind)
    if (call?.asks === undefined || (behind === undefined && others.length > 0) || keepsOld) {
      this.#isStale ||= keepsOld
      const why = others.length > 0 ? 'several of its calls ran at once' : 'it may be about a call that was given up'
      if (behind === undefined) for (const { asks } of this.#calls) asks?.refuse(why)
      const calls = way.unansweredCalls
      if (this.#unasked++ === 0)
        this.#logger.info('A tool server asked a person something, and nobody can be asked', { calls })
      return { action: 'cancel' }
    }
    const resume = call.limit.pause()
    try {
      return await call.asks.answer(params)
    } finally {
      resume()
    }
  }

  /** Looks if its tools are others, as it says: some servers say so behind each list, and are asked ever later. */
  async #listChanged(): Promise<void> {
    this.#isSaidToChange = true
    if (this.#isChecking || this.#listed === undefined) return
    this.#isChecking = true
    while (this.#isSaidToChange && !this.#isChanged && !this.#closed) {
      await sleep(this.#deps.clock, backOffMs(this.#sameLists + 1, RELIST), this.#over.signal)
      this.#isSaidToChange = false
      if (this.#up && !this.#closed) await this.#compareList().catch(() => undefined)
    }
    this.#isChecking = false
  }

  async #compareList(): Promise<void> {
    this.#isChanged = digestOf(await this.#ask((client) => this.#pages(client))) !== this.#listed
    if (this.#isChanged)
      this.#logger.info('A tool server has other tools now; they are taken at the next start of Parley')
    else if (++this.#sameLists === MANY_LISTS)
      this.#logger.warn('A tool server says all the time that its tools are others, and they are the same')
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
  #failed(error: unknown, waitedMs = this.#startMs): ParleyError {
    this.#leave()
    this.#failures++
    // One that asks for a login answers at once, and a login may be made at any time.
    const tries = errorCode(error) === 'unauthorized' ? 1 : this.#failures
    this.#retryAt = this.#deps.clock.elapsed() + backOffMs(tries, PACE)
    const printed = this.#way?.printed?.() ?? []
    const why = startWords({ error, at: this.#server.at, waitedMs, printed, ended: this.#way?.ended })
    if (this.#failures === 1 && !this.#closed)
      this.#logger.warn('A tool server cannot be reached', { err: error, why, printed })
    this.#trouble = { detail: why, at: this.#deps.clock.now(), ...(printed.length === 0 ? {} : { printed }) }
    return new ParleyError('unavailable', `${this.#server.name} cannot be reached: ${why}`, { cause: error })
  }
}

/** A time limit that does not run while somebody else is waited for. */
interface PausableDeadline {
  /** Stops it until the returned function is called; several may have stopped it. */
  pause(): () => void
  /** Ends it for good. */
  end(): void
}

function pausableDeadline(clock: Clock, ms: number, over: () => void): PausableDeadline {
  let left = ms
  let since = clock.elapsed()
  let pauses = 0
  let cancel = clock.after(left, over)
  return {
    pause() {
      if (pauses++ === 0) {
        cancel()
        left -= clock.elapsed() - since
      }
      let paused = true
      return () => {
        if (!paused) return
        paused = false
        if (--pauses > 0) return
        since = clock.elapsed()
        cancel = clock.after(Math.max(0, left), over)
      }
    },
    end() {
      pauses = Number.POSITIVE_INFINITY
      cancel()
    },
  }
}

/** Rejects when the signal aborts before the work has ended; the work is not stopped. */
async function orAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const ended = new AbortController()
  const over = once(signal, 'abort', { signal: ended.signal }).then(() => Promise.reject(signal.reason))
  over.catch(() => undefined)
  try {
    signal.throwIfAborted()
    return await Promise.race([work, over])
  } finally {
    ended.abort()
  }
}

/** A tool without a name is no other one's repetition. */
function nameOf(tool: unknown): unknown {
  return typeof tool === 'object' && tool !== null && 'name' in tool && typeof tool.name === 'string' ? tool.name : tool
}

/** By the form of the error: its class is loaded with the first server that is asked by HTTP. */
function isRefused(error: unknown): error is Error & { readonly status: number; readonly sessionGone: boolean } {
  return error instanceof Error && 'status' in error && 'sessionGone' in error
}

/** A server that knows no list has no tools, and is well: it may have resources and prompts, which nobody uses here. */
function emptyIfUnknown(error: unknown): Given {
  if (coded(error).code === UNKNOWN_METHOD) return { given: undefined }
  throw error
}

/** Returns the first address that a server wants opened. */
function firstAddress(data: unknown): z.output<typeof OPENED> | undefined {
  const { elicitations: list }: { elicitations?: unknown } = { ...(data ?? {}) }
  return Array.isArray(list) ? OPENED.safeParse(list[0]).data : undefined
}

/** Returns the words of an error of a server without the number of the library. */
function withoutNumber(error: unknown): string {
  return toError(error).message.replace(/^MCP error -?\d+: /, '')
}

/** Returns the code of the protocol and what comes with it; nothing for an error of another kind. */
function coded(error: unknown): { readonly code?: unknown; readonly data?: unknown } {
  return error instanceof Error ? { ...(error as { readonly code?: unknown; readonly data?: unknown }) } : {}
}

interface TransportDeps {
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
  /** Called when a server says that its tools are others now. */
  changed(): void
}

/** The way to a server. */
interface ServerTransport extends Transport {
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
async function openTransport(at: McpProgram | McpAddress, deps: TransportDeps): Promise<ServerTransport> {
  if (at.kind === 'program') return toProgram(at, deps)
  const { clock, fetch, elicits, slowed, changed } = deps
  const { AddressTransport } = await import('./address-transport.ts')
  return new AddressTransport(at, { clock, fetch, listens: elicits, slowed, changed })
}

/** A program gets PATH, HOME, LOGNAME, SHELL, TERM and USER of this process, and what the configuration names. */
async function toProgram(program: McpProgram, deps: TransportDeps): Promise<ServerTransport> {
  const { clock, printed, slowed, changed, redact } = deps
  const { getDefaultEnvironment } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const { ProgramTransport } = await import('./program-transport.ts')
  return new ProgramTransport(program, { clock, env: getDefaultEnvironment(), printed, slowed, changed, redact })
}
