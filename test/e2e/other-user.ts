import { spawnSync } from 'node:child_process'
import { PRODUCT } from '../faults/daemon-child.ts'

export const NOBODY = 65_534

/** True where this process may become another user who can read this Node and the built program. */
export const OTHER_USER_RUNS =
  process.geteuid?.() === 0 &&
  spawnSync(process.execPath, [PRODUCT, '--version'], { cwd: '/', uid: NOBODY, gid: NOBODY }).status === 0
