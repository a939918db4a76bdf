import { EXIT } from '../../core/errors.ts'
import type { StatusReport } from '../../core/operator.ts'
import { askOperator } from '../ask-operator.ts'
import { printStatus } from '../print/status.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

/** Resolves with 1 if no daemon runs and with 3 if a channel of it is down. */
export async function status(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const report = await askOperator(ports, await ports.load(options.config, 'ask'), (operator) => operator.status())
  show(ports, options, { value: report, lines: (style) => printStatus(report, style) })
  return exitOf(report)
}

/** Only the report of a running daemon has a start time. */
function exitOf({ startedAt, channels }: StatusReport): number {
  if (startedAt === undefined) return EXIT.failed
  return channels.some(({ status }) => status === 'down') ? EXIT.channelDown : EXIT.ok
}
