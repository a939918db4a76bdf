import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, realpathSync, statSync } from 'node:fs'
import { ParleyError } from '../core/errors.ts'
import { readText } from '../core/read-text.ts'

/** Many times what a configuration of thousands of rules takes; more would be parsed for minutes, or never end. */
const MOST_BYTES = 1024 * 1024
/**
 * Limits the time in which a named pipe brings nothing: its other end may never be opened, and the daemon is blocked
 * meanwhile.
 */
const PIPE_DEADLINE_MS = 1000
const LOOK_EVERY_MS = 10

interface BoundedText {
  readonly text: string
  /** Some bytes stand for no character. */
  readonly damaged: boolean
  readonly mode: number
}

/**
 * Returns the text of a file or pipe, in UTF-8 or the UTF-16 of Windows, and the mode of the very file that was read.
 * Throws `too_long` beyond a megabyte, `unavailable` for a named pipe that nobody writes to, and `invalid` for anything
 * else whose next byte may never come, such as a terminal or the log of the kernel.
 */
export function readBounded(path: string): BoundedText {
  // Otherwise the opening of a named pipe itself would wait for its other end.
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const bytes = Buffer.alloc(MOST_BYTES + 1)
    const length = isNamedPipe(path) ? fillFromPipe(file, bytes) : fill(file, bytes)
    if (length === 'silent') throw new ParleyError('unavailable', `${path} is a pipe into which nobody writes`)
    if (length === 'endless') throw new ParleyError('invalid', `${path} is a device, or has no end`)
    if (length > MOST_BYTES) throw new ParleyError('too_long', `${path} is larger than 1 MB`)
    const { text, damaged } = readText(bytes.subarray(0, length), [utf16Of(bytes.subarray(0, length))])
    return { text, damaged, mode: fstatSync(file).mode }
  } finally {
    closeSync(file)
  }
}

/** Says that a file which the configuration names could not be read, and what to do about it. */
export function unread(path: string, error: unknown, remedy: string): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'an error'
  return code === 'EISDIR' ? notFile(path) : `${path} cannot be read (${code}); ${remedy}`
}

/** Says that a folder stands where the configuration names a file. */
export function notFile(path: string): string {
  return `${path} ${IS_FOLDER}`
}

/** Container engines make a folder of their own where the file that they should mount is missing. */
export const IS_FOLDER = 'is a folder and not a file; name the file in it, or take the folder away and make the file'

export function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** Returns the UTF-16 that has no mark: its first character is of ASCII, as in every configuration and secret. */
function utf16Of([first, second]: Uint8Array): string | undefined {
  if (first === undefined || second === undefined || (first === 0) === (second === 0)) return undefined
  return second === 0 ? 'utf-16le' : 'utf-16be'
}

/** Waits for the pipe that a shell hands over, as `<(…)` does: its other end is open. */
function fill(file: number, bytes: Buffer): number | 'endless' {
  const waits = fstatSync(file).isFIFO()
  for (let length = 0; ; ) {
    const read = readSome(file, bytes.subarray(length))
    if (read === 'end') return length
    if (read !== 'nothing') length += read
    else if (waits) pause()
    else return 'endless'
  }
}

/** Returns `silent` if nothing came for too long. */
function fillFromPipe(file: number, bytes: Buffer): number | 'silent' {
  let length = 0
  for (let silentMs = 0; silentMs <= PIPE_DEADLINE_MS; silentMs += LOOK_EVERY_MS) {
    const read = readSome(file, bytes.subarray(length))
    if (read === 'end' && length > 0) return length
    if (typeof read === 'number') {
      length += read
      silentMs = 0
    } else pause()
  }
  return 'silent'
}

function pause(): void {
  Atomics.wait(NEVER, 0, 0, LOOK_EVERY_MS)
}

/** Wakes nobody: to wait on it is to sleep. */
const NEVER = new Int32Array(new SharedArrayBuffer(4))

/** `end` also where nobody has opened the other end of a pipe yet, `nothing` where nothing was written to it yet. */
function readSome(file: number, into: Buffer): number | 'end' | 'nothing' {
  try {
    // A full buffer ends the reading too.
    return readSync(file, into, 0, into.length, null) || 'end'
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return 'nothing'
    throw error
  }
}

/** The pipe of a shell has no name in any folder. */
function isNamedPipe(path: string): boolean {
  try {
    return lstatSync(realpathSync(path)).isFIFO()
  } catch {
    return false
  }
}
