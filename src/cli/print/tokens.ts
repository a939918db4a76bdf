import type { TokenReport } from '../../core/operate-tokens.ts'
import { shownTokenId } from '../../core/token.ts'
import { notedColumns } from './columns.ts'
import { oneLine } from './plain.ts'
import type { Style } from './style.ts'
import { formatAge, formatDay } from './time.ts'

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
