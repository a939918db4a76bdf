import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type ResourceLimits, Worker } from 'node:worker_threads'
import type { Clock } from '../core/clock.ts'

export interface WorkerRun {
  /** The `workerData` of the worker. */
  readonly data: unknown
  readonly limits: ResourceLimits
  readonly signal: AbortSignal
}

/**
 * Runs a file in a worker without environment, resolves with its first message, and ends the worker, whatever came of
 * it. Rejects with what the worker died of, when it ends without a message, and when the signal is aborted.
 */
export async function runWorker(file: URL, { data, limits, signal }: WorkerRun): Promise<unknown> {
  const options = { workerData: data, resourceLimits: limits, env: {}, stdout: true, stderr: true }
  const worker = new Worker(file, options)
  // It can pass a bound of memory after its time is over: an error that nobody listens to would end this process.
  worker.on('error', () => undefined)
  const ended = new AbortController()
  worker.once('exit', () => ended.abort(new Error('The worker ended without an answer.')))
  try {
    const [message] = await once(worker, 'message', { signal: AbortSignal.any([signal, ended.signal]) })
    return message
  } finally {
    await worker.terminate()
  }
}

interface BoundedRun extends WorkerRun {
  readonly clock: Clock
  readonly withinMs: number
}

/** Runs a file of the build in a worker, for a limited time. Resolves with undefined where no answer came of it. */
export async function askWorker(name: string, { clock, withinMs, signal, ...run }: BoundedRun): Promise<unknown> {
  const over = new AbortController()
  const cancel = clock.after(withinMs, () => over.abort())
  try {
    return await runWorker(builtFile(name), { ...run, signal: AbortSignal.any([signal, over.signal]) })
  } catch {
    return undefined
  } finally {
    cancel()
  }
}

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
  readonly signal: AbortSignal
}

/**
 * Runs a file in a process of its own without environment, and resolves with everything that it wrote. It is for code
 * that may end its process, for a worker would end this one. Rejects when it ends with anything but 0, and when the
 * signal is aborted, which kills it.
 */
export async function runChild(file: URL, { args, input, heapMb, mostBytes, signal }: ChildRun): Promise<Buffer> {
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
  const [code] = await closed
  if (code !== 0) throw new Error('The process ended without an answer.')
  return Buffer.concat(written)
}
