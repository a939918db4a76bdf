import { describe, expect, it } from 'vitest'
import { errorCode, toError } from '../../src/core/errors.ts'
import { interpolate, readContext } from '../../src/core/session-context.ts'

function refusal(asked: Readonly<Record<string, unknown>>): string {
  try {
    readContext(asked)
    return 'taken'
  } catch (error) {
    expect(errorCode(error)).toBe('invalid')
    return toError(error).message
  }
}

describe('the variables of a session', () => {
  it('C46: stand in the prompt in the place of their names, and nothing in the place of others', () => {
    const context = readContext({ project: 'Bridge', city: '$& {{ctx.project}}' })
    expect(
      interpolate('On {{ctx.project}} in {{ ctx.city }}{{ctx.none}}{{ctx.constructor}}, {{other}}.', context),
    ).toBe('On Bridge in $& {{ctx.project}}, {{other}}.')
    expect(interpolate('No variables.', {})).toBe('No variables.')
  })

  it.each([
    ['sk', '-ant-api03-abcdefghijklmnop'],
    ['sk', '-proj-abcdefghijklmnopqrst'],
    ['xox', 'b-1234567890-abcdef'],
    ['gh', 'p_abcdefghijklmnopqrstuv'],
    ['AK', 'IAABCDEFGHIJKLMNOP'],
    ['1234567', ':AAbbccddeeffgghhiijjkkllmmnnooppqq'],
    ['eyJhbGciOiJIUzI1NiJ9', '.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0'],
    ['-----BEGIN', ' RSA PRIVATE KEY-----'],
  ])('C30: a value that looks like a key is refused, and the refusal does not repeat it (%s…)', (begin, end) => {
    const message = refusal({ note: `use ${begin}${end} there` })
    expect(message).toMatch(/^context\.note looks like a key/)
    expect(message).not.toContain(end)
  })

  it('C30: ordinary values are taken', () => {
    const values = ['Bridge', 'https://example.org/a/b?c=d', 'ada@example.org', 'a skill of task-force 7', '10:30']
    expect(values.map((value) => refusal({ value }))).toEqual(values.map(() => 'taken'))
  })

  it('C46: names, numbers and lengths are bounded', () => {
    expect(refusal({ 'a b': 'x' })).toMatch(/^A name in context must be/)
    expect(refusal({ a: 7 })).toMatch(/^context\.a must be a text/)
    expect(refusal({ a: 'x'.repeat(2_001) })).toMatch(/^context\.a must be a text/)
    expect(refusal(Object.fromEntries(Array.from({ length: 33 }, (_, n) => [`a${n}`, 'x'])))).toMatch(/32 variables/)
  })
})
