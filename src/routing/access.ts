import { formatAddress } from '../core/address.ts'
import type { AdmissionFact, Applicant } from '../core/admission.ts'
import type { Channels } from '../core/channel-traits.ts'
import type { Identity, Origin, RefuseReason, TraceStep } from '../core/dispatch.ts'
import type { InboundEvent } from '../core/message.ts'
import { identifiesNobody, platformIdOf } from '../core/platform-id.ts'
import type { Audience } from '../core/policy.ts'
import type { GroupRuleEntry } from './group-rules.ts'
import { describe } from './identify.ts'
import { pass, stop } from './trace.ts'

/** The input of the access stage. */
export interface Requester {
  readonly origin: Origin
  readonly event: InboundEvent
  readonly identity: Identity
  /** The agent is meant. */
  readonly addressed: boolean
  /** The group rule of the place; absent in direct chats and where none matches. */
  readonly rule: GroupRuleEntry | undefined
  /** The dispatch is a command for people we do not know. */
  readonly opens: boolean
}

export interface AccessGround {
  readonly channels: Channels
  readonly direct: Audience
  readonly ownerKnown: boolean
  /** Returns an owner's decision about an applicant, by its key. */
  admission(key: string): AdmissionFact | undefined
}

export interface AccessVerdict {
  readonly step: TraceStep
  readonly refused?: RefuseReason
  /** An owner may let it in. */
  readonly asks?: Applicant
  /** Somebody unknown, who may talk only because anybody may here. */
  readonly public?: true
}

/** Each is guarded at its own entrance. */
const ADMITTED: readonly Origin[] = ['schedule', 'operator', 'hook', 'node']
const OWNER: AccessVerdict = { step: pass('access', 'an owner') }

/**
 * Decides whether somebody may talk here. An owner always may. Schedules, hooks, nodes and the operator were admitted
 * at their own entrance; everything else, callers of the API and tools included, passes the same check (K23). Open
 * commands pass in direct chats only: in a group the answer would be noise from people nobody admitted. A person whom
 * an owner let in passes where the configuration has no rule of its own.
 */
export function decideAccess(requester: Requester, ground: AccessGround): AccessVerdict {
  const { origin, identity, opens } = requester
  if (ADMITTED.includes(origin)) return { step: pass('access', `admitted by origin ${origin}`) }
  if (identity.role === 'owner') return OWNER
  if (requester.event.address.chatType !== 'direct') return decideGroup(requester, ground)
  if (admits(ground.direct, identity)) {
    return {
      step: pass(
        'access',
        ground.direct === 'public' ? 'direct: public' : 'direct: allowlist',
        'routing.access.direct',
      ),
      ...anybody(identity),
    }
  }
  const letIn = identity.role === 'guest' ? decideAdmission(requester, ground) : {}
  if (letIn.step) return { step: letIn.step }
  if (opens) return { step: pass('access', 'a command open to everybody'), ...anybody(identity) }
  const refusal = refuseDirect(identity, ground)
  return refusal.refused === 'stranger' && letIn.asks ? { ...refusal, asks: letIn.asks } : refusal
}

function decideGroup(requester: Requester, ground: AccessGround): AccessVerdict {
  const { identity, rule } = requester
  if (rule === undefined) {
    const letIn = decideAdmission(requester, ground)
    if (letIn.step) return { step: letIn.step, ...anybody(identity) }
    const because = `no group rule matches, ${describe(identity)} is not an owner`
    const refusal: AccessVerdict = { step: stop('access', because, 'routing.access.groups'), refused: 'access' }
    return letIn.asks && ground.ownerKnown ? { ...refusal, asks: letIn.asks } : refusal
  }
  if (admits(rule.who, identity)) return { step: rule.admitted, ...anybody(identity) }
  const because = `this place is for ${ONLY[rule.who]}, not for ${shortName(identity)}`
  return { step: stop('access', because, `${rule.path}.who`), refused: 'access' }
}

/** Lets everybody in; the turn of a guest is a public one. */
function anybody({ role }: Identity): Pick<AccessVerdict, 'public'> {
  return role === 'guest' ? { public: true } : {}
}

/** An owner let the applicant in, or is asked to. Only people on a platform ask. */
function decideAdmission(
  { origin, event, addressed }: Requester,
  { admission, channels }: AccessGround,
): { readonly step?: TraceStep; readonly asks?: Applicant } {
  const applicant = origin === 'platform' ? applicantOf(channels, event) : undefined
  if (applicant === undefined) return {}
  const fact = admission(applicant.key)
  if (fact?.state === 'admitted') {
    const on = new Date(fact.at).toISOString().slice(0, 10)
    return { step: pass('access', `${applicant.key} was admitted by ${fact.by} on ${on}`) }
  }
  return asksForAdmission(event, { kind: applicant.kind, fact, addressed }) ? { asks: applicant } : {}
}

const ONLY: Readonly<Record<Audience, string>> = {
  owner: 'owners only',
  allowlist: 'known people only',
  public: 'everybody',
}

function shortName(identity: Identity): string {
  return identity.role === 'guest' ? 'a stranger' : `the ${describe(identity)}`
}

function refuseDirect(identity: Identity, { direct, ownerKnown }: AccessGround): AccessVerdict {
  if (identity.role === 'guest' && !ownerKnown) {
    return { step: stop('access', 'nobody owns this agent yet', 'people'), refused: 'no_owner_yet' }
  }
  return {
    step: stop(
      'access',
      `direct chats are for ${ONLY[direct]}, not for ${shortName(identity)}`,
      'routing.access.direct',
    ),
    refused: identity.role === 'guest' ? 'stranger' : 'access',
  }
}

/** Owners are admitted before. A `guest` is nobody we know, even with a name of its own in the store. */
function admits(audience: Audience, { role }: Identity): boolean {
  return audience === 'public' || (audience === 'allowlist' && role !== 'guest')
}

/**
 * Returns the applicant an owner would have to let in for this event to pass: in a direct chat its sender, elsewhere
 * the chat with all its topics. Undefined for a sender that is no single person.
 */
function applicantOf(channels: Pick<Channels, 'traits'>, { address, sender }: InboundEvent): Applicant | undefined {
  const { channel, account, chatType, chat } = address
  if (chatType !== 'direct') return { kind: 'place', key: formatAddress({ channel, account, chatType, chat }) }
  if (identifiesNobody(channels, channel, sender)) return undefined
  const id = platformIdOf(channels, channel, sender)
  return { kind: 'person', key: account === 'default' ? id : `${channel}@${account}${id.slice(channel.length)}` }
}

/**
 * The event asks an owner to let the applicant in, or belongs to what will be handled then. Channels of a guild or
 * workspace are many and talk among themselves: one asks when it addresses the agent, a group when somebody speaks.
 */
function asksForAdmission(
  event: InboundEvent,
  { kind, fact, addressed }: { kind: Applicant['kind']; fact: AdmissionFact | undefined; addressed: boolean },
): boolean {
  if (fact?.state === 'denied') return false
  switch (event.kind) {
    case 'message':
    case 'command':
      return kind === 'person' || fact !== undefined || addressed || event.address.chatType === 'group'
    case 'edit':
    case 'delete':
    case 'departure':
      return fact !== undefined
    case 'membership':
      return kind === 'place' && event.status === 'joined'
    default:
      return false
  }
}
