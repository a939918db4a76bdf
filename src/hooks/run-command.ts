import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { ParleyError } from '../core/errors.ts'
import type { HookCommand } from '../core/hook.ts'

/** Bytes of an answer; a program that writes more is ended. */
const MOST_BYTES = 256 * 1024
/** Characters of what a program says on its standard error when it fails. */
const LONGEST_COMPLAINT = 500

type Child = ChildProcessByStdio<Writable, Readable, Readable>

/**
 * Runs a program with `input` on its standard input and resolves with what it printed. The program and everything it
 * started are killed when `signal` aborts. Throws `unavailable` in words for the log.
 */
export function runCommand({ command, args, env, folder }: HookCommand, input: string, signal: AbortSignal) {
  const child: Child = spawn(command, args, {
    ...{ cwd: folder, env, stdio: ['pipe', 'pipe', 'pipe'] as const },
    // A group of its own, so that what it started ends with it.
    detached: true,
  })
  return new Promise<string>((resolve, reject) => {
    const out: Buffer[] = []
    let size = 0
    let complaint = ''
    const fail = (reason: string): void => {
      killGroup(child)
      reject(new ParleyError('unavailable', reason))
    }
    const late = (): void => fail('it did not end in time')
    signal.addEventListener('abort', late, { once: true })
    child.on('error', (error) => fail(`it cannot be started: ${error.message}`))
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > MOST_BYTES) fail(`it printed more than ${MOST_BYTES} bytes`)
      else out.push(chunk)
    })
    child.stderr.on('data', (chunk: Buffer) => {
      if (complaint.length < LONGEST_COMPLAINT) complaint = `${complaint}${chunk}`.slice(0, LONGEST_COMPLAINT)
    })
    child.on('close', (code, by) => {
      signal.removeEventListener('abort', late)
      if (code === 0) resolve(Buffer.concat(out).toString('utf8'))
      else fail(`it ended with ${by ?? code}${complaint.trim() === '' ? '' : `: ${complaint.trim()}`}`)
    })
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
