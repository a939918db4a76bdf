import type { RenderedPart } from '../core/outbound.ts'
import type { QuotedName } from '../core/quoting.ts'
import { json, optional, text } from './rows.ts'
import { placeholders, type Sql } from './sql.ts'

/** In the place of the name on a card of an older program, which quotes words of anybody. */
const UNKNOWN = 'unknown'

/**
 * Takes words that are forgotten out of the messages which quote them; each keeps the rest, whatever its state. A card
 * of which it is not known whose words it quotes keeps its buttons alone.
 */
export async function unquoteSent(sql: Sql, names: readonly QuotedName[]): Promise<void> {
  if (names.length === 0) return
  const query = `SELECT id, part, earlier, quoting FROM outbox WHERE quoting IN (${placeholders(names.length + 1)})`
  for (const row of await sql.all(query, [...names, UNKNOWN])) {
    const left = row.quoting === UNKNOWN ? withoutText : unquoted
    const earlier = optional(row, 'earlier', json<RenderedPart>)
    await sql.run('UPDATE outbox SET part = $2, earlier = $3, quoting = NULL WHERE id = $1', [
      text(row, 'id'),
      JSON.stringify(left(json<RenderedPart>(row, 'part'))),
      earlier === undefined ? null : JSON.stringify(left(earlier)),
    ])
  }
}

/** Returns a part without what it quotes. */
export function unquoted({ quoting, ...part }: RenderedPart): RenderedPart {
  return quoting === undefined ? part : { ...part, text: quoting.text, plain: quoting.plain }
}

function withoutText(part: RenderedPart): RenderedPart {
  return { ...part, text: '…', plain: '…' }
}
