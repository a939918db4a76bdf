import type { SessionId } from '../core/ids.ts'

/**
 * Stands between the id that a deleted session had and its number, which together are its id until it is purged. The
 * old id is free at once, since a schedule or a client gives its session the same one again. No name has this
 * character.
 */
export const DELETED_MARK = '\u001f'

/** Returns the id that a deleted session had, by which the records of its messages still name it. */
export function idInLife(id: SessionId): SessionId {
  const at = id.lastIndexOf(DELETED_MARK)
  return at < 0 ? id : (id.slice(0, at) as SessionId)
}
