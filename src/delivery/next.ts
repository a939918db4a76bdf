import type { Delivery } from '../core/outbound.ts'
import { afterCall, ENDED, recording } from './after-call.ts'
import type { Attempt, Effect, EffectResult, Facts, Item, Recording, Reserved, Sending, Uncertain } from './item.ts'
import { lastsMs } from './settings.ts'
import { settleLoss, tooOld } from './settle-loss.ts'

export type Step = readonly [Item, Effect]

/**
 * Returns the item one step further and the effect to perform. `facts.answer` is the result of the last effect; without
 * one the item is examined anew, as after a wait or after the store refused a write. Pure; README.md lists every
 * transition.
 */
export function next(item: Item, facts: Facts): Step {
  switch (item.kind) {
    case 'queued':
      return queued(item, facts)
    case 'due':
      return due(item, facts)
    case 'reserved':
      return reserved(item, facts)
    case 'sending':
      return sending(item, facts)
    case 'uncertain':
      return uncertain(item, facts)
    case 'recording':
      return facts.answer?.to === 'record' ? next(item.after, unanswered(facts)) : [item, RECORD]
    case 'ended':
      return [item, LEAVE]
  }
}

/** Returns the item of a stored row; one that is `sending` there has lost its sender. */
export function itemOf(row: Delivery, { now, elapsed, settings }: Facts): Item {
  const ageMs = Math.max(0, now - (row.startedAt ?? now))
  const expiresAt = elapsed + Math.min(row.expiresAt - now, lastsMs(settings, row))
  switch (row.state) {
    case 'planned':
    case 'waiting': {
      // The time of day may have been set back since the row was written: nothing waits longer than was asked for.
      const asked = row.notBefore === undefined ? 0 : row.notBefore - (row.startedAt ?? now)
      const left = row.notBefore === undefined ? 0 : row.notBefore - now
      return { kind: 'due', row, expiresAt, notBefore: elapsed + Math.max(0, Math.min(left, asked)) }
    }
    case 'sending':
    case 'uncertain': {
      const loss = { at: elapsed, since: elapsed, startedAt: elapsed - ageMs, foreign: true }
      return { kind: 'uncertain', row, expiresAt, loss }
    }
    case 'sent':
    case 'resent':
    case 'rejected':
    case 'given_up':
    case 'expired':
      return ENDED
  }
}

function queued(item: Extract<Item, { kind: 'queued' }>, facts: Facts): Step {
  const row = answerTo(facts, 'load')?.row
  if (row === 'unreadable') return record(quarantine(item.id))
  if (row) return next(itemOf(row, facts), unanswered(facts))
  if (facts.answer?.to === 'load') return [ENDED, LEAVE]
  return facts.ready ? [item, LOAD] : [item, PARK]
}

function due(item: Extract<Item, { kind: 'due' }>, facts: Facts): Step {
  const { row, expiresAt, notBefore } = item
  // A row that waits for its channel is read again, since its chat may move meanwhile.
  if (!facts.ready) return [{ kind: 'queued', id: row.id }, PARK]
  if (tooOld(row, expiresAt, facts)) return record(settle(row, 'expired', row.reason ?? 'too old to be sent'))
  if (notBefore > facts.elapsed) return [item, { do: 'wait', until: notBefore }]
  return reserve(item, (slotAt) => ({ kind: 'reserved', row, expiresAt, slotAt, as: 'first' }), facts)
}

/** Asks for a slot, and continues once there is one. */
function reserve(item: Item, withSlot: (slotAt: number) => Reserved, facts: Facts): Step {
  const slot = answerTo(facts, 'reserve')
  if (!slot) return [item, RESERVE]
  if (slot.later) return [item, { do: 'wait', until: slot.slotAt }]
  return next(withSlot(slot.slotAt), unanswered(facts))
}

