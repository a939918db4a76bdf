import { namedApprovers, type StandingRule, type ToolRule, type ToolVerdict } from '../core/approval.ts'
import type { ToolReach } from '../core/call-gate.ts'
import type { AgentId, PersonId } from '../core/ids.ts'
import { isIn, namesTool } from '../core/place.ts'
import type { Role } from '../core/session.ts'

/** Somebody whose words the turn was shown; without a person nobody knows who they are. */
export interface Speaking {
  readonly person?: PersonId
  readonly role: Role
}

interface Facts {
  readonly tool: string
  readonly agent: AgentId
  readonly reach: ToolReach
  /** Everybody whose words the turn was shown. */
  readonly speaking: readonly Speaking[]
  /** The display keys by which rules may name the place. */
  readonly place: readonly string[]
  /** The rules that owners have given in chats. */
  readonly standing?: readonly StandingRule[]
}

/**
 * Decides whether a call may be made: for each person the first rule that fits, of all of them the strictest. Where no
 * rule fits, what acts beyond the conversation is asked about, and everything else is allowed. A rule that was given in
 * a chat turns `ask` into `allow` for the people it covers, and never lifts `deny`. A turn without a known author
 * counts as a guest's. Pure.
 */
export function decideToolUse(rules: readonly ToolRule[], facts: Facts): ToolVerdict {
  const verdict = decideByPolicy(rules, facts)
  return verdict === 'ask' && isGiven(facts) ? 'allow' : verdict
}

/** Returns true if one rule covers everybody whose words were shown. */
function isGiven({ tool, agent, speaking, place, standing = [] }: Facts): boolean {
  if (speaking.length === 0) return false
  return standing.some(
    (rule) =>
      rule.tool === tool &&
      rule.agent === agent &&
      // Exactly this place: its topics, and the sessions of each sender, are other conversations.
      (rule.in === undefined || place.includes(rule.in)) &&
      speaking.every((one) => fits([rule.who], one)),
  )
}

function decideByPolicy(rules: readonly ToolRule[], facts: Facts): ToolVerdict {
  const fallback: ToolVerdict = facts.reach === 'beyond' ? 'ask' : 'allow'
  const verdicts = decidingRules(rules, facts).map((rule) => rule?.action ?? fallback)
  return STRICTEST_FIRST.find((verdict) => verdicts.includes(verdict)) ?? fallback
}

type Asked = Pick<Facts, 'tool' | 'speaking' | 'place'>

/** Returns for each person the first rule that fits; undefined where none does. */
function decidingRules(
  rules: readonly ToolRule[],
  { tool, speaking, place }: Asked,
): readonly (ToolRule | undefined)[] {
  const here = rules.filter((rule) => namesTool(rule.tools, tool) && isIn(rule.in, place))
  const everybody = speaking.length === 0 ? [NOBODY] : speaking
  return everybody.map((one) => here.find(({ who }) => fits(who, one)))
}

/**
 * Returns the people who may answer the question about a call besides owners: those whom every rule names that asks
 * because of somebody whose words were shown. Pure.
 */
export function approversOf(rules: readonly ToolRule[], asked: Asked): readonly PersonId[] {
  const asking = decidingRules(rules, asked).filter((rule) => rule?.action !== 'allow')
  if (asking.length === 0) return []
  return namedApprovers(rules).filter((person) => asking.every((rule) => rule?.approvers?.includes(person) === true))
}

const NOBODY: Speaking = { role: 'guest' }
const STRICTEST_FIRST: readonly ToolVerdict[] = ['deny', 'ask', 'allow']

function fits(who: readonly string[], { person, role }: Speaking): boolean {
  return who.some((one) => {
    if (one === 'everybody') return true
    if (one === 'member') return role !== 'guest'
    return one === 'owner' ? role === 'owner' : one === person
  })
}
