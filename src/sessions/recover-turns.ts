import type { Clock } from '../core/clock.ts'
import type { IdSource } from '../core/ids.ts'
import type { Logger } from '../core/logger.ts'
import { NO_USAGE } from '../core/model.ts'
import type { OutboundMessage } from '../core/outbound.ts'
import type { Store, Turn } from '../store/store.ts'
import type { CommandRunner } from './command-runner.ts'
import type { Say } from './courtesy.ts'
import { claimWaiting, leastPrincipal, recordEnd, type StartedTurn, type TurnEnding } from './record-turn.ts'
import type { TurnQueue } from './turn-queue.ts'
import { calmLine } from './turn-reply.ts'

/** A message that brought the process down this often is set aside (RELIABILITY rule 9). */
const MOST_ATTEMPTS = 3

export interface RecoverDeps {
  readonly store: Store
  readonly clock: Clock
  readonly ids: IdSource
  readonly logger: Logger
  readonly queue: TurnQueue
  readonly commands: CommandRunner
  readonly say: Say
  resume(turn: StartedTurn): void
}

/**
 * Boot, before anything new is accepted: continues the turns a dead process left running, sets aside what crashed it
 * three times, claims what waits in idle sessions, and runs commands that were stored and not answered.
 */
export async function recoverTurns(deps: RecoverDeps): Promise<void> {
  const { store, logger, commands } = deps
  for (const turn of await store.read.turns.interrupted()) {
    const taken = await takeOver(turn, deps)
    if (taken) deps.resume(taken)
    logger.info('An interrupted turn was taken up', {
      turnId: turn.id,
      traceId: turn.traceId,
      attempt: turn.attempt + 1,
      resumed: taken !== undefined,
    })
  }
  for (const sessionId of await store.read.inbox.sessionsWaiting()) await claimIdle(sessionId, deps)
  for (const row of await store.read.inbox.commandsWaiting()) commands.run(row.id)
}

const QUARANTINED: TurnEnding = {
  kind: 'quarantined',
  outcome: 'failed',
  inbox: 'quarantined',
  usage: NO_USAGE,
  steps: 0,
  error: 'quarantined',
}

async function takeOver(turn: Turn, { store, clock, queue, say }: RecoverDeps): Promise<StartedTurn | undefined> {
  const session = await store.read.sessions.get(turn.sessionId)
  if (!session) return undefined
  const principal = leastPrincipal(await store.read.inbox.ofTurn(turn.id))
  const started: StartedTurn = {
    id: turn.id,
    session,
    traceId: turn.traceId,
    reply: turn.reply,
    startedAt: turn.startedAt,
    principal,
  }
  if (turn.attempt >= MOST_ATTEMPTS) {
    await say(quarantineNotice(started), async (tx) => {
      await tx.turns.resume(turn.id)
      await recordEnd(tx, started, clock.now(), QUARANTINED)
      return true
    })
    return undefined
  }
  await store.write(async (tx) => {
    const attempt = await tx.turns.resume(turn.id)
    await tx.events.append(session.id, clock.now(), [{ type: 'turn_resumed', turnId: turn.id, data: { attempt } }])
  })
  queue.occupy(session.id, (await store.read.inbox.waiting(session.id, queue.max)).length)
  return started
}

async function claimIdle(
  id: StartedTurn['session']['id'],
  { store, clock, ids, queue, resume }: RecoverDeps,
): Promise<void> {
  if (queue.busy(id)) return
  const session = await store.read.sessions.get(id)
  if (!session) return
  queue.occupy(id, 0)
  const turn = await store.write((tx) => claimWaiting(tx, session, clock.now(), ids))
  if (turn) resume(turn)
  else queue.free(id)
}

function quarantineNotice({ id, session, traceId, reply }: StartedTurn): OutboundMessage {
  return {
    source: id,
    session,
    traceId,
    class: 'notice',
    text: calmLine('quarantined', traceId),
    ...reply,
  }
}
