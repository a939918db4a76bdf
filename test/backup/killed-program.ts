import { armKillSwitch, type FailpointSpec } from '../faults/kill-switch.ts'

/** The real program, which kills itself at the failpoint in `KILL_AT`. */
armKillSwitch((process.env.KILL_AT ?? '') as FailpointSpec)
await import('../../src/main.ts')
