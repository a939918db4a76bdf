import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { type Clock, sleep } from '../core/clock.ts'

/** A variable in the environment of a program, which everything inherits that the program starts. */
export interface ProcessMark {
  readonly name: string
  readonly value: string
}

/** Linux shows the environment of each process of the same user here. */
const PROCESSES = '/proc'
/** The time between the request to end and SIGKILL is `GENTLE` pauses; processes are looked for so often at most. */
const PAUSE_MS = 100
const GENTLE = 20
const MOST_ROUNDS = 30

/** Returns the mark of one start of a program. */
export function markOfStart(): ProcessMark {
  return { name: 'PARLEY_TOOL_SERVER', value: randomBytes(12).toString('hex') }
}

/**
 * Returns the mark of the programs that a daemon with this store starts; undefined without the file. The lock of the
 * store is on that file, so that two daemons that run have two marks, whatever their paths look like.
 */
export function markOfStore(path: string): ProcessMark | undefined {
  try {
    const { dev, ino } = statSync(path)
    return { name: 'PARLEY_TOOL_SERVER_OF', value: `store-${dev}-${ino}` }
  } catch {
    return undefined
  }
}

/**
 * Ends every process with the mark, by SIGTERM and after two seconds by SIGKILL, and returns how many were found: those
 * that left the process group of their program, or whose program was left behind by a killed daemon. Elsewhere than on
 * Linux none is found. A process that has overwritten or dropped its environment is not found either.
 */
export async function endMarked(mark: ProcessMark, clock: Clock): Promise<number> {
  const asked = new Set<number>()
  // A pause of the clock alone would let a command exit before the work is done.
  const hold = setInterval(() => {}, 1_000_000)
  try {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const found = await marked(mark)
      if (found.length === 0) break
      for (const pid of found) {
        if (round >= GENTLE) signal(pid, 'SIGKILL')
        else if (!asked.has(pid)) signal(pid, 'SIGTERM')
        asked.add(pid)
      }
      await sleep(clock, PAUSE_MS)
    }
  } finally {
    clearInterval(hold)
  }
  return asked.size
}

/** The groups of the programs that run, by their leader, each with the mark of its start. */
const running = new Map<number, ProcessMark>()

/**
 * Has a program killed, with everything it has started, should this process exit before the returned function is
 * called: after an error that nobody caught, a start that failed half-way or a second Ctrl-C.
 */
export function endsWithProcess(leader: number, mark: ProcessMark): () => void {
  if (running.size === 0) process.on('exit', killRunning)
  running.set(leader, mark)
  return () => {
    running.delete(leader)
    if (running.size === 0) process.off('exit', killRunning)
  }
}

/** Sends a signal to a process or, by a negative number, to a process group. */
export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It has ended already, or it is another user's.
  }
}

async function marked(mark: ProcessMark): Promise<number[]> {
  const found: number[] = []
  for (const pid of pidsIn(await readdir(PROCESSES).catch(() => []))) {
    const environment = await readFile(`${PROCESSES}/${pid}/environ`, 'latin1').catch(() => '')
    if (carries(environment, mark)) found.push(pid)
  }
  return found
}

function killRunning(): void {
  for (const leader of running.keys()) signal(-leader, 'SIGKILL')
  const marks = [...running.values()]
  for (const pid of pidsIn(namesNow())) {
    const environment = environmentNow(pid)
    if (marks.some((mark) => carries(environment, mark))) signal(pid, 'SIGKILL')
  }
}

/** This process may itself have been started by a tool server of an earlier daemon. */
function pidsIn(names: readonly string[]): number[] {
  return names.map(Number).filter((pid) => Number.isInteger(pid) && pid !== process.pid && pid !== process.ppid)
}

function carries(environment: string, { name, value }: ProcessMark): boolean {
  return `\0${environment}\0`.includes(`\0${name}=${value}\0`)
}

function namesNow(): readonly string[] {
  try {
    return readdirSync(PROCESSES)
  } catch {
    return []
  }
}

function environmentNow(pid: number): string {
  try {
    return readFileSync(`${PROCESSES}/${pid}/environ`, 'latin1')
  } catch {
    return ''
  }
}
