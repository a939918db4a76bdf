import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync, readFileSync, statSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { TelegramEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import type { TelegramServer } from '../../src/rehearsal/telegram/server.ts'
import type { FailpointSpec } from './kill-switch.ts'

/** The test build: takes a setup file and, as its second argument, a failpoint. */
export const TEST_BUILD = fileURLToPath(new URL('../../dist/test/daemon-under-test.js', import.meta.url))
/** What users run. */
export const PRODUCT = fileURLToPath(new URL('../../dist/main.js', import.meta.url))
const SHOWN_LINES = 40
/** Several are started side by side, beside whatever else the machine does. */
export const START_WITHIN_MS = 60_000

/** How a process ended: one of the two is null. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface ChildPlace {
  readonly entry: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** The user that runs it; absent: the one of the test. */
  readonly uid?: number
  readonly gid?: number
  readonly logFile: string
  readonly telegram: TelegramServer
}

function isListening(entry: TelegramEntry): boolean {
  return entry.kind === 'poll' || (entry.kind === 'call' && entry.method === 'setWebhook' && entry.answer?.ok === true)
}

/** The real daemon in a process of its own, started again and again on the same state. */
export class DaemonChild {
  readonly #place: ChildPlace
  #process: ChildProcess | undefined
  #exit: Promise<Exit> | undefined

  constructor(place: ChildPlace) {
    if (!existsSync(place.entry)) throw new Error(`There is no ${place.entry}; run npm run build and build:test first.`)
    this.#place = place
  }

  /** Starts it and does not wait for anything. With `armedBy`, the failpoint counts only while that file exists. */
  spawn(failpoint: FailpointSpec | '' = '', armedBy = ''): void {
    const { entry, args, env = {}, logFile, telegram: _telegram, ...as } = this.#place
    const log = openSync(logFile, 'a')
    const argv = [entry, ...args, ...(failpoint === '' ? [] : [failpoint, armedBy])]
    this.#process = spawn(process.execPath, argv, {
      ...as,
      stdio: ['ignore', log, log],
      env: { ...process.env, ...env },
    })
    this.#exit = once(this.#process, 'exit').then(([code, signal]) => ({ code, signal }))
    closeSync(log)
  }

  /** Starts it and resolves once it stands in a long poll, or has set its webhook; rejects if it ends before. */
  async start(failpoint: FailpointSpec | '' = '', armedBy = ''): Promise<void> {
    const { ledger } = this.#place.telegram
    const listening = ledger.next(isListening, { after: ledger.mark(), timeoutMs: START_WITHIN_MS })
    this.spawn(failpoint, armedBy)
    const ended = this.exited().then((exit) => {
      throw new Error(`The daemon ended with ${JSON.stringify(exit)} before it listened.\n${this.logTail()}`)
    })
    // After the start an exit is the test's own doing.
    ended.catch(() => {})
    await Promise.race([listening, ended])
  }

  /** Resolves when the process is gone. */
  async exited(): Promise<Exit> {
    if (!this.#exit) throw new Error('The daemon was not started.')
    return this.#exit
  }

  get pid(): number | undefined {
    return this.#process?.pid
  }

  get running(): boolean {
    const child = this.#process
    return child !== undefined && child.exitCode === null && child.signalCode === null
  }

  /** SIGKILL: no handler runs, nothing is flushed. */
  kill(): Promise<Exit> {
    return this.#end('SIGKILL')
  }

  /** Sends a signal that it should outlive. */
  signal(name: NodeJS.Signals): void {
    this.#process?.kill(name)
  }

  /** SIGTERM: it drains and exits. */
  terminate(): Promise<Exit> {
    return this.#end('SIGTERM')
  }

  /** The end of what all its runs have logged. */
  logTail(): string {
    // A device has no end.
    if (!statSync(this.#place.logFile).isFile()) return ''
    return readFileSync(this.#place.logFile, 'utf8').split('\n').slice(-SHOWN_LINES).join('\n')
  }

  #end(signal: NodeJS.Signals): Promise<Exit> {
    this.#process?.kill(signal)
    return this.exited()
  }
}
