import { describe, expect, it } from 'vitest'
import { readElicitation } from '../../src/mcp/read-elicitation.ts'

const offered = (label: string) => ({
  message: 'Which?',
  requestedSchema: { type: 'object', properties: { pick: { type: 'string', enum: [label, 'other'] } } },
})

describe('F-H07: a choice of a tool server', () => {
  it.each([
    ...[' Decline', 'Decline ', 'DECLINE', 'Decline.', 'Ｄecline', 'Dесline', 'De\u00adcline', 'Decline\u200b'],
    ...['Cancel\n', 'Leave  empty', '\u202eenilceD', 'a\0b', '', ' ', '\u2800', '\u200b', '\ud83d'],
  ])('is not taken for one of ours, and is seen: %j', (label) => {
    expect(readElicitation(offered(label))).toBe('a choice has no label, one that is too long, or one of mine')
  })

  it.each(['Red', 'Décaféiné', '👍', '?', 'Decline the offer', 'キャンセル', 'Да', '3'])('may be %j', (label) => {
    expect(readElicitation(offered(label))).toBeTypeOf('object')
  })
})
