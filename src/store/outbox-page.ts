import type { DeliveryListQuery } from './outbox-port.ts'
import { placeholders, type SqlValue } from './sql.ts'

/**
 * Leaves out `sent`, the end of most rows, which has no place in the index of states; a query must say so to use the
 * index.
 */
export const NOT_SENT = "state <> 'sent'"

/** Returns the condition of a page, newest first. */
export function pageWhere({ states, session, after, limit }: DeliveryListQuery): {
  readonly where: string
  readonly params: readonly SqlValue[]
} {
  const params: SqlValue[] = [limit, ...states]
  const conditions = [
    ...(states.includes('sent') ? [] : [NOT_SENT]),
    `state IN (${placeholders(states.length, 2)})`,
    ...(after === undefined ? [] : [`no < (SELECT no FROM outbox WHERE id = $${params.push(after)})`]),
    ...(session === undefined
      ? []
      : ['no > (SELECT MAX(no) FROM outbox) - 20000', `session_id = $${params.push(session)}`]),
  ]
  return { where: `${conditions.join(' AND ')} ORDER BY no DESC LIMIT $1`, params }
}
