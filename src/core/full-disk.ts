import { toError } from './errors.ts'

/** The codes of the system and of the database's engine for a disk without room. */
const NO_ROOM: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL'])

/** Returns true for an error of the system, or one that it has caused, that says that a disk has no room. */
export function isFull(thrown: unknown): boolean {
  const error = toError(thrown)
  return NO_ROOM.has('code' in error ? error.code : undefined) || (error.cause !== undefined && isFull(error.cause))
}
