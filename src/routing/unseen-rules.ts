import type { GroupRule } from '../core/policy.ts'

/**
 * Returns a line for each rule that answers everything in groups, for an account that is shown only what addresses it.
 */
export function unseenRules(
  rules: readonly GroupRule[],
  at: { readonly channel: string; readonly account: string },
): readonly string[] {
  return rules.flatMap(({ match, trigger }, index) => {
    const elsewhere = isOther(match.channel, at.channel) || isOther(match.account, at.account)
    if (trigger !== 'always' || elsewhere) return []
    return [
      `routing.access.groups[${index}] says trigger: always, but in groups this bot is shown only what addresses it`,
    ]
  })
}

function isOther(wanted: string | undefined, actual: string): boolean {
  return wanted !== undefined && wanted.trim().toLowerCase() !== actual.toLowerCase()
}
