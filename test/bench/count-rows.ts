import { Database } from '../../src/store/engines/sqlite-driver.ts'

/** The rows a daemon that has stopped left behind, in the state an answered message ends in. */
export function countRows(database: string): Record<'inbox rows' | 'turns' | 'sent parts', number> {
  const db = new Database(database, { readonly: true })
  const count = (from: string): number => Number(db.prepare(`SELECT count(*) FROM ${from}`).pluck().get())
  try {
    return {
      'inbox rows': count("inbox JOIN turns ON turns.id = inbox.turn_id WHERE turns.outcome = 'answered'"),
      turns: count("turns WHERE state = 'completed'"),
      'sent parts': count("outbox WHERE state = 'sent'"),
    }
  } finally {
    db.close()
  }
}
