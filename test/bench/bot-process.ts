import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export interface BotCommand {
  /** Arguments for this Node. */
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** How long a bot may take to end. */
const DEADLINE_MS = 15_000

/** A bot as its user would start it: a process of its own, whose output goes to a file in `folder`. */
export class BotProcess {
  /** Rejects if the process ends before it is told to. */
  readonly ended: Promise<never>
  readonly #child: ChildProcess
  readonly #exit: Promise<unknown[]>
  #stopping = false

  constructor({ args, env }: BotCommand, folder: string) {
    const logFile = join(folder, 'bot.log')
    const log = openSync(logFile, 'a')
    this.#child = spawn(process.execPath, args, { env: { ...env }, cwd: folder, stdio: ['ignore', log, log] })
    closeSync(log)
    this.#exit = once(this.#child, 'exit')
    this.ended = this.#exit.then(([code]) => {
      if (this.#stopping) return new Promise<never>(() => {})
      throw new Error(`The bot ended with ${String(code)}:\n${readFileSync(logFile, 'utf8').slice(-3000)}`)
    })
    this.ended.catch(() => {})
  }

  /** Memory held now, in MB (Linux). */
  rss(): number {
    const line = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${this.#child.pid}/status`, 'utf8'))
    return Number(line?.[1]) / 1024
  }

  /** Processor time used since the start, user and system, in ms (Linux, in ticks of 10 ms). */
  cpuTime(): number {
    const fields = readFileSync(`/proc/${this.#child.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return (Number(fields[11]) + Number(fields[12])) * 10
  }

  /** SIGTERM, and on until the process is gone. */
  async stop(): Promise<void> {
    this.#stopping = true
    this.#child.kill('SIGTERM')
    const force = setTimeout(() => this.#child.kill('SIGKILL'), DEADLINE_MS)
    await this.#exit
    clearTimeout(force)
  }
}
