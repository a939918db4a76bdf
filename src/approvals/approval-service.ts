import type { Address } from '../core/address.ts'
import {
  type Approval,
  type ApprovalDesk,
  type ApprovalRequestData,
  approvedCallId,
  approvedCode,
  type NewApproval,
  OPEN_MS,
  WAITS_MS,
} from '../core/approval.ts'
import { tokensBehind } from '../core/author.ts'
import type { ApprovalOutcome, CallGate, GatedCall, GateVerdict } from '../core/call-gate.ts'
import type { CardKeeper } from '../core/card-keeper.ts'
import { sleep } from '../core/clock.ts'
import { type Deferred, deferred } from '../core/deferred.ts'
import type { Dispatch } from '../core/dispatch.ts'
import { BEING_FORGOTTEN } from '../core/forgetting.ts'
import type { BeforeTool } from '../core/hook.ts'
import type { IdSource, PersonId, SessionId, TurnId } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import type { Sender } from '../core/message.ts'
import type { OutboundMessage } from '../core/outbound.ts'
import type { AuthorId } from '../core/platform-id.ts'
import type { TurnRef } from '../core/session-tools.ts'
import type { StoreReader } from '../store/store.ts'
import { approvalCards, type CardKeeperDeps } from './card-keeper.ts'
import { readersOf } from './card-readers.ts'
import { createDesk } from './desk.ts'
import { followUp } from './follow-up.ts'
import { type JudgeDeps, type JudgedTurn, judgeCall, refOf } from './judge-call.ts'
import { isBeingForgotten, refusingForgotten } from './refusing-forgotten.ts'
import type { Speaking } from './tool-policy.ts'
import type { OthersDeps } from './words-of-others.ts'
import { writeCards } from './write-cards.ts'

export interface SpeakingAuthor extends Speaking {
  readonly author: AuthorId
}

export interface ApprovalDeps
  extends CardKeeperDeps,
    Omit<JudgeDeps, 'store' | 'clock' | 'ids'>,
    Pick<OthersDeps, 'withWords'> {
  readonly ids: Pick<IdSource, 'code' | 'aside' | 'trace'>
  readonly logger: Logger
  /** Returns everybody whose words the turn was shown, as they are known now. */
  speaking(turn: TurnRef): Promise<readonly SpeakingAuthor[]>
  /** Returns true if this sender is an owner now, or one of these people. */
  answers(address: Address, sender: Sender, approvers: readonly PersonId[]): boolean
  /** Returns the name of a place for people. */
  nameOf(address: Address, session: SessionId): Promise<string>
  accept(dispatch: Dispatch): Promise<void>
  /**
   * Returns the reason of a hook that refuses a call, and `BEING_FORGOTTEN` for one whose words are being forgotten
   * before a hook has them; absent where there are none.
   */
  refusedByHook?(this: void, call: BeforeTool, isForgotten: () => Promise<boolean>): Promise<string | undefined>
}

/** Asks people whether a call may be made: the gate of each turn, and the desk at which owners answer. */
export interface Approvals extends ApprovalDesk, Pick<CardKeeper, 'closeIfOver'> {
  gate(turn: JudgedTurn): CallGate
  /** Returns the row of a question and the messages that ask it; its event is committed together with both. */
  question(
    turn: JudgedTurn,
    data: ApprovalRequestData,
  ): Promise<{ readonly approval: NewApproval; readonly messages: readonly OutboundMessage[] }>
  /** Called once the result of a call is stored: an approval that came at the same moment is treated as late. */
  settled(turn: TurnId, callId: string): void
  /** Returns true if a turn of this process has asked something. */
  hasAsked(turn: TurnId): boolean
  /** Called once the end of such a turn is on record. */
  turnEnded(turn: TurnId): void
  /** Returns the calls that these questions are about. */
  callsOf(
    codes: readonly string[],
  ): Promise<readonly { readonly id: string; readonly name: string; readonly args: unknown }[]>
  /** Returns true while a turn of the session waits for an answer (S7). */
  waits(this: void, session: SessionId): boolean
  /** Begins the turns of calls that were allowed late and that no turn has made yet, whatever prevented it before. */
  handIn(): Promise<void>
  /** Does what `handIn` does after a crash, and closes the cards of questions that are over. */
  recover(): Promise<void>
}

const DAY_MS = 86_400_000

export function createApprovals(deps: ApprovalDeps): Approvals {
  const cards = approvalCards(deps)
  const service = new ApprovalService(deps, cards)
  const desk = createDesk({ ...deps, cards, answered: (code, state) => service.answered(code, state) })
  return Object.assign(service, desk, { closeIfOver: cards.closeIfOver })
}

class ApprovalService implements Omit<Approvals, keyof ApprovalDesk | 'closeIfOver'> {
  readonly #deps: ApprovalDeps
  readonly #waiting = new Map<string, { readonly session: SessionId; readonly answer: Deferred }>()
  /** The questions of turns that run, by turn and call. */
  readonly #asked = new Map<string, string>()
  readonly #cards: CardKeeper

  constructor(deps: ApprovalDeps, cards: CardKeeper) {
    this.#deps = deps
    this.#cards = cards
  }

