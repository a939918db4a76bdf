import { EXIT, errorCode } from '../../core/errors.ts'
import type { ScheduleSummary } from '../../core/operate-schedules.ts'
import type { StatusReport } from '../../core/operator.ts'
import { askOperator } from '../ask-operator.ts'
import type { CliPorts } from '../ports.ts'
import { printStatus } from '../print/status.ts'
import { fitted, type ReadOptions, type ReadPorts, show } from '../show.ts'

/** Resolves with 1 if no daemon runs and with 3 if a channel is down. Programs get an answer without a store too. */
export async function status(ports: ReadPorts & Pick<CliPorts, 'version'>, options: ReadOptions): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const asked = askOperator(ports, loaded, async (operator) => ({
    report: await operator.status(),
    schedules: options.json ? [] : await operator.schedules.list(),
  }))
  const { report, schedules } = await asked.catch((error: unknown) => {
    if (options.json && errorCode(error) === 'not_found')
      show(ports, options, { value: { version: ports.version, ...NOTHING }, lines: () => [] })
    throw error
  })
  show(ports, options, {
    value: report,
    lines: (style) => fitted(ports.stdout, printStatus(report, style, { next: nextOf(schedules), now: ports.now() })),
  })
  return exitOf(report)
}

/** The answer for programs where there is neither a daemon nor a store. */
const NOTHING: Omit<StatusReport, 'version'> = {
  ...{
    channels: [],
    ownerKnown: false,
    claims: [],
    models: [],
    botsHeld: [],
    sessions: 0,
    runningTurns: 0,
    waiting: 0,
  },
  ...{ outbox: {}, uncertain: [], undelivered: [] },
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
