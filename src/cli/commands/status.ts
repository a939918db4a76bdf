import { EXIT } from '../../core/errors.ts'
import type { ScheduleSummary } from '../../core/operate-schedules.ts'
import type { StatusReport } from '../../core/operator.ts'
import { askOperator } from '../ask-operator.ts'
import { printStatus } from '../print/status.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

/** Resolves with 1 if no daemon runs and with 3 if a channel of it is down. */
export async function status(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const { report, schedules } = await askOperator(ports, loaded, async (operator) => ({
    report: await operator.status(),
    schedules: options.json ? [] : await operator.schedules.list(),
  }))
  show(ports, options, {
    value: report,
    lines: (style) => printStatus(report, style, { next: nextOf(schedules), now: ports.now() }),
  })
  return exitOf(report)
}

function nextOf(schedules: readonly ScheduleSummary[]): ScheduleSummary | undefined {
  return schedules
    .filter(({ nextAt }) => nextAt !== undefined)
    .toSorted((one, other) => (one.nextAt ?? 0) - (other.nextAt ?? 0))[0]
}

/** Only the report of a running daemon has a start time. */
function exitOf({ startedAt, channels }: StatusReport): number {
  if (startedAt === undefined) return EXIT.failed
  return channels.some(({ status }) => status === 'down') ? EXIT.channelDown : EXIT.ok
}