  gate(turn: JudgedTurn): CallGate {
    return refusingForgotten(this.#deps.store.read, turn.id, {
      judge: (call) => this.#judgeBehindHooks(turn, call),
      outcome: (code, signal) => this.#outcome(code, signal),
    })
  }

  /** The operator's hooks are asked first, so that nobody is asked about a call that one of them refuses. */
  async #judgeBehindHooks(turn: JudgedTurn, call: GatedCall): Promise<GateVerdict> {
    const { tool, args, callId } = call
    const { read } = this.#deps.store
    const hooked = { on: 'before_tool', session: turn.session.id, turn: turn.id, tool, args } as const
    const isForgotten = (): Promise<boolean> => isBeingForgotten(read, turn.id, approvedCode(callId))
    const reason = await this.#deps.refusedByHook?.(hooked, isForgotten)
    if (reason === undefined) return judgeCall(this.#deps, turn, call)
    if (reason === BEING_FORGOTTEN) return { kind: 'deny', reason }
    return { kind: 'deny', reason: `Denied by a rule of the machine I run on: ${reason}` }
  }

  async question(
    turn: JudgedTurn,
    { code, callId, tool, args }: ApprovalRequestData,
  ): ReturnType<Approvals['question']> {
    this.#asked.set(`${turn.id} ${callId}`, code)
    const { id: turnId, session, traceId, reply } = turn
    const askedAt = this.#deps.clock.now()
    this.#deps.logger.info('Somebody is asked whether a tool may be used', {
      traceId,
      sessionId: session.id,
      tool,
      code,
    })
    this.#cards.watch({ code, openUntil: askedAt + OPEN_MS, turnId })
    const speaking = await this.#deps.speaking(refOf(turn))
    const readers = await readersOf(this.#deps, turn, { tool, speaking })
    const forOwners = speaking.every(({ role }) => role === 'owner') ? ({ forOwners: true } as const) : {}
    const approval = { code, turnId, callId, traceId, tool, args, reply, sessionId: session.id, askedAt, ...forOwners }
    return { approval, messages: await writeCards(approval, readers, this.#deps.ids) }
  }

  turnEnded(turn: TurnId): void {
    for (const call of this.#asked.keys()) if (call.startsWith(`${turn} `)) this.#asked.delete(call)
    void this.#cards.ended(turn)
  }

  hasAsked(turn: TurnId): boolean {
    return this.#cards.asked(turn)
  }

  settled(turn: TurnId, callId: string): void {
    const code = this.#asked.get(`${turn} ${callId}`)
    if (code === undefined) return
    this.#asked.delete(`${turn} ${callId}`)
    this.#followIfLate(code).catch((err: unknown) =>
      this.#deps.logger.error('An allowed call could not be made', { err, code }),
    )
  }

  async callsOf(codes: readonly string[]): ReturnType<Approvals['callsOf']> {
    const found = await Promise.all(codes.map((code) => this.#read.get(code)))
    return found.flatMap((one) => (one ? { id: approvedCallId(one.code), name: one.tool, args: one.args } : []))
  }

  readonly waits = (session: SessionId): boolean => [...this.#waiting.values()].some((one) => one.session === session)

  /** Called once an answer is on record: whoever waits for it continues, and a call that was left is made now. */
  async answered(code: string, state: 'allowed' | 'denied'): Promise<void> {
    this.#waiting.get(code)?.answer.resolve()
    if (state === 'allowed') await this.#followIfLate(code)
  }

  async handIn(): Promise<void> {
    for (const approval of await this.#read.owed(this.#deps.clock.now() - DAY_MS)) await this.#follow(approval)
  }

  async recover(): Promise<void> {
    await this.handIn()
    await this.#cards.recover()
  }

  get #read(): StoreReader['approvals'] {
    return this.#deps.store.read.approvals
  }

  async #outcome(code: string, signal: AbortSignal): Promise<ApprovalOutcome> {
    const { clock } = this.#deps
    const answer = deferred()
    const approval = await this.#read.get(code)
    if (approval?.state === 'asked') {
      // An answer that comes from here on ends the wait; one that came before is found by the read below.
      this.#waiting.set(code, { session: approval.sessionId, answer })
      const still = await this.#read.get(code)
      const ms = Math.min(WAITS_MS, approval.askedAt + WAITS_MS - clock.now())
      const over = new AbortController()
      if (still?.state === 'asked' && ms > 0)
        await Promise.race([answer.promise, sleep(clock, ms, AbortSignal.any([signal, over.signal]))])
      over.abort()
      this.#waiting.delete(code)
    }
    const now = await this.#read.get(code)
    if (now?.state === 'allowed') return { kind: 'allowed' }
    return now?.state === 'denied' ? { kind: 'denied', by: now.decidedBy ?? 'my owner' } : { kind: 'open' }
  }

  async #follow(approval: Approval): Promise<void> {
    const { store, accept, ids, clock } = this.#deps
    if (await store.read.forgetting.isForgetting(approval.turnId)) return
    const session = await store.read.sessions.get(approval.sessionId)
    if (session === undefined || session.inactiveAt !== undefined) return
    const ledBy = tokensBehind(await store.read.inbox.ofTurn(approval.turnId))
    await accept(followUp(approval, session, { traceId: ids.trace(), at: clock.now(), ledBy }))
  }

  async #followIfLate(code: string): Promise<void> {
    const approval = await this.#read.get(code)
    if (approval?.state === 'allowed' && approval.late) await this.#follow(approval)
  }
}
