import { DELETED_MARK } from '../deleted-id.ts'
import type { Migration } from './migration.ts'

/** Sessions that an earlier version deleted and did not purge yet are named as this one names them. */
export const deletedIds: Migration = {
  version: 22,
  name: 'deleted-ids',
  statements: () => [
    'DELETE FROM participants WHERE session_id IN (SELECT id FROM sessions WHERE deleted_at IS NOT NULL)',
    'DELETE FROM authors WHERE session_id IN (SELECT id FROM sessions WHERE deleted_at IS NOT NULL)',
    `UPDATE sessions SET id = id || '${DELETED_MARK}' || no WHERE deleted_at IS NOT NULL`,
  ],
}
