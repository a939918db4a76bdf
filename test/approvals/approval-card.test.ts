import { expect, test } from 'vitest'
import { approvalCard, shownArguments } from '../../src/approvals/approval-card.ts'
import { inWords } from '../../src/approvals/words-of-others.ts'
import type { NewApproval } from '../../src/core/approval.ts'

const card = (args: unknown): string =>
  approvalCard({ code: 'abcde', tool: 'pay', args, askedAt: 0 } as NewApproval, {
    ...{ where: '"Family"', others: [], newest: undefined },
  })

test('T32: a card shows what cannot be seen in a call, and what turns the direction of its text', () => {
  const hidden = ['\u202e', '\u2066', '\u200b', '\u00ad', '\u009b', '\u2028', '\u3164', '\u2800', '\u{e0041}', '\ufeff']
  for (const one of hidden) {
    const args = { path: `/home/${one}fdp.exe` }
    expect(card(args)).not.toContain(one)
    expect(card(args)).toContain('/home/\\u')
    expect(JSON.parse(shownArguments(args))).toEqual(args)
  }
})

test('T32: a card shows other writings as they are, and nothing of a call ends its block', () => {
  const args = { text: 'Grüße, שלום, 你好 👍\nand ```more' }
  expect(card(args)).toContain('Grüße, שלום, 你好 👍\\nand \\u0060\\u0060\\u0060more')
  expect(card(args).split('```')).toHaveLength(3)
  expect(JSON.parse(shownArguments(args))).toEqual(args)
})

test('T32: words of others on a card turn the direction of nothing behind them', () => {
  const [text, name] = ['pay \u202ecy `now`\u0085', 'Bob\u2067']
  expect(inWords({ kind: 'message', text, name, seq: 1, at: 0 }, 0)).toBe('`pay cy now` by `Bob` a moment ago')
})
