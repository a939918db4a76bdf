import { existsSync } from 'node:fs'
import { armFailpoints, type Failpoint } from '../../src/core/failpoint.ts'

/** `CP12-bytes-written:2`: at the second time the point is reached. Without a number: at the first. */
export type FailpointSpec = Failpoint | `${Failpoint}:${number}`

/**
 * From now on the process kills itself where `spec` says; no handler runs and nothing is flushed. Empty: never. With a
 * file, only what is reached while that file exists counts.
 */
export function armKillSwitch(spec: string, armedBy = ''): void {
  if (spec === '') return
  const [point, times = '1'] = spec.split(':')
  let left = Number(times)
  armFailpoints((reached) => {
    if (reached !== point || (armedBy !== '' && !existsSync(armedBy)) || --left > 0) return
    process.kill(process.pid, 'SIGKILL')
  })
}
