import { lstatSync, readdirSync, type Stats } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../core/clock.ts'
import { tryToRemove } from '../platform/remove-at-end.ts'

const NAME = /^parley-trial-(\d+)-/
/** No trial takes so long: by then another process may have the number of one that was killed. */
const LONGEST_MS = 86_400_000

/** Makes a folder, named by this process, for the copy of a store that a trial changes; removes those of dead ones. */
export function makeTrialFolder(clock: Pick<Clock, 'now'>): Promise<string> {
  removeLeftTrials(clock)
  return mkdtemp(join(tmpdir(), `parley-trial-${process.pid}-`))
}

/**
 * Removes the copies that were left by trials whose process was killed: they hold words that may be forgotten here
 * since. No start fails for one that stays.
 */
export function removeLeftTrials({ now }: Pick<Clock, 'now'>, folder = tmpdir()): void {
  const since = now() - LONGEST_MS
  for (const name of namesIn(folder)) {
    const holder = NAME.exec(name)?.[1]
    const path = join(folder, name)
    if (holder !== undefined && isLeft(path, { holder: Number(holder), since })) tryToRemove(path)
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

/** Anybody may make a folder, or a link to one of ours, of such a name in the folder that all share. */
function isLeft(path: string, { holder, since }: { readonly holder: number; readonly since: number }): boolean {
  const found = statsOf(path)
  if (found === undefined || !found.isDirectory() || found.uid !== process.geteuid?.()) return false
  return !isRunning(holder) || found.mtimeMs < since
}

function statsOf(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch {
    return undefined
  }
}
