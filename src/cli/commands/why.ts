import { EXIT } from '../../core/errors.ts'
import { AGED_OUT } from '../../core/operator.ts'
import { askOperator } from '../ask-operator.ts'
import { placeNamed } from '../named-session.ts'
import { oneLine } from '../print/plain.ts'
import { printTrace, printWhy } from '../print/why.ts'
import { fitted, type ReadOptions, type ReadPorts, show } from '../show.ts'

export interface WhyOptions extends ReadOptions {
  readonly trace?: boolean
}

/** The name of the newest message, whichever that is. */
const LAST = 'last'

/**
 * Explains a message, or the last one of a chat that is named by its address or its title. Resolves with 1 if there
 * is none, like a search without a result; the reasons that may have kept it away are printed with the answer.
 */
export async function why(ports: ReadPorts, message: string, options: WhyOptions): Promise<number> {
  const loaded = await ports.load(options.config, 'ask')
  const { reports, unseen } = await askOperator(ports, loaded, async (operator) => {
    const named = await operator.why(message)
    const place = named.length > 0 ? message : await placeNamed(operator.sessions, message)
    const reports = place === message ? named : await operator.why(place)
    // That nothing has come at all has no reason of one message.
    const isFound = reports.length > 0 || message === LAST
    return { reports, unseen: isFound ? [] : await operator.unseen(message) }
  })
  const aged = unseen[0]?.startsWith(AGED_OUT)
  const none =
    message === LAST ? 'Nothing but commands was received yet' : `No message "${oneLine(message)}" was ever received`
  if (reports.length === 0 && !aged) ports.stderr.write(`${none}.\n`)
  for (const reason of unseen) ports.stderr.write(`- ${oneLine(reason)}\n`)
  show(ports, options, {
    value: reports,
    lines: (style) => fitted(ports.stdout, (options.trace ? printTrace : printWhy)(reports, style)),
  })
  return reports.length === 0 ? EXIT.failed : EXIT.ok
}
