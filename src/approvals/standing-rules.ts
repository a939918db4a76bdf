import type { Approval, StandingRule } from '../core/approval.ts'
import { ParleyError } from '../core/errors.ts'
import type { SessionIdentity } from '../core/session.ts'
import type { Speaking } from './tool-policy.ts'

/** The calls that an owner lets be made from now on: those like the one that was asked about, here or everywhere. */
export type RulePlace = 'here' | 'everywhere'

interface Given {
  readonly session: Pick<SessionIdentity, 'displayKey'>
  /** Everybody whose words the turn that asked was shown. */
  readonly speaking: readonly Speaking[]
  readonly standing: RulePlace
  readonly by: string
  /** Ms since the epoch. */
  readonly at: number
}

/**
 * Returns the rule that an owner gives with their answer, under the code of the question. It holds where the words of
 * the same kind of people are shown: those of owners alone, or also of members. Throws `forbidden` where somebody has
 * spoken whom nobody let in by name, or a page: whatever says so could then use the tool.
 */
export function standingRule(
  { code, tool, forOwners }: Approval,
  { session, speaking, standing, by, at }: Given,
): StandingRule {
  if (speaking.length === 0 || speaking.some(({ role }) => role === 'guest'))
    throw new ParleyError(
      'forbidden',
      'Only once: what I was shown there is not all from people you have let in. `/approve` it without more.',
    )
  // The question that the owner has read named nobody who has spoken since.
  const who = forOwners || speaking.every(({ role }) => role === 'owner') ? 'owner' : 'member'
  return { code, tool, who, by, at, ...(standing === 'here' ? { in: session.displayKey } : {}) }
}

/** Returns those rules whose giver is an owner still: nobody's rule outlives their role. */
export async function inForce(
  rules: readonly StandingRule[],
  isOwner: (by: string) => Promise<boolean>,
): Promise<readonly StandingRule[]> {
  const given = await Promise.all(rules.map(async (rule) => ((await isOwner(rule.by)) ? [rule] : [])))
  return given.flat()
}
