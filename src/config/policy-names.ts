import { toPersonId } from '../core/ids.ts'
import { suggestion } from './describe-issue.ts'
import { formatPath, type Mistake } from './mistake.ts'
import type { ConfigFile } from './schema.ts'

/** The names in a rule for tools that stand for many people. */
const ANYBODY: readonly string[] = ['owner', 'member', 'everybody']

/** Every name of a rule for tools that is nobody's: a rule that denies would deny nobody. */
export function unknownNameMistakes({ tools, people }: ConfigFile): Mistake[] {
  const named = Object.keys(people)
  const known = [...ANYBODY, ...named]
  return tools.policy.flatMap(({ who, approvers = [], action }, index) => {
    const path = ['tools', 'policy', index] as const
    if (approvers.length > 0 && action !== 'ask')
      return [{ path: [...path, 'approvers'], message: `tools.policy[${index}].approvers: ${ONLY_ASKING}` }]
    return [
      ...unknown(who, { path: [...path, 'who'], known, instead: `, or ${ANYBODY.join(', ')}` }),
      ...unknown(approvers, { path: [...path, 'approvers'], known: named, instead: '; an owner may always answer' }),
    ]
  })
}

const ONLY_ASKING = 'nobody is asked under a rule that allows or denies; set action: ask, or remove them'

interface Naming {
  readonly path: Mistake['path']
  readonly known: readonly string[]
  readonly instead: string
}

function unknown(names: readonly string[], { path, known, instead }: Naming): readonly Mistake[] {
  const there = new Set(known.map(toPersonId))
  return names.flatMap((name, place): Mistake | [] => {
    if (there.has(toPersonId(name))) return []
    return {
      path: [...path, place],
      // Compares the name with all others: it is put into words only where it is read.
      get message() {
        return `${formatPath([...path, place])}: there is nobody called ${name} under people; write one of those names${instead}${suggestion(name, known)}`
      },
    }
  })
}
