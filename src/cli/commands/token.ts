import { EXIT } from '../../core/errors.ts'
import { askOperator } from '../ask-operator.ts'
import { columns } from '../print/columns.ts'
import { oneLine } from '../print/plain.ts'
import { formatTime } from '../print/time.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

/** The token is the only line on stdout, so that it can be piped. */
export async function createToken(
  ports: ReadPorts,
  namespace: string,
  options: ReadOptions & { readonly label?: string },
): Promise<number> {
  const made = await askOperator(ports, await ports.load(options.config, 'ask'), ({ tokens }) =>
    tokens.create(namespace, options.label),
  )
  if (!options.json)
    ports.stderr.write(`Token ${made.id} reaches sessions of ${made.namespace}: and nothing else. It is shown once.\n`)
  show(ports, options, { value: made, lines: () => [made.token] })
  return EXIT.ok
}

export async function listTokens(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const tokens = await askOperator(ports, await ports.load(options.config, 'ask'), (operator) => operator.tokens.list())
  const rows = tokens.map(({ id, namespace, label, createdAt, revokedAt }) => [
    id,
    oneLine(namespace),
    formatTime(createdAt),
    revokedAt === undefined ? 'valid' : `revoked ${formatTime(revokedAt)}`,
    oneLine(label),
  ])
  const lines =
    rows.length === 0 ? ['No token yet.'] : columns([['TOKEN', 'NAMESPACE', 'MADE', 'STATE', 'LABEL'], ...rows])
  show(ports, options, { value: tokens, lines: () => lines })
  return EXIT.ok
}

export async function revokeToken(ports: ReadPorts, id: string, options: ReadOptions): Promise<number> {
  await askOperator(ports, await ports.load(options.config, 'ask'), ({ tokens }) => tokens.revoke(id))
  show(ports, options, { value: { revoked: true }, lines: () => [`Token ${oneLine(id)} opens nothing any more.`] })
  return EXIT.ok
}
