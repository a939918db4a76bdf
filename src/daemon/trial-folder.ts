import { readdirSync, rmSync, statSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const NAME = /^parley-trial-(\d+)-/

/** Makes a folder, named by this process, for the copy of a store that a trial changes; removes those of dead ones. */
export function makeTrialFolder(): Promise<string> {
  removeLeftTrials()
  return mkdtemp(join(tmpdir(), `parley-trial-${process.pid}-`))
}

/**
 * Removes the copies that were left by trials whose process was killed: they hold words that may be forgotten here
 * since.
 */
export function removeLeftTrials(folder = tmpdir()): void {
  for (const name of namesIn(folder)) {
    const holder = NAME.exec(name)?.[1]
    const path = join(folder, name)
    if (holder === undefined || isRunning(Number(holder)) || !isOurs(path)) continue
    rmSync(path, { recursive: true, force: true })
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** True also for a process of another user. */
function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ESRCH')
  }
}

/** Anybody may make a folder of such a name in the folder that all share. */
function isOurs(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.uid === process.geteuid?.()
}
