import { type Clock, within } from '../../core/clock.ts'
import { ParleyError } from '../../core/errors.ts'
import type { TurnId } from '../../core/ids.ts'
import { hasEnded } from '../../core/outbound.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'

export interface SaidPorts {
  readonly store: Store
  readonly clock: Clock
  /** Deletes what a turn has said in its chat; resolves with false while the outcome of a call is not known. */
  readonly unsay: (tx: StoreWriter, turn: TurnId) => Promise<boolean>
  /** Resolves when the outcome of a part of an answer may be on record next. */
  nextOutcome(): Promise<void>
  /** Returns true once the daemon is being stopped: what is left is done by the next start. */
  stopping(): boolean
}

/** An account that is down sends nothing: nobody waits longer for it. */
const WAIT_MS = 10_000

/** Resolves once the answer of a turn has gone out as it would have, or could not in time. */
export async function untilSent(ports: SaidPorts, turn: TurnId): Promise<void> {
  const { outbox } = ports.store.read
  await waitFor(ports, async () => (await outbox.ofTurn(turn)).every(({ state }) => hasEnded(state)))
}

/**
 * Deletes what a turn has said in its chat; returns false if nothing of it is there, or if no outcome came in time.
 * `begun` is called in the transaction by which something is being deleted.
 */
export async function unsaySafely(
  ports: SaidPorts,
  turn: TurnId,
  begun: (tx: StoreWriter) => Promise<void> = async () => {},
): Promise<boolean> {
  const { store } = ports
  const before = await deletionsOf(store.read, turn)
  if (before.left === 0) return false
  const unsay = async (tx: StoreWriter): Promise<boolean> => {
    const there = await deletionsOf(tx, turn)
    const isWhole = await ports.unsay(tx, turn)
    if ((await deletionsOf(tx, turn)).begun > there.begun) await begun(tx)
    return isWhole
  }
  if (!(await waitFor(ports, () => store.write(unsay)))) return false
  return (await deletionsOf(store.read, turn)).begun > before.begun
}

/** Returns how many of what a turn has said were taken back before, as by /undo, and how many not. */
async function deletionsOf(
  { outbox }: Pick<StoreReader, 'outbox'>,
  turn: TurnId,
): Promise<{ readonly begun: number; readonly left: number }> {
  const rows = await outbox.ofTurn(turn)
  const begun = rows.filter(({ op }) => op === 'delete').length
  return { begun, left: rows.length - begun }
}

/** Throws `unavailable` once the daemon is being stopped. */
export function refuseStopping({ stopping }: Pick<SaidPorts, 'stopping'>): void {
  if (stopping())
    throw new ParleyError('unavailable', 'I am being stopped; what is left is forgotten at my next start.')
}

/** Looks again at each outcome; returns false if what is awaited did not come in time. */
async function waitFor(ports: SaidPorts, came: () => Promise<boolean>): Promise<boolean> {
  const { clock, nextOutcome } = ports
  const until = clock.elapsed() + WAIT_MS
  for (;;) {
    refuseStopping(ports)
    // Before the look, so that no outcome falls between the two.
    const next = nextOutcome()
    if (await came()) return true
    if (!(await within(clock, Math.max(0, until - clock.elapsed()), next))) return false
  }
}
