import type { Address } from '../core/address.ts'
import { type Approval, approvedCode, type ToolRule } from '../core/approval.ts'
import { askedTooMuch, type QuestionAsker } from '../core/asked-too-much.ts'
import type { GatedCall, GateVerdict } from '../core/call-gate.ts'
import type { Clock } from '../core/clock.ts'
import type { ReplyTarget } from '../core/dispatch.ts'
import type { IdSource, PersonId, SessionId, TraceId, TurnId } from '../core/ids.ts'
import type { Sender } from '../core/message.ts'
import type { Reader } from '../core/outbound.ts'
import { OPERATOR } from '../core/platform-id.ts'
import type { SessionIdentity } from '../core/session.ts'
import type { TurnRef } from '../core/session-tools.ts'
import type { Store } from '../store/store.ts'
import { MOST_SHOWN, shownArguments } from './approval-card.ts'
import { namesOfPlace } from './place-of.ts'
import { inForce } from './standing-rules.ts'
import { stillOpen } from './still-open.ts'
import { approversOf, decideToolUse, type Speaking } from './tool-policy.ts'

/** A turn whose calls are judged. */
export interface JudgedTurn {
  readonly id: TurnId
  readonly session: SessionIdentity
  readonly traceId: TraceId
  readonly reply: ReplyTarget
  readonly asked?: { readonly sender?: Sender }
  /** Everything it answers is from people whom nobody let in by name. */
  readonly forStrangers?: true
}

export interface JudgeDeps {
  readonly store: Pick<Store, 'read'>
  readonly clock: Pick<Clock, 'now'>
  readonly ids: Pick<IdSource, 'code'>
  readonly rules: readonly ToolRule[]
  /** Returns everybody whose words the turn was shown, as they are known now. */
  speaking(turn: TurnRef): Promise<readonly Speaking[]>
  /** Returns everybody whose messages a turn answers. */
  askersOf(this: void, turn: TurnId): Promise<readonly QuestionAsker[]>
  /** Returns true if somebody who gave a rule, by name or id, is an owner now. */
  isOwnerNow(this: void, by: string): Promise<boolean>
  /** Returns one private chat for each owner and each of these people, the nearest to an address. */
  chatsOf(
    near: Address,
    approvers: readonly PersonId[],
  ): readonly { readonly address: Address; readonly reader: Reader }[]
}

/** Returns whether a call of a turn may be made, or under which code a person is asked about it. */
export async function judgeCall(deps: JudgeDeps, turn: JudgedTurn, call: GatedCall): Promise<GateVerdict> {
  const { rules, isOwnerNow, store } = deps
  const { approvals, standingRules } = store.read
  const code = approvedCode(call.callId)
  const approval = await (code === undefined ? approvals.ofCall(turn.id, call.callId) : approvals.get(code))
  const speaking = await deps.speaking(refOf(turn))
  const place = await namesOfPlace(store.read, turn.session)
  const standing = await inForce(await standingRules.all(), isOwnerNow)
  const verdict = decideToolUse(rules, { ...call, agent: turn.session.agentId, speaking, place, standing })
  // A rule that denies overrides an approval that was given before the rule.
  if (verdict === 'deny') return denyCall(`the policy does not let ${call.tool} be used here`)
  if (code !== undefined && (await hasEnded(deps, turn.session.id))) return denyCall('its conversation has ended')
  if (approval !== undefined) return judgeAnswered(deps, { turn, call, approval }, { speaking, place })
  if (verdict === 'allow') return { kind: 'allow' }
  const approvers = approversOf(rules, { tool: call.tool, speaking, place })
  const hindrance = await hindranceOf(deps, turn, { call, approvers })
  return hindrance === undefined ? { kind: 'ask', code: await freshCode(deps), asked: false } : denyCall(hindrance)
}

export function refOf({ id, session }: Pick<JudgedTurn, 'id' | 'session'>): TurnRef {
  return { id, sessionId: session.id, agentId: session.agentId }
}

interface Answered {
  readonly turn: JudgedTurn
  readonly call: GatedCall
  readonly approval: Approval
}

