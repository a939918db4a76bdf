import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, readFileSync, type WriteStream } from 'node:fs'
import { request } from 'node:http'

export interface DaemonCommand {
  /** The program and arguments that start the daemon in the foreground. */
  readonly argv: readonly [string, ...string[]]
  readonly env: Readonly<Record<string, string>>
  /** The file for its log. */
  readonly logFile: string
  /** The local socket on which it answers. */
  readonly socketPath: string
}

/** The daemon as a child process, as a user would start it, so that a crash is a real one. */
export class DaemonProcess {
  readonly #command: DaemonCommand
  readonly #log: WriteStream
  #child: ChildProcess | undefined
  #over = false

  constructor(command: DaemonCommand) {
    this.#command = command
    this.#log = createWriteStream(command.logFile, { flags: 'a' })
  }

  /** Starts the daemon and resolves once `listening` did; rejects with the end of its log if it exits before. */
  async start(listening: Promise<unknown>): Promise<void> {
    if (this.#over) throw new Error('The daemon was stopped for good.')
    const [program, ...args] = this.#command.argv
    // It has a process group of its own: a Ctrl-C on the terminal is for the demo, which then stops it.
    const child = spawn(program, args, {
      env: { ...this.#command.env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    this.#child = child
    child.stdout.pipe(this.#log, { end: false })
    child.stderr.pipe(this.#log, { end: false })
    const exited = once(child, 'exit').then(([code]) => {
      throw new Error(`The daemon ended with ${String(code)}:\n${this.logTail()}`)
    })
    // After the start the tour itself causes every exit.
    exited.catch(() => {})
    await Promise.race([listening, exited])
  }

  /** Sends SIGKILL: no handler runs, nothing is flushed. Resolves when the process is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL')
  }

  /** Sends SIGTERM: the daemon drains and exits, and is not started again. Returns the exit code. */
  async stop(): Promise<number | null> {
    this.#over = true
    return this.#end('SIGTERM')
  }

  /** Asks the daemon's local API. Rejects if it does not answer with a 2xx. */
  ask(path: string, method: 'GET' | 'POST' = 'GET'): Promise<unknown> {
    return readJson({ socketPath: this.#command.socketPath, path, method })
  }

  async #end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null
    child.kill(signal)
    await once(child, 'exit')
    return child.exitCode
  }

  /** Returns the last lines of the daemon's log, for an error report. */
  logTail(): string {
    return readFileSync(this.#command.logFile, 'utf8').split('\n').slice(-20).join('\n')
  }
}

interface LocalRequest {
  readonly socketPath: string
  readonly path: string
  readonly method: 'GET' | 'POST'
}

function readJson({ socketPath, path, method }: LocalRequest): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = request({ socketPath, path, method }, async (response) => {
      let body = ''
      for await (const chunk of response.setEncoding('utf8')) body += chunk
      if (response.statusCode !== 200) return reject(new Error(`${path} answered ${response.statusCode}: ${body}`))
      resolve(JSON.parse(body))
    })
    call.on('error', reject)
    call.end()
  })
}
