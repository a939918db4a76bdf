import { describe, expect, it } from 'vitest'
import type { BudgetHit, Limit, Payer, PayerKind, Period } from '../../src/core/budget.ts'
import { budgetInWords, hitInWords, limitInWords, stopInWords, warningInWords } from '../../src/core/budget-words.ts'

const RESETS = Date.parse('2026-11-26T23:00:00Z')
const BERLIN = 'Europe/Berlin'

function hit(kind: PayerKind, more: { id?: string; limit?: Limit; period?: Period; micros?: number } = {}): BudgetHit {
  const { id = '', limit = { tokens: 5_000 }, period = 'day', micros = 0 } = more
  const payer: Payer = { kind, id }
  return { payer, period, limit, at: '2026-11-26', resetsAt: RESETS, used: { tokens: 4_800, micros }, timezone: BERLIN }
}

describe('budgets in words', () => {
  it.each([
    ['total', 'as a whole'],
    ['chat', 'for this chat'],
    ['topic', 'for this topic'],
    ['person', 'for you'],
    ['stranger', 'for you'],
    ['schedule', 'for the schedule morning'],
    ['strangers', 'for people I do not know'],
  ] as const)('C33: the stop of %s says when it begins anew, by the clock of the zone', (kind, whose) => {
    expect(stopInWords(hit(kind, { id: 'morning' }))).toBe(
      `My budget ${whose} for today is used up; it begins anew on 2026-11-27 at 00:00 (Europe/Berlin).`,
    )
  })

  it('C33: a month, and a limit that is less than one answer', () => {
    expect(stopInWords(hit('total', { period: 'month' }))).toContain('for this month is used up')
    expect(stopInWords({ ...hit('chat'), tooSmall: true })).toBe(
      'My budget for this chat for today is smaller than one answer may cost; my owner can raise it.',
    )
    expect(hitInWords({ ...hit('chat', { id: 'x' }), tooSmall: true })).toMatch(
      /; the whole of it is less than one call/,
    )
    expect(hitInWords(hit('strangers'))).toMatch(
      /^all strangers, day: 4,800 of 5,000 tokens; begins anew on 2026-11-27/,
    )
  })

  it('C33: the warning says how much is used, and whether another model answers', () => {
    const limit = { micros: 1_000_000, tokens: 5_000 }
    const said = warningInWords(hit('person', { limit, micros: 805_000 }), BERLIN, undefined)
    expect(said).toBe(
      'Of my budget for you for today, $0.81 of $1.00 and 4,800 of 5,000 tokens is used. It begins anew on 2026-11-27 at 00:00 (Europe/Berlin).',
    )
    expect(warningInWords(hit('chat', { period: 'month' }), BERLIN, 'anthropic/small')).toMatch(
      /for this month.*A cheaper model answers until then\.$/,
    )
  })

  it('C33: a limit has money, tokens, or both', () => {
    expect(limitInWords({ micros: 5_000_000, tokens: 7 })).toBe('$5.00 and 7 tokens')
    expect([limitInWords({ micros: 1 }), limitInWords({ tokens: 7 })]).toEqual(['$0.0000', '7 tokens'])
  })

  it('C33: less than a cent is shown as that', () => {
    const small = hit('chat', { id: 'telegram:group:-1', limit: { micros: 2_000 }, micros: 1_200 })
    expect(budgetInWords(small, BERLIN)).toMatch(/^chat telegram:group:-1, day: \$0\.0012 of \$0\.0020; begins/)
    expect(budgetInWords(hit('total', { limit: { micros: 2_000_000 } }), BERLIN)).toMatch(
      /^everything, day: \$0\.00 of/,
    )
  })
})
