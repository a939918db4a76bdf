import type { Clock } from '../../core/clock.ts'
import { deferred } from '../../core/deferred.ts'
import { errorCode } from '../../core/errors.ts'
import type { IdSource, InboxId } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import { NO_USAGE } from '../../core/model.ts'
import type { OutboundMessage } from '../../core/outbound.ts'
import type { Session } from '../../core/session.ts'
import type { Store, StoreWriter } from '../../store/store.ts'
import type { PostNotice } from '../people/post-notice.ts'
import { isSenderParted, notifyParted, type Parting } from './parted.ts'
import type { PublicTurns } from './public-turns.ts'
import { type Adopts, claimWaiting, recordEnd, type TurnEnding } from './record-turn.ts'
import { askedIn, countedFor, type StartedTurn } from './started-turn.ts'
import { beginQuietTime, type Interrupted, isSuspect, MOST_ATTEMPTS, outlivesSuspicion } from './suspects.ts'
import type { TurnQueue } from './turn-queue.ts'
import { askedElsewhere, calmLine, priorityOf } from './turn-reply.ts'

export interface RecoverTurnsDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly logger: Logger
  readonly queue: TurnQueue
  readonly parting: Parting
  readonly adopts: Adopts
  readonly publicTurns: Pick<PublicTurns, 'expect' | 'waitForPlace' | 'left'>
  readonly commands: { run(inbox: InboxId): void }
  readonly say: PostNotice
  /** Runs the turn unless `first` resolves to false; resolves when it has ended. Never rejects. */
  resume(turn: StartedTurn, first?: (signal: AbortSignal) => Promise<boolean>): Promise<void>
  /** Returns true once the daemon is being stopped: no further turn begins. */
  draining(): boolean
}

/**
 * Continues the turns a dead process left running, quarantines those that crashed it by themselves, claims what waits
 * in idle sessions, and runs commands that were stored and not answered; called at boot, before anything new is
 * accepted.
 *
 * A crash proves little about the turns that were under way, since something else may have ended the process. After one
 * crash they resume side by side. A turn that was under way at two is a suspect, and if there is one the start holds
 * all interrupted turns back for a quiet time, three times as long as the last crash took to come. If the process ends
 * in it, none of them is the cause, and nothing is counted against them any more. Otherwise the suspects resume one at
 * a time, the other turns after them; only the running suspect is counted, and one that has run as long as the quiet
 * time is trusted again. A turn that crashed the process twice in this way is quarantined. New messages wait for none
 * of this, and turns of known people for no turn of strangers.
 */
export async function recoverTurns(deps: RecoverTurnsDeps): Promise<void> {
  const { store, queue, commands } = deps
  const interrupted: Interrupted[] = []
  await giveUpUnreadable(deps)
  for (const turn of await store.read.turns.interrupted()) {
    const session = await readableSession(turn.sessionId, deps)
    if (!session) continue
    const waiting = await store.read.inbox.waiting(session.id, queue.max)
    const rows = await store.read.inbox.ofTurn(turn.id)
    const { id, traceId, reply, startedAt, attempt } = turn
    const asked = { ...countedFor(rows, waiting), ...askedIn(rows) }
    const started: StartedTurn = { id, session, traceId, reply, startedAt, ...asked, resumed: true }
    if (attempt >= MOST_ATTEMPTS) {
      await quarantine(started, deps)
      continue
    }
    if (
      session.scope.values.chat === undefined &&
      rows.length > 0 &&
      rows.every((row) => isSenderParted(row, deps.parting))
    ) {
      await endParted(started, deps)
      continue
    }
    queue.occupy(session.id, waiting.length)
    interrupted.push({ turn: started, attempt })
  }
  if (interrupted.some(isSuspect)) await continueCarefully(interrupted, deps)
  else await continueAtOnce(interrupted, deps)
  for (const sessionId of await store.read.inbox.sessionsWaiting()) await claimIdle(sessionId, deps)
  for (const row of await store.read.inbox.commandsWaiting()) commands.run(row.id)
}

async function continueAtOnce(interrupted: readonly Interrupted[], deps: RecoverTurnsDeps): Promise<void> {
  for (const { turn } of interrupted) {
    if (turn.publicFor !== undefined) {
      void continueAfter(Promise.resolve(), turn, deps)
      continue
    }
    await takeOver(turn, deps)
    void deps.resume(turn)
  }
}

/**
 * Resumes turns so that no known person waits for a stranger's turn, nor for the quiet time where only strangers' turns
 * are suspects. Meanwhile, the turns of known people have ended or are trusted again before a stranger's suspect
 * begins, so that they are not counted for what that one does.
 */
async function continueCarefully(interrupted: readonly Interrupted[], deps: RecoverTurnsDeps): Promise<void> {
  const known = interrupted.filter(({ turn }) => !turn.forStrangers)
  // The turns behind which a known person waits come first: they are counted for no stranger.
  const strangers = interrupted
    .filter(({ turn }) => turn.forStrangers)
    .toSorted((one, other) => Number(one.turn.publicFor !== undefined) - Number(other.turn.publicFor !== undefined))
  const atOnce = known.some(isSuspect) ? [] : known
  const { ms, passed } = await beginQuietTime(
    interrupted.filter((one) => !atOnce.includes(one)),
    deps,
  )
  const goesOn = ({ turn }: Interrupted, before: Promise<void>): Promise<void> => {
    const begun = deferred()
    const ended = continueAfter(before, turn, deps, begun.resolve)
    return Promise.race([ended, begun.promise.then(() => outlivesSuspicion(turn.id, ms, deps))])
  }
  const oneByOne = (before: Promise<void>, suspects: readonly Interrupted[]): Promise<void> =>
    suspects.reduce((last, one) => goesOn(one, last), before)
  const knownSuspects = oneByOne(passed, known.filter(isSuspect))
  const others = known.filter((one) => !isSuspect(one))
  const trusted = others.map((one) => goesOn(one, atOnce.length > 0 ? Promise.resolve() : knownSuspects))
  const afterKnown = Promise.all([knownSuspects, ...trusted]).then(() => {})
  const strangerSuspects = oneByOne(afterKnown, strangers.filter(isSuspect))
  for (const one of strangers) if (!isSuspect(one)) void continueAfter(strangerSuspects, one.turn, deps)
}

