import { once } from 'node:events'
import { type ResourceLimits, Worker } from 'node:worker_threads'

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
