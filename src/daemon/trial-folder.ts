import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Clock } from '../core/clock.ts'
import { removeLeft } from '../platform/remove-at-end.ts'

const NAME = /^parley-trial-(\d+)-/

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
  removeLeft(folder, { name: NAME, kind: 'folder', now: now() })
}
