import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { type Clock, systemClock } from '../../src/core/clock.ts'
import { type ChildRun, runChild } from '../../src/platform/run-child.ts'
import { isRunning } from '../fakes/running.ts'

const bounds = { args: [], input: new Uint8Array(), heapMb: 16, mostBytes: 1_000, clock: systemClock, withinMs: 60_000 }

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'parley-child-'))
  onTestFinished(() => rmSync(path, { recursive: true }))
  return path
}

function run(code: string, part: Partial<ChildRun> = {}): Promise<Buffer> {
  const file = join(folder(), 'child.mjs')
  writeFileSync(file, code)
  return runChild(pathToFileURL(file), { ...bounds, signal: new AbortController().signal, ...part })
}

/** A program that says its process by a file of the name it is given, and does not end. */
const ENDLESS = `import { writeFileSync, renameSync } from 'node:fs'
  writeFileSync(process.argv[2] + '-', String(process.pid))
  renameSync(process.argv[2] + '-', process.argv[2])
  setInterval(() => {}, 1_000)`

async function startEndless(part: Partial<ChildRun>) {
  const said = join(folder(), 'pid')
  const running = run(ENDLESS, { ...part, args: [said] })
  running.catch(() => undefined)
  await expect.poll(() => existsSync(said), { timeout: 30_000 }).toBe(true)
  return { running, pid: Number(readFileSync(said, 'utf8')) }
}

it('resolves with everything that a process wrote of its arguments and its input, without environment', async () => {
  const code = `import { text } from 'node:stream/consumers'
    const input = await text(process.stdin)
    process.stdout.write(JSON.stringify([process.argv[2], input.length, Object.keys(process.env)]))`
  const written = await run(code, { args: ['word'], input: Buffer.alloc(3_000_000, 'x') })
  expect(JSON.parse(String(written))).toEqual(['word', 3_000_000, []])
})

it('rejects with the process of a program that passes its heap, and this process lives', async () => {
  await expect(run('for (const all = [];;) all.push([all.length])')).rejects.toThrow('without an answer')
})

it.each([
  ['ends with another status than 0', 'process.exit(3)'],
  ['throws', 'process.stdout.write("a"); throw new Error("broken")'],
  ['writes more than it may and ends', 'process.stdout.write("x".repeat(1_001))'],
  ['writes without an end', 'for (;;) process.stdout.write("x".repeat(1_001))'],
])('rejects where the process %s', async (_how, code) => {
  await expect(run(code)).rejects.toThrow('without an answer')
})

it('kills a process whose time is over', async () => {
  let ends: (() => void) | undefined
  const clock: Clock = {
    ...systemClock,
    after(ms, callback) {
      expect(ms).toBe(60_000)
      ends = callback
      return () => undefined
    },
  }
  const { running, pid } = await startEndless({ clock })
  ends?.()
  await expect(running).rejects.toThrow()
  await expect.poll(() => isRunning(pid)).toBe(false)
})

it('kills a process that is no longer wanted, and starts none', async () => {
  const stopped = new AbortController()
  const { running, pid } = await startEndless({ signal: stopped.signal })
  stopped.abort()
  await expect(running).rejects.toThrow()
  await expect.poll(() => isRunning(pid)).toBe(false)
  await expect(run('', { signal: stopped.signal })).rejects.toThrow('aborted')
})

it('a process is nicer than this one', async () => {
  const { pid } = await startEndless({ signal: endedWithTest() })
  expect(getPriority(pid)).toBe(Math.min(getPriority() + 5, 19))
})

function endedWithTest(): AbortSignal {
  const ended = new AbortController()
  onTestFinished(() => ended.abort())
  return ended.signal
}
