import { toPersonId } from '../core/ids.ts'
import { suggestion } from './describe-issue.ts'
import type { Mistake } from './mistake.ts'
import type { ConfigFile } from './schema.ts'

/** The names in a rule for tools that stand for many people. */
const ANYBODY: readonly string[] = ['owner', 'member', 'everybody']

/** Every name of a rule for tools that is nobody's: a rule that denies would deny nobody. */
export function unknownNameMistakes({ tools, people }: ConfigFile): Mistake[] {
  const known = [...ANYBODY, ...Object.keys(people)]
  const there = new Set(known.map(toPersonId))
  return tools.policy.flatMap(({ who }, index) =>
    who.flatMap((name, place): Mistake | [] => {
      if (there.has(toPersonId(name))) return []
      return {
        path: ['tools', 'policy', index, 'who', place],
        // Compares the name with all others: it is put into words only where it is read.
        get message() {
          const unknown = `tools.policy[${index}].who[${place}]: there is nobody called ${name} under people`
          return `${unknown}; write one of those names, or ${ANYBODY.join(', ')}${suggestion(name, known)}`
        },
      }
    }),
  )
}
