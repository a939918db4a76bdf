import { once } from 'node:events'
import { backOffMs } from '../core/backoff.ts'
import { sleep, within } from '../core/clock.ts'
import { errorCode, ParleyError, toError } from '../core/errors.ts'
import type { SessionId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { type McpServer, type McpState, mcpGroup } from '../core/mcp.ts'
import { isIn, namesTool } from '../core/place.ts'
import type { AsksPeople } from '../core/question.ts'
import type { Tool, ToolOutput } from '../core/turn.ts'
import { boundCall } from './bound-call.ts'
import { type ConnectionDeps, createConnection, type McpConnection } from './connection.ts'
import { createElicits, type Elicits } from './elicit.ts'
import type { ListedTool } from './read-tools.ts'
import { resultContent } from './result-content.ts'

/** The most tools that one line of the log names as left out. */
const MOST_NAMED = 50

/**
 * The time in which a turn waits for a server that is not there yet: from its first start, so that what has waited
 * while the daemon was down finds its tools, and later where the last try took no longer than that.
 */
const GRACE_MS = 1_000
/** The time that a turn waits whose calls are those of a server: a turn that is resumed after a restart. */
const CALLED_MS = 15_000
/** The waits between tries to reach a server whose tools are not known yet. */
const JOIN = { firstMs: 1_000, longestMs: 300_000 }
/** The longest of them where it asks for a login, which somebody may be making. */
const LOGIN_MS = 30_000

/** The tools of all servers. */
export interface McpTools {
  /**
   * The tools of each server by their group: none as long as it has not been up. `called` are the names of tools that
   * the turn has calls of.
   */
  readonly groups: Readonly<Record<string, (called?: readonly string[]) => Promise<readonly Tool[]>>>
  /** Starts the servers of these groups, those that nobody uses are left alone. */
  start(this: void, groups: readonly string[]): void
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

/** Makes the groups of the servers. Nothing is started or loaded before `start`, or a turn of an agent that has one. */
export function createMcpTools(servers: readonly McpServer[], deps: McpDeps): McpTools {
  const joining = servers.map((server) => new JoiningTools(server, deps))
  return {
    groups: Object.fromEntries(joining.map((one) => [one.group, (called = []) => one.tools(called)])),
    start: (groups) => {
      for (const one of joining) if (groups.includes(one.group)) one.start()
    },
    states: () => new Map(joining.map((one) => [one.server.name, one.connection.state()])),
    async close() {
      await Promise.all(joining.map((one) => one.close()))
    },
  }
}

/**
 * The tools of one server, which join when it is up; no turn waits for one that is slow or cannot be had. They are
 * listed once for the life of the process: a list that changed under a conversation would cost the whole prompt anew,
 * and what an operator has looked at would become something else (decision 0026).
 */
class JoiningTools {
  readonly server: McpServer
  readonly connection: McpConnection
  readonly #deps: McpDeps
  readonly #logger: Logger
  readonly #closed = new AbortController()
  #tools: readonly Tool[] | undefined
  /** By the time that runs. */
  #startedAt: number | undefined
  #trying: Promise<void> | undefined
  #lastTryMs = Number.POSITIVE_INFINITY
  #wantsLogin = false
  readonly #onJoined = new AbortController()

  constructor(server: McpServer, deps: McpDeps) {
    this.server = server
    this.#deps = deps
    this.#logger = deps.logger.child({ server: server.name })
    this.connection = createConnection(server, { ...deps, elicits: deps.people !== undefined })
  }

  get group(): string {
    return mcpGroup(this.server.name)
  }

  start(): void {
    if (this.#startedAt !== undefined) return
    this.#startedAt = this.#deps.clock.elapsed()
    void this.#join()
  }

  /** Never rejects. */
  async tools(called: readonly string[]): Promise<readonly Tool[]> {
    const { clock } = this.#deps
    this.start()
    if (this.#tools?.length) return this.#tools
    // Whoever asks for it now may have mended it.
    const isTried = this.connection.waitMs() > 0 || this.#tools !== undefined
    const trying = isTried ? this.#trying : this.#try()
    const isCalled = called.some((name) => name.startsWith(`${this.server.name}__`))
    const grace = this.#lastTryMs < GRACE_MS ? GRACE_MS : (this.#startedAt ?? 0) + GRACE_MS - clock.elapsed()
    const waitMs = isCalled ? CALLED_MS : grace
    const awaited = isCalled ? this.#joined() : trying
    // A list that is empty is asked for again behind the turns.
    const isWaited = isCalled || this.#tools === undefined
    if (awaited !== undefined && isWaited && waitMs > 0) await within(clock, waitMs, awaited)
    return this.#tools ?? []
  }

  async close(): Promise<void> {
    this.#closed.abort()
    await this.connection.close()
  }

  async #join(): Promise<void> {
    const { signal } = this.#closed
    // Some servers list nothing until what is behind them is up.
    for (let tries = 1; !signal.aborted && !this.#tools?.length; tries++) {
      await this.#try()
      const longestMs = this.#wantsLogin ? LOGIN_MS : JOIN.longestMs
      const waitMs = Math.max(backOffMs(tries, { ...JOIN, longestMs }), this.connection.waitMs())
      if (!this.#tools?.length) await sleep(this.#deps.clock, waitMs, signal)
    }
    this.#onJoined.abort()
  }

  /** Resolves when the tools are there, or are not wanted any more. */
  async #joined(): Promise<void> {
    if (!this.#onJoined.signal.aborted) await once(this.#onJoined.signal, 'abort')
  }

  /** Lists the tools, once at a time. Never rejects: the connection says a failure in the log. */
  #try(): Promise<void> {
    const since = this.#deps.clock.elapsed()
    this.#trying ??= this.#list()
      .catch((error: unknown) => {
        this.#wantsLogin = errorCode(toError(error).cause) === 'unauthorized'
      })
      .finally(() => {
        this.#lastTryMs = this.#deps.clock.elapsed() - since
        this.#trying = undefined
      })
    return this.#trying
  }

  async #list(): Promise<void> {
    const { tools, leftOut, unknown } = await this.connection.list()
    if (leftOut.length > 0) {
      const named = leftOut.slice(0, MOST_NAMED)
      this.#logger.warn('Tools of a server were left out', { leftOut: named, number: leftOut.length })
    }
    if (unknown.length > 0 && tools.length > 0)
      this.#logger.warn('The configuration names tools that a server does not have', { unknown })
    const deps = { ...this.#deps, connection: this.connection, logger: this.#logger }
    const isNew = this.#tools?.length !== tools.length
    this.#tools = tools.map((tool) => toolOf(this.server, tool, deps))
    if (tools.length > 0) this.#onJoined.abort()
    if (isNew) this.#logger.info('The tools of a server are there', { number: tools.length })
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
      return await boundCall(server, tool, tool.restore(argumentsOf(args)))
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
