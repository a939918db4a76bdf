import { type Clock, sleep } from '../core/clock.ts'
import type { SessionId } from '../core/ids.ts'
import type { InboundEvent } from '../core/message.ts'
import { type ClaimDeps, joinPieces } from '../sessions/turns/record-turn.ts'
import type { StartedTurn } from '../sessions/turns/started-turn.ts'
import type { Transcript } from '../sessions/view/transcript.ts'
import type { Store } from '../store/store.ts'

/** The turns that wait for the rest of what the platform took apart. */
export interface PieceWaits {
  /** Resolves after `ms`, once the last piece has come, or when `signal` aborts. */
  wait(session: SessionId, of: string, ms: number, signal: AbortSignal): Promise<void>
  /** Called with each event of a session that waits for its turn. */
  came(session: SessionId, event: InboundEvent): void
}

export function createPieceWaits(clock: Clock): PieceWaits {
  const waits = new Map<string, AbortController>()
  return {
    async wait(session, of, ms, signal) {
      const key = `${session} ${of}`
      const last = new AbortController()
      waits.set(key, last)
      await sleep(clock, ms, AbortSignal.any([signal, last.signal]))
      waits.delete(key)
    },
    came(session, event) {
      if (event.kind !== 'message' || event.piece === undefined || event.piece.more) return
      waits.get(`${session} ${event.piece.of}`)?.abort()
    },
  }
}

export interface PiecesDeps extends Pick<ClaimDeps, 'queue' | 'parting'> {
  readonly store: Store
  readonly clock: Clock
  readonly transcript: Pick<Transcript, 'view'>
  readonly pieces: PieceWaits
}

/** From when the first came. */
const LONGEST_MS = 1_000
/**
 * From when the turn resumes: what the process before has not confirmed comes once the platform is asked again, and
 * would be answered apart otherwise.
 */
const RESUMED_MS = 3_000

/**
 * Waits for the rest of an album, or of a text that was pasted in pieces, and adds it to the turn before the model is
 * asked. Nothing else makes a session wait that is idle.
 */
export async function gatherPieces(deps: PiecesDeps, turn: StartedTurn, signal: AbortSignal): Promise<void> {
  const { store, clock, transcript, pieces } = deps
  const piece = turn.asked?.piece
  if (piece === undefined) return
  const { running } = await transcript.view(turn.session, turn.id)
  if (running === undefined || running.steps.length > 0) return
  const left = Math.min((turn.asked?.at ?? 0) + LONGEST_MS - clock.now(), LONGEST_MS)
  const ms = turn.resumed ? RESUMED_MS : left
  if (piece.more && ms > 0) await pieces.wait(turn.session.id, piece.of, ms, signal)
  if (signal.aborted) return
  await store.write((tx) => joinPieces(tx, turn, clock.now(), deps))
  // The turn has begun, so nothing else would look for it.
  await transcript.view(turn.session)
}
