import type { Approval, StandingRule } from '../core/approval.ts'
import { ParleyError } from '../core/errors.ts'
import type { SessionIdentity } from '../core/session.ts'
import type { Speaking } from './tool-policy.ts'

/** The reach of a rule that an owner gives: the conversation that asked, or every one. */
export type RulePlace = 'here' | 'everywhere'

interface Given {
  readonly session: Pick<SessionIdentity, 'displayKey' | 'agentId'>
  /** Everybody whose words the turn that asked was shown. */
  readonly speaking: readonly Speaking[]
  readonly standing: RulePlace
  readonly by: string
  /** Ms since the epoch. */
  readonly at: number
}

/**
 * Returns the rule that an owner gives with their answer, under the code of the question. It holds for turns that are
 * shown words of the same kind of people as the turn that asked: of owners alone, or of members too. Throws `forbidden`
 * if that turn was shown words of a stranger or of a page: any text could then use the tool.
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
  // Whoever has spoken since the question was asked is not named in it, so the rule is not for them.
  const who = forOwners || speaking.every(({ role }) => role === 'owner') ? 'owner' : 'member'
  return { code, tool, agent: session.agentId, who, by, at, ...(standing === 'here' ? { in: session.displayKey } : {}) }
}

/** Returns the rules whose giver is still an owner. */
export async function inForce(
  rules: readonly StandingRule[],
  isOwner: (by: string) => Promise<boolean>,
): Promise<readonly StandingRule[]> {
  const given = await Promise.all(rules.map(async (rule) => ((await isOwner(rule.by)) ? [rule] : [])))
  return given.flat()
}
