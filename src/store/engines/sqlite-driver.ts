import { createRequire } from 'node:module'
import type BetterSqlite3 from 'better-sqlite3'
import { ParleyError, toError } from '../../core/errors.ts'

/** Version 13 needs this Node-API, which Node 22.14 brought; an older Node does not refuse it but crashes. */
export const NODE_API = 10

/** A checkout installs its packages by its lock file; a packed program lies in a folder of packages itself. */
const AGAIN = import.meta.url.includes('/node_modules/')
  ? 'install the packed file of Parley again ("npm install --global <file>") with this Node'
  : 'run "npm ci --include=optional --ignore-scripts=false" with this Node'

const COMPILED_BEFORE = {
  name: 'better-sqlite3',
  remedy: `Please ${AGAIN}; if no prebuilt file fits this machine, then "npm explore better-sqlite3 -- npm run build-release".`,
}

/** Version 12 crashes in its turn: on Node 24.19 and later, as soon as a prepared statement is collected. */
const COMPILED_HERE = {
  name: 'better-sqlite3-12',
  remedy:
    'On this Node it is compiled at the installation: install Python 3, make and a C++ compiler (on Debian: ' +
    `apt-get install python3 make g++) and ${AGAIN}, which takes two minutes. Node 22.14 and later need none of them.`,
}

/**
 * The SQLite driver that fits the running Node. Nothing else imports one. Loading this file throws `no_driver` when it
 * is not installed or was not compiled.
 */
export const Database = load(Number(process.versions.napi) < NODE_API ? COMPILED_HERE : COMPILED_BEFORE)
export type Database = BetterSqlite3.Database
export type Statement<Params extends unknown[], Row> = BetterSqlite3.Statement<Params, Row>

function load({ name, remedy }: typeof COMPILED_HERE): typeof BetterSqlite3 {
  try {
    const driver: typeof BetterSqlite3 = createRequire(import.meta.url)(name)
    // Its native part is loaded with the first database.
    new driver(':memory:').close()
    return driver
  } catch (cause) {
    // A driver that was not compiled lists all the places where it has looked.
    const [reason] = toError(cause).message.split(/\.? Tried:|\n/)
    throw new ParleyError('no_driver', `SQLite does not load on Node ${process.version} (${reason}). ${remedy}`, {
      cause,
    })
  }
}
