import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { runWorker } from '../../src/platform/run-worker.ts'

const folder = mkdtempSync(join(tmpdir(), 'parley-worker-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const TOO_MUCH = 'for (const all = [];;) all.push([all.length])'
const limits = { maxOldGenerationSizeMb: 16, maxYoungGenerationSizeMb: 4 }
const never = new AbortController().signal

function worker(code: string): URL {
  const file = join(folder, `${code.length}.cjs`)
  writeFileSync(file, `const { parentPort, workerData } = require('node:worker_threads');${code}`)
  return pathToFileURL(file)
}

/** Returns what would have ended the process. */
function uncaught(): readonly unknown[] {
  const found: unknown[] = []
  const keep = (error: unknown): void => void found.push(error)
  process.on('uncaughtException', keep)
  onTestFinished(() => void process.off('uncaughtException', keep))
  return found
}

it('resolves with the first message', async () => {
  const file = worker('parentPort.postMessage({ got: workerData, env: Object.keys(process.env) })')
  expect(await runWorker(file, { data: 7, limits, signal: never })).toEqual({ got: 7, env: [] })
})

it('a bound of memory that is passed as its time runs out ends nothing', async () => {
  const found = uncaught()
  const over = new AbortController()
  const run = runWorker(worker(TOO_MUCH), { data: undefined, limits, signal: over.signal })
  // This thread stands still until the worker has died, so that it learns of both at the same moment. No event can tell
  // that without this thread; a worker that lives longer makes the test prove less, and fails nothing.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
  over.abort()
  await expect(run).rejects.toThrow()
  expect(found).toEqual([])
})

it.each([
  ['passes its memory', TOO_MUCH, /memory/],
  ['ends without an answer', 'process.exit(0)', /abort/],
  ['throws', 'throw new Error("broken")', /broken/],
])('rejects where the worker %s', async (_how, code, words) => {
  await expect(runWorker(worker(code), { data: undefined, limits, signal: never })).rejects.toThrow(words)
})
