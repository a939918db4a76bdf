import { EXIT } from '../../core/errors.ts'
import { askOperator } from '../ask-operator.ts'
import { printAdmissions } from '../print/admissions.ts'
import { oneLine } from '../print/plain.ts'
import { type ReadOptions, type ReadPorts, show, widthOf } from '../show.ts'

export async function listAdmissions(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const all = await askOperator(ports, await ports.load(options.config, 'ask'), (operator) =>
    operator.admissions.list(),
  )
  show(ports, options, { value: all, lines: (style) => printAdmissions(all, widthOf(ports.stdout), style) })
  return EXIT.ok
}

export interface DecideOptions extends ReadOptions {
  readonly name: string
  readonly verdict: 'admit' | 'deny'
}

export async function decideAdmission(ports: ReadPorts, options: DecideOptions): Promise<number> {
  const { name, verdict } = options
  const loaded = await ports.load(options.config, 'ask')
  const decided = await askOperator(ports, loaded, (operator) => operator.admissions.decide(name, verdict))
  const { key, state, ruledBy } = decided
  const lines = () => [
    `${oneLine(key)} is ${state} now.`,
    ...(ruledBy === undefined
      ? []
      : [`The setting ${oneLine(ruledBy)} decides there in any case: change or remove it.`]),
  ]
  show(ports, options, { value: decided, lines })
  return EXIT.ok
}
