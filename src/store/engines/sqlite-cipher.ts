import { createRequire } from 'node:module'
import type BetterSqlite3 from 'better-sqlite3'
import { ParleyError, toError } from '../../core/errors.ts'
import type { StoreKey } from '../../core/store-key.ts'
import { Database, NODE_API } from './sqlite-driver.ts'

const NAME = 'better-sqlite3-multiple-ciphers'

/** The same split as that of the plain driver, for the same reasons (decision 0008). */
const WANTED = Number(process.versions.napi) < NODE_API ? '12.11.1' : '13.0.3'

/** A cipher that authenticates each page: a page that somebody changed or moved is an error and not another text. */
const CIPHER = 'chacha20'

type Driver = typeof BetterSqlite3

let loaded: Driver | undefined

/**
 * Returns the driver that encrypts. It is an optional peer of the package, and loaded where a store key is configured
 * and nowhere else (decision 0034). Throws `no_driver`, with the command, when it is missing or another version.
 */
export function cipherDriver(): Driver {
  loaded ??= load()
  return loaded
}

/** The key as the engine takes it: 32 bytes as they are, so that no passphrase is stretched at each start. */
export function engineKey(key: StoreKey): string {
  return `raw:${key.derive('database').toString('hex')}`
}

/** Opens a database, encrypted where there is a key. A key that does not fit shows at the first statement. */
export function openDatabase(path: string, key: StoreKey | undefined, options: BetterSqlite3.Options): Database {
  return key === undefined ? new Database(path, options) : openEither(path, key, options)
}

/** Opens a database with the driver that encrypts, which reads and writes plain ones as well. */
export function openEither(path: string, key: StoreKey | undefined, options: BetterSqlite3.Options = {}): Database {
  const database = new (cipherDriver())(path, options)
  database.pragma(`cipher = '${CIPHER}'`)
  if (key !== undefined) database.pragma(`key = '${engineKey(key)}'`)
  return database
}

function load(): Driver {
  const require = createRequire(import.meta.url)
  try {
    const { version } = require(`${NAME}/package.json`) as { readonly version: string }
    // Another one may crash the process instead of throwing.
    if (majorOf(version) !== majorOf(WANTED)) throw new Error(`there is version ${version}`)
    const driver = require(NAME) as Driver
    new driver(':memory:').close()
    return driver
  } catch (cause) {
    const message = `store.key is set, and ${NAME}, which encrypts the database, does not load on Node ${process.version} (${reasonOf(cause)}). ${REMEDY}`
    throw new ParleyError('no_driver', message, { cause })
  }
}

// Without --save-prod npm 11 keeps it the optional peer that it is here, and installs nothing.
const REMEDY =
  `Run "npm install --no-save --save-prod ${NAME}@${WANTED}" where Parley is installed, with -g instead of both if it is ` +
  'installed so; without a prebuilt file for this Node it needs Python, make and a C++ compiler.'

function reasonOf(cause: unknown): string {
  const { message } = toError(cause)
  return message.includes(`'${NAME}/package.json'`) ? 'it is not installed' : String(message.split('\n')[0])
}

function majorOf(version: string): string | undefined {
  return version.split('.')[0]
}
