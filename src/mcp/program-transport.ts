import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { delimiter, dirname } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { JSONRPCMessage, RequestId } from '@modelcontextprotocol/sdk/types.js'
import { type Clock, within } from '../core/clock.ts'
import { DOORS } from '../core/doors.ts'
import { errorCode, ParleyError, toError } from '../core/errors.ts'
import type { McpProgram } from '../core/mcp.ts'
import { createTextRedactor } from '../core/redact.ts'
import {
  LIST_CHANGED,
  MessageLines,
  type SentMessage,
  strictAnswer,
  strictRequest,
  tornAnswer,
  unreadError,
  unreadKind,
} from './lenient.ts'
import { endMarked, endsWithProcess, markOfStart, signal } from './marked-processes.ts'
import { readPaced } from './pace.ts'

export interface ProgramDeps {
  readonly clock: Clock
  /** The variables that every program gets. */
  readonly env: Readonly<Record<string, string>>
  /** Takes the configured secrets out of what the program prints; its own variables are taken out anyway. */
  readonly redact?: ((text: string) => string) | undefined
  /** Called with each line that the program prints, to its standard error or, beside the messages, to its output. */
  printed(line: string): void
  /** Called when it writes more than it is asked for and is read slowly from then on. */
  slowed(): void
  /** Called when the program says that its tools are others now. */
  changed(): void
}

/** The end of a program: by its own code, or by a signal. */
export interface ProgramEnd {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** Bytes a second of messages that answer nothing, and of its own log. */
const UNASKED = 256_000
const PRINTED = 64_000
/** The longest line of its log in bytes: more is read than is kept, so that no half of a secret is left at the cut. */
const LONGEST_LINE = 4_000
const LONGEST_KEPT = 500
const MOST_KEPT = 20
/** The time in which an answer may still come behind a line that is none: a log may show what is about to be sent. */
const TORN_MS = 500
/** Bytes that wait to be read by the program. */
const MOST_WAITING = 4_000_000
const STEP_MS = 2_000
/** The folders of programs if this process has no PATH. */
const USUAL_PATH = ['/usr/local/bin', '/usr/bin', '/bin'].join(delimiter)

const NPM = /(^|\/)np[mx]$/
/** Without a network npm waits 70 s between its tries before it says so, which is longer than a start may take. */
const SOON = { npm_config_fetch_retry_mintimeout: '1000', npm_config_fetch_retry_maxtimeout: '2000' }

/** The programs that run. */
const running = new Set<ProgramTransport>()

/** Ends all programs of this process, for a command that is interrupted while one of them starts. */
export async function endPrograms(): Promise<void> {
  await Promise.all([...running].map((program) => program.close()))
}

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
  readonly #redact: (text: string) => string
  readonly #lines = new MessageLines(DOORS.toolServer.bytes)
  /** The program has ended: what is left of its output is read at once. */
  readonly #exited = new AbortController()
  /** All is read, or given up. */
  readonly #ended = new AbortController()
  /** The requests without an answer, each with its method. */
  readonly #open = new Map<RequestId, string>()
  #printed: string[] = []
  #end: ProgramEnd | undefined
  #child: ChildProcess | undefined

  constructor(program: McpProgram, deps: ProgramDeps) {
    this.#program = program
    this.#deps = deps
    const [own, configured = same] = [createTextRedactor(Object.values(program.env)), deps.redact]
    this.#redact = (text) => own(configured(text))
  }