function reserved(item: Reserved, facts: Facts): Step {
  const { row, expiresAt, slotAt, as, lost: before } = item
  const begun = answerTo(facts, 'begin')
  if (begun && 'denied' in begun) return record(settle(row, before ? 'given_up' : 'expired', begun.denied))
  if (begun) return begun.row ? [sendingOf(item, begun.row, facts), CALL] : [ENDED, LEAVE]
  if (!facts.ready) return [before ?? { kind: 'queued', id: row.id }, PARK]
  if (slotAt > facts.elapsed) return [item, { do: 'wait', until: slotAt }]
  if (!before && tooOld(row, expiresAt, facts)) return record(settle(row, 'expired', 'too old to be sent'))
  return before && !stillWants(before, as, facts) ? next(before, unanswered(facts)) : [item, BEGIN]
}

/** Returns false if a decision that was right when the slot was booked became wrong while it waited. */
function stillWants(before: Uncertain, as: Attempt, facts: Facts): boolean {
  const plan = settleLoss(before, facts)
  return plan.kind === 'attempt' && plan.as === as
}

function sendingOf({ expiresAt, as, lost: before }: Reserved, row: Delivery, { elapsed }: Facts): Sending {
  const item: Sending = { kind: 'sending', row, expiresAt, startedAt: elapsed, as }
  if (!before) return item
  const { loss } = before
  // The platform counts the time of a key from its first call.
  return as === 'again' ? { ...item, startedAt: loss.startedAt, loss } : { ...item, loss: { ...loss, foreign: false } }
}

function sending(item: Sending, facts: Facts): Step {
  const answer = answerTo(facts, 'call')
  if (answer) return record(afterCall(item, answer.receipt, facts))
  if (facts.ready) return [item, CALL]
  // No call was made, and waiting for a channel is no attempt.
  const { id } = item.row
  return record(recording(item.row, { kind: 'settle', state: 'waiting' }, { kind: 'queued', id }))
}

function uncertain(item: Uncertain, facts: Facts): Step {
  const asked = withAnswer(item, facts)
  const { row, expiresAt } = asked
  const plan = settleLoss(asked, facts)
  if (plan.kind === 'give_up') return record(settle(row, 'given_up', plan.reason))
  if (plan.kind === 'found') return record(found(row, plan))
  if (!facts.ready) return [asked, PARK]
  if (plan.kind === 'look') return [asked, { do: 'look' }]
  if (plan.kind === 'prove') return [asked, { do: 'prove' }]
  if (plan.kind === 'wait') return [asked, { do: 'wait', until: plan.until }]
  const { as } = plan
  return reserve(asked, (slotAt) => ({ kind: 'reserved', row, expiresAt, slotAt, as, lost: asked }), facts)
}

function withAnswer(item: Uncertain, { answer, elapsed }: Facts): Uncertain {
  if (answer?.to === 'look') return { ...item, looked: { found: answer.found, at: elapsed } }
  if (answer?.to !== 'prove') return item
  return { ...item, proven: { proof: answer.proof, at: elapsed, tries: (item.proven?.tries ?? 0) + 1 } }
}

function found(row: Delivery, { messageId, outdated }: { messageId: string; outdated: boolean }): Recording {
  if (outdated) return recording(row, { kind: 'edit', messageId }, { kind: 'queued', id: row.id })
  return recording(row, { kind: 'settle', state: 'sent', messageId }, ENDED)
}

function settle(row: Delivery, state: 'expired' | 'given_up', reason: string): Recording {
  return recording(row, { kind: 'settle', state, reason }, ENDED)
}

function quarantine(id: Delivery['id']): Recording {
  return { kind: 'recording', id, change: { kind: 'settle', state: 'given_up', reason: UNREADABLE }, after: ENDED }
}

export const UNREADABLE = 'its row cannot be read'

function record(item: Recording): Step {
  return [item, RECORD]
}

function answerTo<To extends EffectResult['to']>(
  { answer }: Facts,
  to: To,
): Extract<EffectResult, { to: To }> | undefined {
  return answer?.to === to ? (answer as Extract<EffectResult, { to: To }>) : undefined
}

function unanswered(facts: Facts): Facts {
  return facts.answer === undefined ? facts : { ...facts, answer: undefined }
}

const LOAD: Effect = { do: 'load' }
const RESERVE: Effect = { do: 'reserve' }
const BEGIN: Effect = { do: 'begin' }
const CALL: Effect = { do: 'call' }
const RECORD: Effect = { do: 'record' }
const PARK: Effect = { do: 'park' }
const LEAVE: Effect = { do: 'leave' }
