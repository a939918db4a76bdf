import type { Identity, Origin, RefuseReason, TraceStep } from '../core/dispatch.ts'
import type { Audience } from '../core/policy.ts'
import type { GroupRuleEntry } from './group-rules.ts'
import { describe } from './identify.ts'
import { pass, stop } from './trace.ts'

/** What the access stage looks at. */
export interface Visitor {
  readonly origin: Origin
  readonly identity: Identity
  readonly direct: boolean
  /** The group rule of the place; absent in direct chats and where none matches. */
  readonly rule: GroupRuleEntry | undefined
  /** The dispatch is a command for people we do not know. */
  readonly opens: boolean
}

export interface AccessVerdict {
  readonly step: TraceStep
  readonly refused?: RefuseReason
}

const OWNER: AccessVerdict = { step: pass('access', 'an owner') }

/**
 * Whether somebody may talk here. An owner always may. What a schedule or the operator's door sends was admitted there;
 * everything else, callers of the API and tools included, passes the same gate (K23, RELIABILITY S12). Open commands
 * pass in direct chats only: in a group the answer would be noise from people nobody admitted.
 */
export function decideAccess(
  visitor: Visitor,
  policy: { readonly direct: Audience; readonly ownerKnown: boolean },
): AccessVerdict {
  const { origin, identity, direct, opens } = visitor
  if (origin === 'schedule' || origin === 'operator') return { step: pass('access', `admitted by origin ${origin}`) }
  if (identity.role === 'owner') return OWNER
  if (!direct) return decideGroup(identity, visitor.rule)
  if (admits(policy.direct, identity)) {
    return {
      step: pass(
        'access',
        policy.direct === 'public' ? 'direct: public' : 'direct: allowlist',
        'routing.access.direct',
      ),
    }
  }
  if (opens) return { step: pass('access', 'a command open to everybody') }
  return refuseDirect(identity, policy)
}

function decideGroup(identity: Identity, rule: GroupRuleEntry | undefined): AccessVerdict {
  if (rule === undefined) {
    const because = `no group rule matches, ${describe(identity)} is not an owner`
    return { step: stop('access', because, 'routing.access.groups'), refused: 'access' }
  }
  if (admits(rule.who, identity)) return { step: rule.admitted }
  const because = `who: ${rule.who} leaves out ${describe(identity)}`
  return { step: stop('access', because, `${rule.path}.who`), refused: 'access' }
}

function refuseDirect(
  identity: Identity,
  { direct, ownerKnown }: { readonly direct: Audience; readonly ownerKnown: boolean },
): AccessVerdict {
  if (identity.role === 'guest' && !ownerKnown) {
    return { step: stop('access', 'nobody owns this agent yet', 'people'), refused: 'no_owner_yet' }
  }
  return {
    step: stop('access', `direct: ${direct} leaves out ${describe(identity)}`, 'routing.access.direct'),
    refused: identity.role === 'guest' ? 'stranger' : 'access',
  }
}

/** Owners are admitted before. A `guest` is nobody we know, even with a name of its own in the store. */
function admits(audience: Audience, { role }: Identity): boolean {
  return audience === 'public' || (audience === 'allowlist' && role !== 'guest')
}
