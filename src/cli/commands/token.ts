import { systemClock } from '../../core/clock.ts'
import { EXIT } from '../../core/errors.ts'
import type { NewToken, TokenReport } from '../../core/operate-tokens.ts'
import { shownTokenId, tokenIdOf } from '../../core/token.ts'
import { askOperator } from '../ask-operator.ts'
import { columns } from '../print/columns.ts'
import { oneLine } from '../print/plain.ts'
import { formatTime } from '../print/time.ts'
import { type ReadOptions, type ReadPorts, show } from '../show.ts'

/** The token is the only line on stdout, so that it can be piped. */
export async function createToken(ports: ReadPorts, request: NewToken, options: ReadOptions): Promise<number> {
  const made = await askOperator(ports, await ports.load(options.config, 'ask'), ({ tokens }) => tokens.create(request))
  const scopes = made.scopes.join(', ')
  if (!options.json)
    ports.stderr.write(`Token ${shownTokenId(made.id)} reaches ${reachOf(made)}, for ${scopes}. It is shown once.\n`)
  show(ports, options, { value: made, lines: () => [made.token] })
  return EXIT.ok
}

function reachOf({ namespace }: TokenReport): string {
  return namespace === undefined ? 'all that an owner reaches' : `sessions of ${namespace}: and nothing else`
}

export async function listTokens(ports: ReadPorts, options: ReadOptions): Promise<number> {
  const tokens = await askOperator(ports, await ports.load(options.config, 'ask'), (operator) => operator.tokens.list())
  const now = systemClock.now()
  const rows = tokens.map((token) => [
    shownTokenId(token.id),
    oneLine(token.namespace ?? '(owner)'),
    token.scopes.join(' '),
    formatTime(token.createdAt),
    token.usedAt === undefined ? 'never' : formatTime(token.usedAt),
    stateOf(token, now),
    token.madeBy === undefined ? '' : shownTokenId(token.madeBy),
    oneLine(token.label),
  ])
  const titles = ['TOKEN', 'NAMESPACE', 'SCOPES', 'MADE', 'USED', 'STATE', 'BY', 'LABEL']
  const lines = rows.length === 0 ? ['No token yet.'] : columns([titles, ...rows])
  show(ports, options, { value: tokens, lines: () => lines })
  return EXIT.ok
}

function stateOf({ revokedAt, expiresAt }: TokenReport, now: number): string {
  if (revokedAt !== undefined) return `revoked ${formatTime(revokedAt)}`
  if (expiresAt === undefined) return 'valid'
  return now < expiresAt ? `until ${formatTime(expiresAt)}` : `expired ${formatTime(expiresAt)}`
}

export async function revokeToken(ports: ReadPorts, id: string, options: ReadOptions): Promise<number> {
  await askOperator(ports, await ports.load(options.config, 'ask'), ({ tokens }) => tokens.revoke(id))
  show(ports, options, {
    value: { revoked: true },
    lines: () => [`Token ${oneLine(shownTokenId(tokenIdOf(id)))} opens nothing any more.`],
  })
  return EXIT.ok
}
