import { EXIT } from '../../core/errors.ts'
import { askOperator } from '../ask-operator.ts'
import { oneLine } from '../print/plain.ts'
import { printNext, printSchedules } from '../print/schedules.ts'
import { formatTime } from '../print/time.ts'
import { type ReadOptions, type ReadPorts, show, widthOf } from '../show.ts'

export async function listSchedules(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const schedules = await askOperator(ports, await ports.load(options.config, 'ask'), (operator) =>
    operator.schedules.list(),
  )
  show(ports, options, { value: schedules, lines: (style) => printSchedules(schedules, widthOf(ports.stdout), style) })
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
