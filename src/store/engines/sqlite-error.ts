import { ParleyError } from '../../core/errors.ts'

/** A foreign process holds the lock we need; waiting helps. */
export function isBusy(error: unknown): boolean {
  const cause = error instanceof ParleyError ? error.cause : error
  return isDriverError(cause) && /^SQLITE_(BUSY|LOCKED)/.test(cause.code)
}

/** The file is no database to whoever opened it, for example with another key. */
export function isNoDatabase(error: unknown): boolean {
  const cause = error instanceof ParleyError ? error.cause : error
  return isDriverError(cause) && cause.code === 'SQLITE_NOTADB'
}

/**
 * The engine fails at what is in the file: damage, another key, rows that break their own rules. Anything else, such as
 * a full disk or a lack of rights, says nothing about the file.
 */
export function isOfTheFile(error: unknown): boolean {
  const cause = error instanceof ParleyError ? error.cause : error
  return (
    isDriverError(cause) && /^SQLITE_(NOTADB|CORRUPT|CONSTRAINT|ERROR|FORMAT|MISMATCH|SCHEMA|TOOBIG)/.test(cause.code)
  )
}

/** The engine could not open, read or write a file, for whatever the disk's reason is. */
export function isDiskError(error: unknown): boolean {
  const cause = error instanceof ParleyError ? error.cause : error
  return isDriverError(cause) && /^SQLITE_(IOERR|CANTOPEN)/.test(cause.code)
}

/** Each driver has a class of its own for them, of one name. */
function isDriverError(error: unknown): error is Error & { readonly code: string } {
  return error instanceof Error && error.name === 'SqliteError' && 'code' in error && typeof error.code === 'string'
}

/** Driver errors as ours, naming the remedy, or the table of the statement; anything else unchanged. */
export function translate(thrown: unknown, statement?: string): unknown {
  if (!isDriverError(thrown)) return thrown
  const { code } = thrown
  const cause = { cause: thrown }
  if (code.startsWith('SQLITE_CONSTRAINT')) {
    const taken = /_(UNIQUE|PRIMARYKEY)$/.test(code)
    return new ParleyError(taken ? 'conflict' : 'invalid', `the store refuses this row${at(statement)}`, cause)
  }
  if (/^SQLITE_IOERR_(DIR_)?FSYNC$/.test(code)) return new ParleyError('store_broken', UNCONFIRMED, cause)
  const problem = PROBLEMS.find(([prefix]) => code.startsWith(prefix))
  if (problem === undefined) {
    return new ParleyError('internal', `a statement of the store${at(statement)} failed with ${code}`, cause)
  }
  return new ParleyError('unavailable', problem[1], cause)
}

/** The first table of a statement. Statements hold no words of people: these are their parameters. */
const TABLE = /\b(?:FROM|INTO|UPDATE|PRAGMA)\s+(\w+)/

function at(statement = ''): string {
  const table = TABLE.exec(statement)?.[1]
  return table === undefined ? '' : ` of ${table}`
}

/** After it the system may report pages as written that are not, so only a new process sees the disk (F-F03). */
const UNCONFIRMED = 'the disk of the database did not confirm a write, so what it holds is not known; check its health'

const PROBLEMS: readonly (readonly [string, string])[] = [
  ['SQLITE_FULL', 'the disk of the database is full; free some space'],
  ['SQLITE_READONLY', 'the database cannot be written; check owner and mode of the file and its folder'],
  [
    'SQLITE_CANTOPEN',
    'the database cannot be opened; check owner and mode of the file and its folder, and the disk’s space',
  ],
  ['SQLITE_PERM', 'the database cannot be opened; check owner and mode of the file and its folder'],
  ['SQLITE_BUSY', 'another program holds the database; close it'],
  ['SQLITE_LOCKED', 'another program holds the database; close it'],
  ['SQLITE_IOERR', 'the disk of the database does not take or give data; check its space, its limits and its health'],
  ['SQLITE_CORRUPT', 'the database is damaged; restore a backup'],
  ['SQLITE_NOTADB', 'the file is no database, or a damaged one; restore a backup'],
]
