import { EXIT } from '../../core/errors.ts'
import { askOperator } from '../ask-operator.ts'
import { printSession, printSessions } from '../print/sessions.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

export interface ListOptions extends ReadOptions {
  readonly all?: boolean
  readonly limit: number
  readonly offset: number
}

export async function listSessions(ports: ReadPorts, options: ListOptions): Promise<number> {
  const query = { limit: options.limit, offset: options.offset, inactive: options.all ?? false }
  const list = await askOperator(ports, await ports.load(options.config), (operator) => operator.sessions.list(query))
  const { isTTY, columns } = ports.stdout
  const page = isTTY && columns ? { query, width: columns } : { query }
  show(ports, options, { value: list, lines: (style) => printSessions(list, page, style) })
  return EXIT.ok
}

export async function showSession(ports: ReadPorts, name: string, options: ReadOptions): Promise<number> {
  const session = await askOperator(ports, await ports.load(options.config), (operator) => operator.sessions.show(name))
  show(ports, options, { value: session, lines: (style) => printSession(session, style) })
  return EXIT.ok
}
