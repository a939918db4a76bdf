import { EXIT } from '../../core/errors.ts'
import type { AdmissionReport } from '../../core/operate-admissions.ts'
import { askOperator } from '../ask-operator.ts'
import { notedColumns } from '../print/columns.ts'
import { oneLine } from '../print/plain.ts'
import type { Style } from '../print/style.ts'
import { formatTime } from '../print/time.ts'
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

/** Returns two lines or more for each applicant, newest first. */
function printAdmissions(admissions: readonly AdmissionReport[], width: number, style: Style): string[] {
  if (admissions.length === 0) return ['Nobody has asked to be let in.']
  const titles = ['CODE', 'STATE', 'WHO OR WHERE', 'NAME']
  const [header = '', ...rows] = notedColumns(titles, admissions.map(rowOf), width)
  return [style.bold(header), ...rows]
}

function rowOf({ code, state, key, name, askedAt, decidedAt, decidedBy = '', toldAt }: AdmissionReport) {
  const waits = toldAt === undefined ? ', no owner was notified yet' : ''
  const decided = decidedAt === undefined ? waits : `, decided ${formatTime(decidedAt)} by ${oneLine(decidedBy)}`
  return {
    cells: [code, state, oneLine(key), oneLine(name) || '-'],
    note: `asked ${formatTime(askedAt)}${decided}`,
  }
}
