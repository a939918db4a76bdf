import { EXIT } from '../../core/errors.ts'
import type { LetInReport, PeopleReport, PersonReport } from '../../core/operate-people.ts'
import { askOperator } from '../ask-operator.ts'
import { columns } from '../print/columns.ts'
import { oneLine } from '../print/plain.ts'
import { claimLines } from '../print/started.ts'
import type { Style } from '../print/style.ts'
import { formatTime } from '../print/time.ts'
import { fitted, type ReadOptions, type ReadPorts, show } from '../show.ts'

export async function listPeople(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const { report, toOwn } = await askOperator(ports, await ports.load(options.config, 'ask'), async (operator) => {
    const report = await operator.people.list()
    const owned = report.people.some(({ role }) => role === 'owner')
    return { report, toOwn: owned ? [] : claimLines(await operator.status()) }
  })
  show(ports, options, { value: report, lines: (style) => fitted(ports.stdout, printPeople(report, style, toOwn)) })
  return EXIT.ok
}

export interface LinkOptions extends ReadOptions {
  readonly person: string
  readonly id: string
}

export async function linkPerson(ports: ReadPorts, options: LinkOptions): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const linked = await askOperator(ports, loaded, (operator) => operator.people.link(options.person, options.id))
  show(ports, options, { value: linked, lines: () => [`${oneLine(linked.id)} is ${oneLine(linked.person)} now.`] })
  return EXIT.ok
}

export async function unlinkPerson(ports: ReadPorts, id: string, options: ReadOptions): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const parted = await askOperator(ports, loaded, (operator) => operator.people.unlink(id))
  const lines = () => [`${oneLine(parted.id)} is not ${oneLine(parted.person)} any more.`]
  show(ports, options, { value: parted, lines })
  return EXIT.ok
}

/**
 * Returns one line for each id, then for everybody and every place that was let in, and below them who was joined and
 * separated when. `toOwn` says how to become the owner; empty where there is one.
 */
function printPeople({ people, letIn, changes }: PeopleReport, style: Style, toOwn: readonly string[]): string[] {
  const all = [...people.flatMap(personRows), ...letIn.map(letInRow)]
  const [header = '', ...rows] = columns([['PERSON', 'ROLE', 'ID', 'FROM'], ...all])
  const log = changes.map(({ at, kind, person, id, by }) => [
    formatTime(at),
    kind,
    oneLine(person),
    oneLine(id),
    `by ${oneLine(by)}`,
  ])
  return [
    ...(all.length === 0 ? ['Nobody is known yet.'] : [style.bold(header), ...rows]),
    ...toOwn.map((line) => `owner: nobody yet; ${line}`),
    ...(log.length === 0 ? [] : ['', style.bold('Changes'), ...columns(log)]),
  ]
}

function letInRow({ kind, key, name, at, by }: LetInReport): string[] {
  return [
    oneLine(name) || '-',
    kind === 'place' ? 'place' : 'guest',
    oneLine(key),
    `let in by ${oneLine(by)} ${formatTime(at)}`,
  ]
}

function personRows({ name, role, ids }: PersonReport): string[][] {
  if (ids.length === 0) return [[oneLine(name), role, '-', '']]
  return ids.map(({ id, from, overruledBy }) => {
    const origin =
      overruledBy === undefined ? from : `${from}, but the configuration gives it to ${oneLine(overruledBy)}`
    return [oneLine(name), role, oneLine(id), origin]
  })
}
