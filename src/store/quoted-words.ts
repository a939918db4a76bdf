import type { RenderedPart } from '../core/outbound.ts'
import type { QuotedName } from '../core/quoting.ts'
import { json, optional, text } from './rows.ts'
import { placeholders, type Sql } from './sql.ts'

/** Takes words that are forgotten out of the messages which quote them; each keeps the rest, whatever its state. */
export async function unquoteSent(sql: Sql, names: readonly QuotedName[]): Promise<void> {
  if (names.length === 0) return
  const query = `SELECT id, part, earlier FROM outbox WHERE quoting IN (${placeholders(names.length)})`
  for (const row of await sql.all(query, names)) {
    const earlier = optional(row, 'earlier', json<RenderedPart>)
    await sql.run('UPDATE outbox SET part = $2, earlier = $3, quoting = NULL WHERE id = $1', [
      text(row, 'id'),
      JSON.stringify(unquoted(json<RenderedPart>(row, 'part'))),
      earlier === undefined ? null : JSON.stringify(unquoted(earlier)),
    ])
  }
}

/** Returns a part without what it quotes. */
export function unquoted({ quoting, ...part }: RenderedPart): RenderedPart {
  return quoting === undefined ? part : { ...part, text: quoting.text, plain: quoting.plain }
}
