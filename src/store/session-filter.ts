import { isNodeId } from '../core/caller.ts'
import { JOINED } from './joined-sessions.ts'
import type { SessionQuery } from './session-port.ts'
import { placeholders, type SqlValue } from './sql.ts'

/**
 * Returns the WHERE of a list, if it has one, and its parameters, numbered from 1. Few texts exist, whatever is asked
 * for. `without`: numbers of rows that are left out.
 */
export function sessionFilter(
  query: SessionQuery,
  without: readonly number[],
): {
  readonly where: string
  readonly params: readonly SqlValue[]
  /** It asks for more than what every message changes. */
  readonly wide: boolean
} {
  const { inactive, kinds, agents, parents, activeSince, namespace, participants } = query
  const conditions: string[] = inactive ? [] : ['inactive_at IS NULL']
  const params: SqlValue[] = []
  const bind = (value: SqlValue): string => `$${params.push(value)}`
  const oneOfThese = (column: string, values: readonly string[] | undefined): void => {
    if (values === undefined) return
    conditions.push(values.length === 0 ? '1 = 0' : `${column} IN (${placeholders(values.length, params.length + 1)})`)
    params.push(...values)
  }
  oneOfThese('kind', kinds)
  oneOfThese('agent_id', agents)
  if (parents === 'none') conditions.push('parent_id IS NULL')
  else oneOfThese('parent_id', parents && fill(parents))
  if (activeSince !== undefined) conditions.push(`last_activity_at >= ${bind(activeSince)}`)
  // The character after the colon bounds the range, so that `web:alice:` holds neither `web:alice2:` nor `web:alice`
  // itself.
  if (namespace !== undefined && isNodeId(namespace)) conditions.push(`id = ${bind(namespace)}`)
  else if (namespace !== undefined) conditions.push(`id >= ${bind(`${namespace}:`)} AND id < ${bind(`${namespace};`)}`)
  if (namespace !== undefined) conditions.push(`NOT ${JOINED}`)
  if (participants !== undefined) {
    const among = fill(participants)
    const first = params.length + 1
    params.push(...among)
    const own = `SELECT 1 FROM participants WHERE session_id = sessions.id AND participant IN (${placeholders(among.length, first)})`
    // Few sessions are asked one by one: a list of somebody with many would be read as a whole.
    if (Array.isArray(parents)) conditions.push(`EXISTS (${own})`)
    else
      conditions.push(
        `id IN (SELECT session_id FROM participants WHERE participant IN (${placeholders(among.length, first)}))`,
      )
  }
  if (without.length > 0) {
    conditions.push(`activity.no NOT IN (${placeholders(without.length, params.length + 1)})`)
    params.push(...without)
  }
  const wide = [kinds, agents, parents, namespace, participants].some((asked) => asked !== undefined)
  return { where: conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`, params, wide }
}

const SIZES = [4, 16, 64]

/** Repeats the last to one of few sizes; an empty text is nobody's name. */
function fill(names: readonly string[]): readonly string[] {
  const size = SIZES.find((most) => most >= names.length) ?? names.length
  const last = names.at(-1) ?? ''
  return Array.from({ length: size }, (_, index) => names[index] ?? last)
}
