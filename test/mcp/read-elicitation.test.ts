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

describe('the value that a tool server would take', () => {
  const choices = (field: object): unknown => {
    const read = readElicitation({ message: '', requestedSchema: { type: 'object', properties: { field } } })
    return typeof read === 'string' ? read : read.fields[0]?.choices.map(({ label, value }) => [label, value])
  }

  it.each([
    [{ type: 'string', default: 'John Doe' }, [['Default: John Doe', 'John Doe']]],
    [{ type: 'integer', default: 30 }, [['Default: 30', 30]]],
    [{ type: 'number', default: 95.5 }, [['Default: 95.5', 95.5]]],
    [
      { type: 'boolean', default: false },
      [
        ['Default: No', false],
        ['Yes', true],
      ],
    ],
    [
      { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'], default: 'b' },
      [
        ['Default: B', 'b'],
        ['A', 'a'],
      ],
    ],
    [{ type: 'string', oneOf: [{ const: 'a', title: 'Ay' }], default: 'a' }, [['Default: Ay', 'a']]],
  ])('is the first choice of %j', (field, expected) => {
    expect(choices(field)).toEqual(expected)
  })

  it.each([
    { type: 'integer', default: 1.5 },
    { type: 'integer', minimum: 5, default: 3 },
    { type: 'number', default: '3' },
    { type: 'string', maxLength: 3, default: 'four' },
    { type: 'string', default: 'a\u202eb' },
    { type: 'string', default: 'x'.repeat(60) },
    { type: 'string', default: ' ' },
    { type: 'string', default: null },
  ])('is no choice where it is no answer, or cannot be shown: %j', (field) => {
    expect(choices(field)).toEqual([])
  })
})
