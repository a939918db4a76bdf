import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { fileURLToPath } from 'node:url'
import pLimit from 'p-limit'
import type { Clock } from '../core/clock.ts'

/** Returns a file of the build: the one beside this code, or of the last build where the sources run, as in a test. */
export function builtFile(name: string): URL {
  const beside = new URL(`./${name}`, import.meta.url)
  return existsSync(beside) ? beside : new URL(`../../dist/${name}`, import.meta.url)
}

export interface ChildRun {
  readonly args: readonly string[]
  /** The whole of its standard input. */
  readonly input: Uint8Array
  /** Megabytes of its heap; what a library takes beside that it has to bound itself. */
  readonly heapMb: number
  /** It is ended when it writes more than so many bytes. */
  readonly mostBytes: number
  readonly clock: Clock
  /** It is ended after so long. */
  readonly withinMs: number
  readonly signal: AbortSignal
}

/** The child is so much nicer than the daemon, which goes first; 19 is the most there is. */
const NICER = 5
const NICEST = 19

/**
 * Runs a file in a process of its own without environment, and resolves with everything that it wrote. It is for code
 * that foreign data may bring down: a worker that is short of memory would end this process. Rejects when it ends with
 * anything but 0, and when its time is over or the signal is aborted, which kill it.
 */
export async function runChild(file: URL, run: ChildRun): Promise<Buffer> {
  run.signal.throwIfAborted()
  const over = new AbortController()
  const cancel = run.clock.after(run.withinMs, () => over.abort())
  try {
    return await answerOf(file, { ...run, signal: AbortSignal.any([run.signal, over.signal]) })
  } finally {
    cancel()
  }
}

async function answerOf(file: URL, { args, input, heapMb, mostBytes, signal }: ChildRun): Promise<Buffer> {
  const argv = [`--max-old-space-size=${heapMb}`, fileURLToPath(file), ...args]
  const child = spawn(process.execPath, argv, {
    env: {},
    stdio: ['pipe', 'pipe', 'ignore'],
    signal,
    killSignal: 'SIGKILL',
  })
  // It may end before it has read everything, and be killed after it has ended. Where no descriptor is free it has no
  // input, and the error of its start comes later.
  child.on('error', () => undefined)
  child.stdin.on('error', () => undefined)
  const closed = once(child, 'close')
  child.stdin.end(input)
  const written: Buffer[] = []
  let size = 0
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > mostBytes) child.kill('SIGKILL')
    else written.push(chunk)
  })
  if (child.pid !== undefined) setPriority(child.pid, Math.min(getPriority() + NICER, NICEST))
  const [code] = await closed
  if (code !== 0) throw new Error('The process ended without an answer.')
  return Buffer.concat(written)
}

/** Runs work in one of a few places; resolves with undefined as soon as the signal aborts, also while it waits. */
export type Places = <Done>(work: () => Promise<Done>, signal: AbortSignal) => Promise<Done | undefined>

/** Returns places of which `most` are taken at a time. Work that nobody waits for any more does not begin. */
export function createPlaces(most: number): Places {
  const inTurn = pLimit(most)
  return async (work, signal) => {
    const over = new AbortController()
    try {
      const done = inTurn(async () => (signal.aborted ? undefined : work()))
      return await Promise.race([done, aborted(signal, over.signal)])
    } finally {
      over.abort()
    }
  }
}

/** Resolves when `signal` aborts; `over` takes the listener away. */
function aborted(signal: AbortSignal, over: AbortSignal): Promise<undefined> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(undefined)
    else signal.addEventListener('abort', () => resolve(undefined), { once: true, signal: over })
  })
}
