import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import type { Clock } from '../core/clock.ts'
import { DOORS } from '../core/doors.ts'
import { ParleyError } from '../core/errors.ts'
import type { HookCommand } from '../core/hook.ts'
import { Bytes } from '../core/read-bytes.ts'

/** A program that writes a longer answer is ended. */
const MOST_BYTES = DOORS.hookAnswer.bytes
/** Bytes on its standard error; a program that writes more is ended too. */
const MOST_COMPLAINED = 1024 * 1024
/** Characters of what a program says on its standard error when it fails. */
const LONGEST_COMPLAINT = 500

/** The time in which the output of a program that has ended is read to its end. */
const LAST_OUTPUT_MS = 200

type Child = ChildProcessByStdio<Writable, Readable, Readable>

interface Running {
  readonly clock: Pick<Clock, 'after'>
  readonly signal: AbortSignal
}

/**
 * Runs a program with `input` on its standard input and resolves with what it printed. What it has started is killed
 * when it ends, and the program itself when `signal` aborts. Throws `unavailable` in words for the log.
 */
export function runCommand(
  { command, args, env, folder }: HookCommand,
  input: string,
  { clock, signal }: Running,
): Promise<string> {
  const child: Child = spawn(command, args, {
    ...{ cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] as const },
    // A group of its own, so that what it started ends with it.
    detached: true,
  })
  return new Promise<string>((resolve, reject) => {
    const out = new Bytes(MOST_BYTES)
    let [complained, complaint] = [0, '']
    let cancel = (): void => {}
    const end = (settle: () => void): void => {
      signal.removeEventListener('abort', late)
      cancel()
      killGroup(child)
      // A program that left the group may hold the other ends for ever; one that did not start may have none.
      for (const stream of child.stdio ?? []) stream?.destroy()
      settle()
    }
    const fail = (reason: string): void => end(() => reject(new ParleyError('unavailable', reason)))
    const late = (): void => fail('it did not end in time')
    const ended = (code: number | null, by: string | null): void => {
      if (code === 0) end(() => resolve(out.whole().toString('utf8')))
      else fail(`it ended with ${by ?? code}${complaint.trim() === '' ? '' : `: ${complaint.trim()}`}`)
    }
    signal.addEventListener('abort', late, { once: true })
    child.on('error', (error) => fail(`it cannot be started: ${error.message}`))
    // It has no input and output where no descriptor is free, and the error comes later.
    if (child.pid === undefined) return
    child.stdout.on('data', (chunk: Buffer) => {
      if (!out.add(chunk)) fail(`it printed more than ${MOST_BYTES} bytes`)
    })
    child.stderr.on('data', (chunk: Buffer) => {
      complained += chunk.length
      if (complained > MOST_COMPLAINED) fail(`it complained at more than ${MOST_COMPLAINED} bytes`)
      else if (complaint.length < LONGEST_COMPLAINT) complaint = `${complaint}${chunk}`.slice(0, LONGEST_COMPLAINT)
    })
    child.on('exit', (code, by) => {
      killGroup(child)
      cancel = clock.after(LAST_OUTPUT_MS, () => ended(code, by))
    })
    child.on('close', ended)
    // A program that does not read its input closes it early.
    child.stdin.on('error', () => undefined)
    child.stdin.end(input)
    if (signal.aborted) late()
  })
}

function killGroup({ pid }: Child): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
