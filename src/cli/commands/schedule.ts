import { EXIT } from '../../core/errors.ts'
import { machineZone } from '../../core/machine-zone.ts'
import type { ScheduleSummary } from '../../core/operate-schedules.ts'
import { askOperator } from '../ask-operator.ts'
import { placeNamed } from '../named-session.ts'
import { notedColumns } from '../print/columns.ts'
import { oneLine } from '../print/plain.ts'
import type { Style } from '../print/style.ts'
import { formatTime } from '../print/time.ts'
import { type ReadOptions, type ReadPorts, show, widthOf } from '../show.ts'

export async function listSchedules(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const schedules = await askOperator(ports, await ports.load(options.config, 'ask'), (operator) =>
    operator.schedules.list(),
  )
  show(ports, options, { value: schedules, lines: (style) => printSchedules(schedules, widthOf(ports.stdout), style) })
  return EXIT.ok
}

export interface AddOptions extends ReadOptions {
  readonly task?: boolean
  readonly zone?: string
}

/** Makes a reminder or a task; its times are read in the zone of this machine, or the one that is named. */
export async function addSchedule(
  ports: ReadPorts,
  { to, words, task, zone, ...options }: AddOptions & { readonly to: string; readonly words: string },
): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const timezone = zone ?? machineZone()
  const added = await askOperator(ports, loaded, async ({ schedules, sessions }) => {
    const wanted = { to: await placeNamed(sessions, to), words, timezone, ...(task ? { task } : {}) }
    return schedules.add(wanted)
  })
  const { id, prompt, when = added.cron, nextAt } = added
  const what = task ? 'The agent is asked' : 'It is said'
  show(ports, options, {
    value: added,
    lines: () => [
      `${what} ${when}: ${oneLine(prompt)}`,
      nextAt === undefined ? 'It never comes round.' : `Next: ${formatTime(nextAt, timezone)}`,
      `"parley schedule remove ${oneLine(id)}" ends it.`,
    ],
  })
  return EXIT.ok
}

export interface NextOptions extends ReadOptions {
  readonly id: string
  readonly count: number
}

export async function nextSlots(ports: ReadPorts, options: NextOptions): Promise<number> {
  const { id, count } = options
  const loaded = await ports.load(options.config, 'ask')
  const slots = await askOperator(ports, loaded, (operator) => operator.schedules.next(id, count))
  show(ports, options, { value: slots.map((at) => new Date(at).toISOString()), lines: () => printNext(slots) })
  return EXIT.ok
}

/** Pauses, resumes or removes one. */
export async function changeSchedule(
  ports: ReadPorts,
  id: string,
  options: ReadOptions & { readonly change: 'pause' | 'resume' | 'remove' },
): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const summary = await askOperator(ports, loaded, (operator) => operator.schedules[options.change](id))
  show(ports, options, { value: summary, lines: (style) => printSchedules([summary], widthOf(ports.stdout), style) })
  return EXIT.ok
}

export async function runSchedule(ports: ReadPorts, id: string, options: ReadOptions): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const run = await askOperator(ports, loaded, (operator) => operator.schedules.run(id))
  show(ports, options, {
    value: run,
    lines: () => [
      `Started ${oneLine(id)} at ${formatTime(run.slotAt)}; "parley why ${run.traceId}" shows what comes of it.`,
    ],
  })
  return EXIT.ok
}

/** Returns two lines or more for each schedule: its next run and the outcome of the last slot, then how it runs. */
export function printSchedules(schedules: readonly ScheduleSummary[], width: number, style: Style): string[] {
  if (schedules.length === 0) return ['No schedule. config/parley.example.yaml shows how one is written.']
  const [header = '', ...rows] = notedColumns(['SCHEDULE', 'NEXT', 'LAST', 'OUTCOME'], schedules.map(rowOf), width)
  return [style.bold(header), ...rows]
}

function rowOf({ id, paused, nextAt, last, cron, timezone, deliverTo, ...more }: ScheduleSummary) {
  const { when = `${cron} in ${timezone}`, deliverTitle = deliverTo } = more
  const next = paused ? 'paused' : nextAt === undefined ? 'never' : formatTime(nextAt)
  const outcome = last === undefined ? '-' : (last.outcome ?? last.state)
  const lastAt = last === undefined ? '-' : formatTime(last.slotAt)
  return {
    cells: [oneLine(id), next, lastAt, oneLine(outcome)],
    note: oneLine(`${when}, to ${deliverTitle}`),
  }
}

function printNext(slots: readonly number[]): string[] {
  return slots.length === 0 ? ['It never comes round.'] : slots.map((at) => formatTime(at))
}
