import type { Admission } from '../../core/admission.ts'

/**
 * Returns the notice to an owner about a person or a place that asks to be let in. Names are text; only the id counts.
 */
export function admissionCard({ kind, key, code, name }: Admission): string {
  const by = name === '' ? '' : ` (${name})`
  const asked =
    kind === 'person'
      ? `\`${key}\`${by} asks to talk to me in a direct chat. A name proves nothing; the id counts.`
      : `Somebody${by} speaks in a place where nobody has let me talk: \`${key}\`.`
  const effect = kind === 'person' ? 'lets them in' : 'lets everybody there address me, in all its topics'
  return `${asked}\n\n\`/admit ${code}\` ${effect}, and I handle what was said since. \`/deny ${code}\` keeps it so, and I do not ask again.`
}
