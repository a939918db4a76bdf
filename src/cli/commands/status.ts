import { EXIT } from '../../core/errors.ts'
import { askOperator } from '../ask-operator.ts'
import { printStatus } from '../print/status.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

export async function status(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const report = await askOperator(ports, await ports.load(options.config, 'ask'), (operator) => operator.status())
  show(ports, options, { value: report, lines: (style) => printStatus(report, style) })
  return EXIT.ok
}
