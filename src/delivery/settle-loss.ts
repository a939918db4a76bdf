import { backOffMs } from '../core/backoff.ts'
import type { Delivery } from '../core/outbound.ts'
import { SEND_PACE } from './after-call.ts'
import type { Attempt, Facts, Uncertain } from './item.ts'
import { isRepeat } from './repeat-mark.ts'

/** The way to settle a part of unknown outcome. */
export type LossPlan =
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'look' }
  | { readonly kind: 'prove' }
  | { readonly kind: 'attempt'; readonly as: Exclude<Attempt, 'first'> }
  /** The message is there; `outdated` is true if it shows an earlier text. */
  | { readonly kind: 'found'; readonly messageId: string; readonly outdated: boolean }
  | { readonly kind: 'give_up'; readonly reason: string }

/**
 * Returns how a lost call is settled. A send is settled by what the platform can prove (the same key, its history);
 * where it can prove nothing, edits and deletions are done again, a message to people is repeated once, marked, when
 * the account is known to work, and one with side effects never. Pure.
 */
export function settleLoss(item: Uncertain, facts: Facts): LossPlan {
  const { row } = item
  if (tooOld(row, item.expiresAt, facts))
    return { kind: 'give_up', reason: 'its outcome stayed unknown until it expired' }
  const marked = isRepeat(row.part, facts.settings.repeatMark)
  if (row.op !== 'send') return change(item, facts)
  const window = marked || row.only !== undefined ? undefined : facts.sameKeyWindowMs
  const proof = window === undefined ? undefined : prove(item, window, facts)
  if (proof) return proof
  if (row.class === 'effect') return { kind: 'give_up', reason: 'its outcome is unknown and it must not happen twice' }
  if (marked) return { kind: 'give_up', reason: 'the outcome of its repeat is unknown too' }
  return repeat(item, item.loss.startedAt + facts.settings.uncertainAfterMs, facts)
}

/**
 * A part is too old by either clock: the time of day may have been set, and the other clock stands still while the
 * machine sleeps.
 */
export function tooOld({ expiresAt: day }: Delivery, expiresAt: number, { now, elapsed }: Facts): boolean {
  return now >= day || elapsed >= expiresAt
}

/** Returns undefined if the platform can prove nothing. */
function prove({ row, loss, looked }: Uncertain, windowMs: number, facts: Facts): LossPlan | undefined {
  const { elapsed, settings } = facts
  const age = Math.max(elapsed - loss.startedAt, facts.now - (row.startedAt ?? 0))
  // The age of another process's call is uncertain, and a look at the history is never wrong.
  if (!loss.foreign && !looked && age < windowMs) {
    // The delay doubles with each attempt, counted from the first call; the window ends it, so it needs no cap.
    return at(loss.startedAt + backOffMs(row.attempt, { firstMs: FIRST_REDO_MS, longestMs: windowMs }), facts, AGAIN)
  }
  if (!looked) return at(loss.startedAt + settings.visibleAfterMs, facts, LOOK)
  const { found } = looked
  if (found.kind === 'found') return found
  if (found.kind === 'absent') return ANEW
  if (found.retryAfterMs !== undefined) return at(looked.at + found.retryAfterMs, facts, LOOK)
  return age < windowMs ? at(loss.at + backOffMs(row.attempt, SEND_PACE), facts, AGAIN) : undefined
}

/**
 * An edit or a deletion may be done twice, so it is retried until an answer comes, or until the account works for
 * others and not for it.
 */
function change(item: Uncertain, facts: Facts): LossPlan {
  const { row, loss, proven } = item
  const heldUntil = loss.since + facts.settings.uncertainHoldMs
  const redoAt = loss.at + backOffMs(row.attempt, SEND_PACE)
  if (facts.elapsed < heldUntil) return at(Math.min(redoAt, heldUntil), facts, ANEW)
  const worksForOthers = facts.wroteAt !== undefined && facts.wroteAt > loss.since
  if (!worksForOthers) return facts.provesSending && !proven ? PROVE : at(redoAt, facts, ANEW)
  if (row.op === 'delete') return { kind: 'give_up', reason: 'whether it was removed stayed unknown' }
  if (row.class === 'effect') return { kind: 'give_up', reason: 'its outcome is unknown and it must not happen twice' }
  return repeat(item, facts.elapsed, facts)
}

/**
 * A repeat waits until a writing call has succeeded after the loss: in an outage the one repeat would be lost as well.
 * A channel that cannot be asked for such a call gives no reason to wait: that would hold up what is said next.
 */
function repeat({ loss, proven }: Uncertain, notBefore: number, facts: Facts): LossPlan {
  if (facts.elapsed < notBefore) return { kind: 'wait', until: notBefore }
  if (!facts.provesSending || (facts.wroteAt !== undefined && facts.wroteAt > loss.at)) return REPEAT
  if (!proven) return PROVE
  if (proven.proof.works) return REPEAT
  const wait = proven.proof.retryAfterMs ?? backOffMs(proven.tries, SEND_PACE)
  return at(proven.at + wait, facts, PROVE)
}

function at(time: number, { elapsed }: Facts, plan: LossPlan): LossPlan {
  return time > elapsed ? { kind: 'wait', until: time } : plan
}

const FIRST_REDO_MS = 500
const AGAIN: LossPlan = { kind: 'attempt', as: 'again' }
const ANEW: LossPlan = { kind: 'attempt', as: 'anew' }
const REPEAT: LossPlan = { kind: 'attempt', as: 'repeat' }
const LOOK: LossPlan = { kind: 'look' }
const PROVE: LossPlan = { kind: 'prove' }
