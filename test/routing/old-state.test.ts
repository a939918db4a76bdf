import { describe, expect, it } from 'vitest'
import type { InboundEvent } from '../../src/core/message.ts'
import { asOldState } from '../../src/routing/old-state.ts'
import { decide, verdict } from '../fakes/decide.ts'
import { command, direct, dispatchOf, edit, message, user } from '../fakes/dispatch.ts'
import { household } from '../fakes/routing-policy.ts'

const RESTORED_AT = 1_000
const POLICY = household({ edits: 'rerun' })

/** What becomes of an event after its decision, in a database that was put back at `restoredAt`. */
function judged(event: InboundEvent, restoredAt?: number) {
  const before = decide(POLICY, event, { facts: { command: () => ({ who: 'anyone', open: false }) } })
  const { decision } = asOldState({ dispatch: dispatchOf(event), decision: before }, restoredAt)
  return { before, decision, became: verdict(decision) }
}

describe('what was said before the database was put back', () => {
  it.each<[string, InboundEvent, string]>([
    [
      'a message that would be answered is context',
      message({ mentioned: true, sentAt: RESTORED_AT }),
      'context/restored',
    ],
    ['an edit that would be answered changes what is stored', edit({ mentioned: true }), 'amend/edited'],
    ['a command is not carried out', command('new', { sender: user('111') }), 'ignore/restored'],
    ['nobody is refused with a line', message({ address: direct('999'), sender: user('999') }), 'ignore/restored'],
  ])('F-F08: %s, and the trace says why', (_, event, became) => {
    const told = judged(event, RESTORED_AT)
    expect(told.became).toBe(became)
    expect(told.decision.trace.at(-1)).toMatchObject({ stage: 'restoration', verdict: 'stop' })
  })

  it('F-F08: what owes no answer anyway stays as it was decided', () => {
    const { before, decision } = judged(message({ sender: user('444') }), RESTORED_AT)
    expect(decision).toBe(before)
  })

  it('F-F08: what is said later is answered, and so is everything where nothing was put back', () => {
    const later = judged(message({ mentioned: true, sentAt: RESTORED_AT + 1 }), RESTORED_AT)
    expect(later.decision).toBe(later.before)
    const never = judged(message({ mentioned: true }))
    expect(never.decision).toBe(never.before)
  })

  it('F-F08: what the platform shows as answered is context wherever nothing else tells', () => {
    const { became, decision } = judged(message({ mentioned: true, answered: true }))
    expect(became).toBe('context/restored')
    expect(decision.trace.at(-1)?.because).toContain('the platform shows an answer of mine')
  })
})
