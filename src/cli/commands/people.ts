import { EXIT } from '../../core/errors.ts'
import { askOperator } from '../ask-operator.ts'
import { printPeople } from '../print/people.ts'
import { oneLine } from '../print/plain.ts'
import { claimLines } from '../print/started.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

export async function listPeople(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const { report, toOwn } = await askOperator(ports, await ports.load(options.config, 'ask'), async (operator) => {
    const report = await operator.people.list()
    const owned = report.people.some(({ role }) => role === 'owner')
    return { report, toOwn: owned ? [] : claimLines(await operator.status()) }
  })
  show(ports, options, { value: report, lines: (style) => printPeople(report, style, toOwn) })
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