/** Returns the verdict on a call that a person was asked about. */
async function judgeAnswered(
  deps: JudgeDeps,
  { turn, call, approval }: Answered,
  behind: Parameters<typeof mayStill>[2],
): Promise<GateVerdict> {
  const may = approval.state !== 'allowed' || (await mayStill(deps, approval, behind))
  return may ? judgeAsked(turn, call, approval) : denyCall(`${approval.decidedBy}, who allowed it, may not any more`)
}

/** A call can have waited until somebody began a fresh conversation. */
async function hasEnded({ store }: JudgeDeps, session: SessionId): Promise<boolean> {
  return (await store.read.sessions.get(session))?.inactiveAt !== undefined
}

/** Returns why nobody can be asked, if that is so. */
async function hindranceOf(
  deps: JudgeDeps,
  { id, session, reply, forStrangers }: JudgedTurn,
  { call: { tool, args }, approvers }: { readonly call: GatedCall; readonly approvers: readonly PersonId[] },
): Promise<string | undefined> {
  const { store, clock, askersOf } = deps
  if (!session.source.interactive)
    return `${tool} needs the yes of a person, and nobody is there in a run without people`
  // Strangers could ask owners as often as they like, and each question holds up a conversation.
  if (forStrangers) return `${tool} needs the yes of my owner, whom I ask only for people they know`
  if (shownArguments(args).length > MOST_SHOWN) return 'the call is too long to be shown to a person; make it shorter'
  if (deps.chatsOf(reply.address, approvers).length === 0)
    return `${tool} needs the yes of my owner, who has not written to me in private yet`
  const open = (await stillOpen(store, clock.now())).filter(({ sessionId }) => sessionId === session.id)
  const most = askedTooMuch(await askersOf(id), await Promise.all(open.map(({ turnId }) => askersOf(turnId))))
  return most === undefined ? undefined : `${most} questions to my owner are open here already`
}

async function freshCode(deps: JudgeDeps): Promise<string> {
  const code = deps.ids.code()
  return (await deps.store.read.approvals.get(code)) === undefined ? code : freshCode(deps)
}

interface AskingTurn {
  readonly id: TurnId
  readonly session: Pick<SessionIdentity, 'id'>
}

/** Returns the verdict on a call that a person was asked about: a yes holds for exactly that call, and for one turn. */
export function judgeAsked(turn: AskingTurn, call: GatedCall, approval: Approval): GateVerdict {
  const same = approval.tool === call.tool && JSON.stringify(approval.args) === JSON.stringify(call.args)
  if (!same || approval.sessionId !== turn.session.id)
    return denyCall('this is another call than the one that was asked about')
  switch (approval.state) {
    case 'asked':
      return { kind: 'ask', code: approval.code, asked: true }
    case 'denied':
      return denyCall(`${approval.decidedBy ?? 'my owner'} has refused this call`)
    case 'allowed':
      return { kind: 'allow' }
    case 'used':
      return approval.usedBy === turn.id ? { kind: 'allow' } : denyCall('this call was made already')
  }
}

/** Returns the refusal of a call, in words for the model. */
function denyCall(reason: string): GateVerdict {
  return { kind: 'deny', reason: `Denied: ${reason}. Answer here without it.` }
}

interface MayStillDeps {
  readonly rules: readonly ToolRule[]
  /** Returns true if somebody who gave an answer, by name or id, is an owner now. */
  isOwnerNow(this: void, by: string): Promise<boolean>
}

interface Behind {
  /** Everybody whose words the turn was shown. */
  readonly speaking: readonly Speaking[]
  readonly place: readonly string[]
}

/** Returns true if whoever allowed a call may still allow it: roles may have changed while it waited for its turn. */
async function mayStill(
  { rules, isOwnerNow }: MayStillDeps,
  { tool, decidedBy = '' }: Pick<Approval, 'tool' | 'decidedBy'>,
  { speaking, place }: Behind,
): Promise<boolean> {
  if (decidedBy === OPERATOR || (await isOwnerNow(decidedBy))) return true
  return approversOf(rules, { tool, speaking, place }).some((person) => person === decidedBy)
}
