import { type Address, parseAddress } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import { ParleyError } from '../core/errors.ts'
import { type ScheduleId, toScheduleId } from '../core/ids.ts'
import { machineZone } from '../core/machine-zone.ts'
import type { NewReminder, ScheduleSummary } from '../core/operate-schedules.ts'
import { idOfRequest, requestOf, type Schedule } from '../core/schedule.ts'
import type { Store, StoreWriter } from '../store/store.ts'
import { letGo } from './let-go.ts'
import { readWish } from './read-wish.ts'
import { summaryOf } from './report.ts'
import { readTyped } from './when/read-when.ts'

interface ChangeDeps {
  readonly store: Store
  readonly clock: Clock
}

/**
 * Makes a reminder or a task for an operator. Throws `invalid` for a place on no channel, and for times that are not
 * understood. `request` names the request: one repeated after a crash makes nothing twice.
 */
export async function addSchedule(
  { store, clock, isPlace }: ChangeDeps & { isPlace(this: void, address: Address): boolean },
  { to, words, task = false, timezone = machineZone() }: NewReminder,
  request: string,
): Promise<ScheduleSummary> {
  const deliverTo = parseAddress(to)
  if (!isPlace(deliverTo)) throw new ParleyError('invalid', `${to} is on no channel of the configuration.`)
  const at = clock.now()
  const typed = readTyped(words, { now: at, timezone })
  if (typed === undefined)
    throw new ParleyError(
      'invalid',
      'There is no time in that; write it first, as in "tomorrow at 9 call mum" or "every monday at 8 put the bins out".',
    )
  const timing = readWish({ text: typed.text, task, timing: typed.timing }, { at, home: timezone })
  const id = idOfRequest(requestOf(request))
  await store.write(async (tx) => {
    if (await tx.schedules.get(id)) return
    const policies = { missed: { kind: 'once' }, overlap: 'skip' } as const
    const definition = {
      ...timing,
      ...policies,
      prompt: typed.text,
      deliverTo,
      ...(task ? {} : { said: true as const }),
    }
    await tx.schedules.put({ id, source: 'command', definition }, at, at)
  })
  return summaryOf(store.read, id, at)
}

/**
 * Pauses a schedule, whose slots are left out from then on, or resumes it: what would have come due in between is not
 * made up for, except a reminder for one time, which is owed. Throws `not_found`.
 */
export async function pauseSchedule(
  { store, clock }: ChangeDeps,
  name: string,
  paused: boolean,
): Promise<ScheduleSummary> {
  const [id, at] = [toScheduleId(name), clock.now()]
  await store.write(async (tx) => {
    const { definition, ...was } = await stored(tx, id)
    if (was.paused === paused) return
    await tx.schedules.setPaused(id, paused, at)
    if (paused) await letGo(tx, id, { outcome: 'paused', at })
    else if (!('at' in definition)) await tx.schedules.setEvaluated(id, at)
  })
  return summaryOf(store.read, id, at)
}

/**
 * Removes a schedule that was made in a chat, and returns it as it was; a run that has begun continues. Throws
 * `not_found`, and `conflict` for one of the configuration, which the next start would make anew.
 */
export async function removeSchedule({ store, clock }: ChangeDeps, name: string): Promise<ScheduleSummary> {
  const [id, at] = [toScheduleId(name), clock.now()]
  const removed = await summaryOf(store.read, id, at)
  await store.write(async (tx) => {
    const { source } = await stored(tx, id)
    if (source === 'config')
      throw new ParleyError(
        'conflict',
        `${id} stands in the configuration: take it out of schedules and start anew, or pause it.`,
      )
    await tx.schedules.remove(id)
    await letGo(tx, id, { outcome: 'removed', at })
  })
  return removed
}

async function stored(tx: StoreWriter, id: ScheduleId): Promise<Schedule> {
  const found = await tx.schedules.get(id)
  if (found) return found
  throw new ParleyError('not_found', `There is no schedule ${id}.`)
}
