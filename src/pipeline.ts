import type { ChannelCursor } from './channels/adapter.ts'
import type { Clock } from './core/clock.ts'
import type { Decision, Dispatch } from './core/dispatch.ts'
import { errorCode } from './core/errors.ts'
import { failpoint } from './core/failpoint.ts'
import type { IdSource, SessionId } from './core/ids.ts'
import type { Logger } from './core/logger.ts'
import { NO_USAGE } from './core/model.ts'
import type { AgentProfile, JournalDraft, RunAgent, TurnResult } from './core/turn.ts'
import type { DeliveryService } from './delivery/delivery.ts'
import { type Accepted, acceptDispatch } from './sessions/accept-dispatch.ts'
import type { CommandRunner } from './sessions/command-runner.ts'
import type { Courtesy } from './sessions/courtesy.ts'
import { claimWaiting, recordEnd, recordStep, type StartedTurn, steerWaiting } from './sessions/record-turn.ts'
import type { RunningTurns } from './sessions/running-turns.ts'
import type { Transcript } from './sessions/transcript.ts'
import type { TurnQueue } from './sessions/turn-queue.ts'
import { endingOf, replyOf } from './sessions/turn-reply.ts'
import { type RequestContext, turnRequest } from './sessions/turn-request.ts'
import type { Store } from './store/store.ts'

export interface PipelineDeps {
  readonly store: Store
  readonly ids: IdSource
  readonly clock: Clock
  readonly logger: Logger
  readonly decide: (dispatch: Dispatch) => Decision
  readonly queue: TurnQueue
  readonly running: RunningTurns
  readonly transcript: Transcript
  readonly runAgent: RunAgent
  readonly delivery: DeliveryService
  readonly commands: CommandRunner
  readonly courtesy: Courtesy
  readonly busy: 'queue' | 'steer' | 'interrupt'
  agent(id: string): AgentProfile
}

/** The story of a message: accept, claim, turn, finish, deliver. Each step is one commit; a crash lies between two. */
export class Pipeline {
  readonly #deps: PipelineDeps

  constructor(deps: PipelineDeps) {
    this.#deps = deps
  }

  /** Resolves once the dispatch is on disk; what it owes goes on by itself. Rejects if it could not be stored. */
  readonly accept = async (dispatch: Dispatch, position?: ChannelCursor): Promise<void> => {
    const { store, ids, queue, decide } = this.#deps
    const decision = decide(dispatch)
    let undo = (): void => {}
    const admitted = (session: SessionId, admission: 'start' | 'wait'): void => {
      undo = () => queue.undo(session, admission)
    }
    const { channel, account } = dispatch.event.address
    const write = store.write(async (tx) => {
      if (position) await tx.channelState.set(channel, account, position.key, position.value)
      return acceptDispatch(tx, dispatch, decision, { ids, queue, admitted })
    })
    const accepted = await write.catch((error: unknown) => {
      undo()
      throw error
    })
    this.#follow(accepted, dispatch, decision)
  }

  /** Goes on with a turn that is claimed already: after a crash, or one that boot claimed for waiting messages. */
  readonly resume = (turn: StartedTurn): void => {
    this.#deps.running.begin(turn, (signal) => this.#run(turn, signal))
  }

  #follow(accepted: Accepted, dispatch: Dispatch, decision: Decision): void {
    const { running, commands, courtesy, busy } = this.#deps
    switch (accepted.kind) {
      case 'started':
        failpoint('CP4-claimed')
        this.resume(accepted.turn)
        break
      case 'waiting':
        if (busy === 'interrupt') running.abort(accepted.sessionId)
        break
      case 'command':
        commands.run(accepted.inboxId)
        break
      case 'full':
        courtesy.queueFull(accepted.inboxId, dispatch)
        break
      case 'done':
        if (decision.kind === 'refuse') courtesy.refused(accepted.inboxId, dispatch, decision.reason)
        break
      case 'repeat':
        break
    }
  }

  async #run(turn: StartedTurn, signal: AbortSignal): Promise<void> {
    const { running } = this.#deps
    const result = await this.#converse(turn, signal).catch(brokeOff)
    // Shutting down is no outcome: the turn stays claimed and the next start continues it (RELIABILITY P66).
    if (result.kind === 'aborted' && running.draining) return
    if (result.kind === 'failed') this.#logFailure(turn, result)
    const next = await running.untilStored(() => this.#finish(turn, result))
    if (next) this.resume(next)
  }

  async #converse(turn: StartedTurn, signal: AbortSignal): Promise<TurnResult> {
    const { delivery, transcript, runAgent } = this.#deps
    const { address } = turn.reply
    const live = delivery.live({ turnId: turn.id, session: turn.session, traceId: turn.traceId, ...turn.reply })
    const stopTyping = delivery.typing(address)
    try {
      const request = turnRequest(turn, await transcript.view(turn.session), this.#context(turn))
      let shown = ''
      for await (const event of runAgent(request, signal)) {
        if (event.type === 'end') return event.result
        shown = event.type === 'delta' ? shown + event.text : ''
        if (event.type === 'delta') live.push(shown)
        else await this.#journal(turn, event.event)
      }
      throw new Error('the agent ended without a result')
    } finally {
      stopTyping()
      await live.settle()
    }
  }

  #context(turn: StartedTurn): RequestContext {
    const { agent, clock, busy } = this.#deps
    const steer = busy === 'steer' ? () => this.#steer(turn) : async () => []
    return { agent: agent(turn.session.agentId), now: clock.now(), steer }
  }

  #journal(turn: StartedTurn, event: JournalDraft): Promise<void> {
    const { store, clock } = this.#deps
    return store.write((tx) => recordStep(tx, turn, clock.now(), event))
  }

  async #steer(turn: StartedTurn): Promise<readonly string[]> {
    const { store, clock, queue } = this.#deps
    const rows = await store.write((tx) => steerWaiting(tx, turn, clock.now()))
    if (rows.length > 0) queue.taken(turn.session.id)
    return rows.flatMap(({ dispatch: { event } }) => ('text' in event ? [event.text] : []))
  }

  async #finish(turn: StartedTurn, result: TurnResult): Promise<StartedTurn | undefined> {
    const { store, clock, ids, queue, running, delivery } = this.#deps
    const message = replyOf(turn, result)
    const { planned, next } = await store.write(async (tx) => {
      const planned = message && (await delivery.plan(tx, message))
      await recordEnd(tx, turn, clock.now(), endingOf(result, planned?.outcome))
      const next = running.draining ? undefined : await claimWaiting(tx, turn.session, clock.now(), ids)
      if (next) queue.taken(turn.session.id)
      else queue.free(turn.session.id)
      return { planned, next }
    })
    if (planned) delivery.release(planned)
    return next
  }

  #logFailure(
    { id: turnId, traceId }: StartedTurn,
    { code, cause: err }: Extract<TurnResult, { kind: 'failed' }>,
  ): void {
    this.#deps.logger.warn('A turn failed', { turnId, traceId, code, err })
  }
}

/** Nothing a turn trips over ends the daemon or leaves the chat without an outcome. */
function brokeOff(cause: unknown): TurnResult {
  return { kind: 'failed', code: errorCode(cause), cause, usage: NO_USAGE, steps: 0 }
}
