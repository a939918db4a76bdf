import type { ChannelCursor } from '../channels/adapter.ts'
import type { Decided, Decision, Dispatch } from '../core/dispatch.ts'
import { failpoint } from '../core/failpoint.ts'
import type { Measures } from '../core/measures.ts'
import type { TurnResult } from '../core/turn.ts'
import type { CommandRunner } from '../sessions/commands/command-runner.ts'
import type { Accepted } from '../sessions/turns/accept-alone.ts'
import { type AcceptDeps, acceptDispatch, nameSession } from '../sessions/turns/accept-dispatch.ts'
import { isNews } from '../sessions/turns/budget-notices.ts'
import { notifyParted } from '../sessions/turns/parted.ts'
import type { PublicTurns } from '../sessions/turns/public-turns.ts'
import { type ClaimDeps, claimWaiting, recordEnd } from '../sessions/turns/record-turn.ts'
import type { RunningTurns } from '../sessions/turns/running-turns.ts'
import { asJoined, type StartedTurn } from '../sessions/turns/started-turn.ts'
import type { SystemNotices } from '../sessions/turns/system-notices.ts'
import { failureFields, turnLine } from '../sessions/turns/turn-line.ts'
import { endingOf, replyOf } from '../sessions/turns/turn-reply.ts'
import type { Transcript } from '../sessions/view/transcript.ts'
import { afterFailure, type RunTurn, type RunTurnDeps, STOPPED } from './run-turn.ts'

export interface PipelineDeps
  extends Pick<AcceptDeps, 'ids' | 'channels' | 'overrides' | 'queue' | 'busy' | 'unreadable' | 'spoken' | 'heard'>,
    Pick<ClaimDeps, 'parting' | 'adopts'>,
    Pick<RunTurnDeps, 'store' | 'clock' | 'logger' | 'delivery' | 'pieces'> {
  readonly decide: (dispatch: Dispatch) => Decided | Promise<Decided>
  readonly running: RunningTurns
  readonly publicTurns: PublicTurns
  readonly runTurn: RunTurn
  /** Called before a turn's end is stored. */
  ended(turn: StartedTurn, result: TurnResult): void
  readonly measures?: Pick<Measures, 'turnEnded'>
  readonly transcript: Pick<Transcript, 'saw' | 'drop'>
  readonly commands: CommandRunner
  readonly systemNotices: SystemNotices
}

/** The story of a message: accept, claim, turn, finish, deliver. Each step is one commit; a crash lies between two. */
export class Pipeline {
  readonly #deps: PipelineDeps & AcceptDeps

  constructor(deps: PipelineDeps) {
    this.#deps = { ...deps, crowded: deps.delivery.crowded }
  }

  /** Resolves once the dispatch is on disk; its turn then runs in the background. Rejects if it could not be stored. */
  readonly accept = async (given: Dispatch, position?: ChannelCursor): Promise<void> => {
    const { store, decide, systemNotices } = this.#deps
    const decided = decide(given.callerKey === undefined ? given : await nameSession(store.read.sessions, given))
    // Nothing comes in between where no hook is asked, such as the notice that its chat has got a new id.
    const { dispatch, decision } = decided instanceof Promise ? await decided : decided
    const accepted = await store.write(async (tx) => {
      const stored = await acceptDispatch(tx, { dispatch, decision, position }, this.#deps)
      await systemNotices.unanswered(tx, stored, { dispatch, decision })
      return stored
    })
    this.#follow(accepted, dispatch, decision)
  }

  /** Runs a claimed turn, unless `first` resolves to false. Resolves when it has ended; never rejects. */
  readonly resume = (turn: StartedTurn, first?: (signal: AbortSignal) => Promise<boolean>): Promise<void> => {
    const run = (signal: AbortSignal): Promise<void> => this.#run(turn, signal)
    return this.#deps.running.begin(turn, first ? async (signal) => (await first(signal)) && run(signal) : run)
  }

  #follow(accepted: Accepted, dispatch: Dispatch, decision: Decision): void {
    const { transcript, running, publicTurns, commands, systemNotices, pieces } = this.#deps
    switch (accepted.kind) {
      case 'started':
        transcript.saw(accepted.turn.session, accepted.appended)
        failpoint('CP4-claimed')
        void this.resume(accepted.turn)
        break
      case 'waiting':
        if (decision.kind === 'run' && !decision.public) publicTurns.hurry(accepted.sessionId)
        pieces.came(accepted.sessionId, dispatch.event)
        if (accepted.interrupts) void running.abort(accepted.sessionId, accepted.interrupts)
        break
      case 'command':
        commands.run(accepted.inboxId)
        break
      case 'done':
        systemNotices.done(accepted.inboxId, dispatch, decision)
    }
  }

  async #run(turn: StartedTurn, signal: AbortSignal): Promise<void> {
    const { store, running, publicTurns, logger, runTurn, ended } = this.#deps
    const waited = await publicTurns.waitForPlace(turn, signal)
    const result = waited && running.suspends(turn) ? STOPPED : await runTurn(turn, signal)
    publicTurns.left(turn.id)
    ended(turn, result)
    if (result.kind === 'failed') logger.warn('A turn failed', failureFields(turn, result))
    // Shutting down is no outcome: the turn stays claimed and the next start continues it.
    if (running.suspends(turn, result)) return store.write((tx) => tx.turns.suspend(turn.id))
    const next = await running.untilStored((err) => this.#finish(turn, afterFailure(result, err)))
    if (next) void this.resume(next)
  }

  async #finish(turn: StartedTurn, result: TurnResult): Promise<StartedTurn | undefined> {
    const { store, clock, queue, running, delivery, transcript, busy, logger, systemNotices, parting } = this.#deps
    const reply = replyOf(busy === 'steer' ? await asJoined(store.read, turn) : turn, result)
    const message = systemNotices.ended(turn, result, reply)
    const { planned, appended, next, line, outcome } = await store.write(async (tx) => {
      const planned = message && (await isNews(tx, turn, result)) ? await delivery.plan(tx, message) : undefined
      const [at, ending] = [clock.now(), endingOf(result, planned?.outcome)]
      const appended = await recordEnd(tx, turn, at, ending)
      if (planned?.outcome === 'parted') await notifyParted(tx, turn.id, parting)
      const next = running.draining ? undefined : await claimWaiting(tx, turn.session, clock.now(), this.#deps)
      if (running.draining) queue.free(turn.session.id, tx)
      if (await tx.forgetting.isForgetting(turn.id)) tx.afterCommit(() => transcript.drop(turn.session.id))
      return { planned, appended, next, line: turnLine(turn, result, ending, at), outcome: ending.inbox }
    })
    transcript.saw(turn.session, appended)
    const answer = planned ? { source: turn.id, at: turn.asked?.at ?? turn.startedAt } : undefined
    this.#deps.measures?.turnEnded(turn.reply.address.channel, outcome, answer)
    if (planned) delivery.release(planned)
    if (line) logger.info(line.sentence, line.fields)
    return next
  }
}
