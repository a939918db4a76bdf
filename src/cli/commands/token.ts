import { EXIT } from '../../core/errors.ts'
import type { NewToken, TokenReport } from '../../core/operate-tokens.ts'
import { shownTokenId, tokenIdOf } from '../../core/token.ts'
import { askOperator } from '../ask-operator.ts'
import { notedColumns } from '../print/columns.ts'
import { oneLine } from '../print/plain.ts'
import type { Style } from '../print/style.ts'
import { formatAge, formatDay } from '../print/time.ts'
import { type ReadOptions, type ReadPorts, show, widthOf } from '../show.ts'

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
  const page = { now: ports.now(), width: widthOf(ports.stdout) }
  show(ports, options, { value: tokens, lines: (style) => printTokens(tokens, page, style) })
  return EXIT.ok
}

/** A whole token may be given: its secret goes nowhere, not even into an error. */
export async function revokeToken(ports: ReadPorts, shown: string, options: ReadOptions): Promise<number> {
  const id = tokenIdOf(shown)
  const also = await askOperator(ports, await ports.load(options.config, 'ask'), ({ tokens }) => tokens.revoke(id))
  show(ports, options, {
    value: { revoked: true, ...(also.length === 0 ? {} : { also }) },
    lines: () => [
      `Token ${oneLine(shownTokenId(id))} opens nothing any more.`,
      ...(also.length === 0 ? [] : ['Neither does what it had made:']),
      ...also.map((one) => `  ${shownTokenId(one.id)}  ${oneLine(one.label)}`.trimEnd()),
    ],
  })
  return EXIT.ok
}

/** Returns two lines or more for each token, newest first: the lower ones say what it is for. */
export function printTokens(
  tokens: readonly TokenReport[],
  { now, width }: { readonly now: number; readonly width: number },
  style: Style,
): string[] {
  if (tokens.length === 0) return ['No token yet.']
  const rows = tokens.map((token) => ({
    cells: [
      ...[shownTokenId(token.id), stateOf(token, now)],
      token.usedAt === undefined ? 'never' : `${formatAge(token.usedAt, now)} ago`,
      ...[oneLine(token.namespace ?? '(owner)'), oneLine(token.label)],
    ],
    note: `made ${formatDay(token.createdAt)}${byWhom(token)} for ${token.scopes.join(' ')}`,
  }))
  const [header = '', ...lines] = notedColumns(['TOKEN', 'STATE', 'USED', 'NAMESPACE', 'LABEL'], rows, width)
  return [style.bold(header), ...lines]
}

function byWhom({ madeBy }: TokenReport): string {
  return madeBy === undefined ? '' : ` by ${shownTokenId(madeBy)}`
}

function stateOf({ revokedAt, expiresAt }: TokenReport, now: number): string {
  if (revokedAt !== undefined) return `revoked ${formatDay(revokedAt)}`
  if (expiresAt === undefined) return 'valid'
  return now < expiresAt ? `until ${formatDay(expiresAt)}` : `expired ${formatDay(expiresAt)}`
}
