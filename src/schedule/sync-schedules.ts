import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { ConfiguredSchedule, Schedule } from '../core/schedule.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { checkTiming } from './check-cron.ts'
import { letGo } from './let-go.ts'

export interface SyncDeps {
  readonly store: Store
  readonly clock: Clock
  readonly logger: Logger
}

/**
 * Makes the stored schedules of source `config` those of the configuration, by id; repeating it changes nothing
 * (F-E15). A schedule whose times changed begins anew from now, and its owed slots are not run (F-E11). Throws `config`
 * for times that were not checked.
 */
export async function syncSchedules(
  { store, clock, logger }: SyncDeps,
  configured: readonly ConfiguredSchedule[],
): Promise<void> {
  for (const { id, definition } of configured) {
    const [mistake] = checkTiming(definition)
    if (mistake) throw new ParleyError('config', `schedules.${id}.${mistake.field}: ${mistake.message}`)
  }
  const at = clock.now()
  const kept = new Set(configured.map(({ id }) => id))
  await store.write(async (tx) => {
    const known = new Map((await tx.schedules.all()).map((schedule) => [schedule.id, schedule]))
    for (const { id, source } of known.values()) {
      if (source !== 'config' || kept.has(id)) continue
      await tx.schedules.remove(id)
      await letGo(tx, id, { outcome: 'removed', at })
      tx.afterCommit(() => logger.info('A schedule is no longer in the configuration', { schedule: id }))
    }
    for (const one of configured) await put(tx, one, { known: known.get(one.id), at })
  })
}

async function put(
  tx: StoreWriter,
  { id, definition }: ConfiguredSchedule,
  { known, at }: { readonly known: Schedule | undefined; readonly at: number },
): Promise<void> {
  if (known?.source === 'config' && JSON.stringify(known.definition) === JSON.stringify(definition)) return
  await tx.schedules.put({ id, source: 'config', definition }, at)
  const { cron, timezone } = definition
  const was = known?.definition ?? definition
  if ('cron' in was && was.cron === cron && was.timezone === timezone) return
  await tx.schedules.setEvaluated(id, at)
  await letGo(tx, id, { outcome: 'changed', at })
}