  /**
   * Starts the program, in a process group of its own and with a mark that everything inherits that it starts: all of
   * that ends with it.
   */
  async start(): Promise<void> {
    const { command, args, folder } = this.#program
    const mark = markOfStart()
    const child = spawn(command, args, {
      ...{ stdio: 'pipe', detached: true, env: { ...this.#environment(), [mark.name]: mark.value } },
      ...(folder === undefined ? {} : { cwd: folder }),
    })
    child.on('error', (error) => this.onerror?.(error))
    child.stdin.on('error', () => undefined)
    await once(child, 'spawn')
    this.#child = child
    running.add(this)
    const letGo = endsWithProcess(child.pid ?? 0, mark)
    const closed = new Promise((resolve) => child.once('close', resolve))
    const read = Promise.all([this.#readOutput(child), this.#readLog(child), closed])
    child.once('exit', async (code, by) => {
      this.#end = { code, signal: by }
      signalGroup(child, 'SIGKILL')
      this.#exited.abort()
      const { clock } = this.#deps
      await Promise.all([endMarked(mark, clock), within(clock, STEP_MS, read)])
      letGo()
      this.#over(child)
    })
  }

  /** Returns the last lines that the program has printed, without secrets, each cut to 500 bytes. */
  printed(): readonly string[] {
    return this.#printed
  }

  /** The end of the program; undefined as long as it runs. */
  get ended(): ProgramEnd | undefined {
    return this.#end
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
    for (const name of ['SIGTERM', 'SIGKILL'] as const) {
      if (await within(this.#deps.clock, STEP_MS, this.#whenOver())) return
      if (!this.#exited.signal.aborted) signalGroup(child, name)
    }
    await this.#whenOver()
  }

  /** Programs of the Node that runs this, such as `npx`, are found also where a service has them not in its PATH. */
  #environment(): Record<string, string> {
    const { command, env } = this.#program
    const path = `${this.#deps.env.PATH ?? USUAL_PATH}${delimiter}${dirname(process.execPath)}`
    return { ...this.#deps.env, PATH: path, ...(NPM.test(command) ? SOON : {}), ...env }
  }

  async #readOutput({ stdout }: ChildProcess): Promise<void> {
    if (stdout === null) return
    const take = (line: string, isCut: boolean): boolean => this.#take(line, isCut)
    try {
      await readPaced(stdout, { ...this.#pace(), most: DOORS.toolServer.bytes, rate: UNASKED, take })
    } catch (error) {
      this.onerror?.(toError(error))
    }
    void this.close()
  }

  async #readLog({ stderr }: ChildProcess): Promise<void> {
    if (stderr === null) return
    const take = (line: string): boolean => this.#print(line)
    await readPaced(stderr, { ...this.#pace(), most: LONGEST_LINE, rate: PRINTED, take }).catch(() => {})
  }

  #pace() {
    const { clock, slowed } = this.#deps
    return { clock, signal: this.#exited.signal, slowed }
  }

  async #whenOver(): Promise<void> {
    if (!this.#ended.signal.aborted) await once(this.#ended.signal, 'abort')
  }

  #over(child: ChildProcess): void {
    running.delete(this)
    this.#ended.abort()
    child.stdout?.destroy()
    child.stderr?.destroy()
    this.onclose?.()
  }

  /** Returns true for a line with the answer to a request. */
  #take(line: string, isCut: boolean): boolean {
    try {
      if (isCut) throw new ParleyError('too_long', `It has more than ${DOORS.toolServer.bytes} bytes.`)
      const messages = this.#lines.read(line)
      if (messages === undefined) return this.#takeTorn() || this.#print(line)
      return messages.map((message) => this.#receive(message)).includes(true)
    } catch (error) {
      if (errorCode(error) !== 'too_long') throw error
      return this.#refuse(line, error)
    }
  }

  /** Fails the request whose answer is no JSON, where that can be known, unless another answer comes soon. */
  #takeTorn(): boolean {
    if (this.#open.size === 0) return false
    const torn = tornAnswer(this.#lines.last)
    if (torn === undefined) return false
    const [only, ...others] = this.#open.keys()
    const id = torn.id === undefined && others.length === 0 ? only : this.#asked(torn.id)
    if (id === undefined) return false
    this.#print(this.#lines.last)
    this.#deps.clock.after(TORN_MS, () => {
      if (this.#open.delete(id)) this.onmessage?.(strictAnswer(id, { error: torn.error }))
    })
    return true
  }

  /** Answers the request whose answer is too long to be read: where that has no id, the one that waits longest. */
  #refuse(line: string, error: unknown): boolean {
    const unread = unreadKind(line)
    const id = unread.kind === 'other' ? undefined : (this.#asked(unread.id) ?? this.#open.keys().next().value)
    this.onerror?.(toError(error))
    if (id === undefined) return this.#print(line)
    this.#open.delete(id)
    this.onmessage?.(strictAnswer(id, { error: unreadError(error) }))
    return true
  }

  #receive(message: SentMessage): boolean {
    const { id, method } = message
    if (typeof method === 'string') {
      if (method === LIST_CHANGED) this.#deps.changed()
      if (id !== undefined && id !== null) this.onmessage?.(strictRequest(message))
      return false
    }
    // It does not say which request it refuses, and may be about a notification.
    if (id === null && message.error) return this.#print(JSON.stringify(message.error))
    const asked = this.#asked(id)
    if (asked === undefined) return false
    this.#open.delete(asked)
    this.onmessage?.(strictAnswer(asked, message))
    return true
  }

  /** Returns the open request that an answer is for: some programs return its number as a text. */
  #asked(id: unknown): RequestId | undefined {
    return [...this.#open.keys()].find((asked) => asked === id || (typeof id === 'string' && id === String(asked)))
  }

  #print(line: string): false {
    // A bar of progress is written again and again into the same line.
    const last = stripVTControlCharacters(line.slice(0, LONGEST_LINE))
      .split('\r')
      .findLast((part) => part.trim() !== '')
    if (last === undefined) return false
    const kept = Buffer.from(this.#redact(last.trimEnd())).subarray(0, LONGEST_KEPT).toString()
    this.#printed = [...this.#printed, kept].slice(-MOST_KEPT)
    this.#deps.printed(kept)
    return false
  }
}

const same = (text: string): string => text

function signalGroup({ pid }: ChildProcess, name: NodeJS.Signals): void {
  if (pid !== undefined) signal(-pid, name)
}
