import { createHash } from 'node:crypto'
import { Database } from '../../src/store/engines/sqlite-driver.ts'

/** Columns that say when somebody asked, and nothing of what they asked. */
const TIMES: Readonly<Record<string, readonly string[]>> = { tokens: ['used_at'] }
/** The watchdog, the channels and the store itself write there, whoever asks. */
const BY_ITSELF = new Set(['notices', 'channel_state', 'counters'])

/** Returns a digest of every row of every table, by table. */
export function storeDigest(path: string): Readonly<Record<string, string>> {
  const database = new Database(path, { readonly: true })
  try {
    const query = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
    const tables = database.prepare(query).all() as readonly { readonly name: string }[]
    return Object.fromEntries(
      tables
        .filter(({ name }) => !BY_ITSELF.has(name))
        .map(({ name }) => [name, digestOf(database.prepare(`SELECT * FROM "${name}"`).all(), TIMES[name] ?? [])]),
    )
  } finally {
    database.close()
  }
}

function digestOf(rows: readonly unknown[], without: readonly string[]): string {
  const kept = rows.map((row) =>
    Object.entries(row as Readonly<Record<string, unknown>>).filter(([column]) => !without.includes(column)),
  )
  const text = JSON.stringify(kept, (_, value: unknown) => (typeof value === 'bigint' ? String(value) : value))
  return createHash('sha256').update(text).digest('hex')
}