/**
 * The attempt counts from when the turn really resumes: a crash by another turn while this one waits, for a suspect or
 * for a place, does not count against it.
 */
function continueAfter(
  before: Promise<void>,
  turn: StartedTurn,
  deps: RecoverTurnsDeps,
  begun: () => void = () => {},
): Promise<void> {
  const { publicTurns, draining } = deps
  publicTurns.expect(turn)
  return deps.resume(turn, async (signal) => {
    await Promise.race([before, aborted(signal)])
    await publicTurns.waitForPlace(turn, signal)
    if (draining()) return false
    try {
      await takeOver(turn, deps)
    } catch (err) {
      publicTurns.left(turn.id)
      throw err
    }
    begun()
    return true
  })
}

async function takeOver(
  { id, session, traceId }: StartedTurn,
  { store, clock, logger }: RecoverTurnsDeps,
): Promise<void> {
  const attempt = await store.write(async (tx) => {
    const attempt = await tx.turns.resume(id)
    await tx.events.append(session.id, clock.now(), [{ type: 'turn_resumed', turnId: id, data: { attempt } }])
    return attempt
  })
  logger.info('An interrupted turn resumes', { turnId: id, traceId, attempt })
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
}

const QUARANTINED: TurnEnding = {
  kind: 'quarantined',
  outcome: 'failed',
  inbox: 'quarantined',
  usage: NO_USAGE,
  steps: 0,
  error: 'quarantined',
}

async function quarantine(turn: StartedTurn, { store, clock, logger, say }: RecoverTurnsDeps): Promise<void> {
  const { id: turnId, traceId } = turn
  const end = async (tx: StoreWriter): Promise<boolean> => {
    await tx.turns.resume(turnId)
    await recordEnd(tx, turn, clock.now(), QUARANTINED)
    return true
  }
  // Nobody waits for an answer in the chat of a turn that was asked for elsewhere.
  await (askedElsewhere(turn) ? store.write(end) : say(quarantineNotice(turn), end))
  logger.error('A turn that crashed the process by itself was set aside', { turnId, traceId, attempts: MOST_ATTEMPTS })
}

const PARTED: TurnEnding = {
  kind: 'cancelled',
  outcome: 'failed',
  inbox: 'refused: parted',
  usage: NO_USAGE,
  steps: 0,
}

/**
 * Ends a turn whose messages are all of people who left the conversation while no process ran, or while it was running:
 * it would answer them with the words of others.
 */
async function endParted(turn: StartedTurn, { store, clock, parting }: RecoverTurnsDeps): Promise<void> {
  await store.write(async (tx) => {
    await tx.turns.resume(turn.id)
    await recordEnd(tx, turn, clock.now(), PARTED)
    await notifyParted(tx, turn.id, parting)
  })
}

/**
 * Returns a session; undefined where there is none, and where its row cannot be read: what waits there stays, and
 * everything else starts (C31).
 */
async function readableSession(
  id: StartedTurn['session']['id'],
  { store, logger }: Pick<RecoverTurnsDeps, 'store' | 'logger'>,
): Promise<Session | undefined> {
  try {
    return await store.read.sessions.get(id)
  } catch (err) {
    if (errorCode(err) !== 'unreadable') throw err
    logger.error('What waits in a session stays unanswered: its row cannot be read', { sessionId: id, err })
    return undefined
  }
}

/** Ends turns that nothing can continue, so that their sessions answer again; the log names them. */
async function giveUpUnreadable({ store, clock, logger }: RecoverTurnsDeps): Promise<void> {
  const at = clock.now()
  const inbox = await store.write((tx) => tx.inbox.giveUpUnreadable())
  if (inbox.length > 0) logger.error('Received messages were given up: their rows cannot be read', { inbox })
  const given = await store.write((tx) => tx.turns.giveUpUnreadable(at))
  for (const { id, sessionId } of given) {
    logger.error('A turn was given up: its row cannot be read', { turnId: id, sessionId })
    const data = { outcome: 'failed', usage: NO_USAGE, steps: 0, error: 'quarantined' } as const
    await store
      .write((tx) => tx.events.append(sessionId, at, [{ type: 'turn_completed', turnId: id, data }]))
      .catch((err: unknown) =>
        logger.error('The end of a turn that was given up is not in its session', { sessionId, err }),
      )
  }
}

async function claimIdle(
  id: StartedTurn['session']['id'],
  { store, clock, logger, ids, queue, parting, adopts, resume }: RecoverTurnsDeps,
): Promise<void> {
  if (queue.busy(id)) return
  const session = await readableSession(id, { store, logger })
  if (!session) return
  queue.occupy(id, (await store.read.inbox.waiting(id, queue.max)).length)
  const turn = await store.write((tx) => claimWaiting(tx, session, clock.now(), { ids, queue, parting, adopts }))
  if (turn) void resume(turn)
}

function quarantineNotice(turn: StartedTurn): OutboundMessage {
  const { id, session, traceId, reply } = turn
  return {
    ...priorityOf(turn),
    source: id,
    session,
    traceId,
    class: 'notice',
    text: calmLine('quarantined', traceId),
    below: {},
    ...reply,
  }
}
