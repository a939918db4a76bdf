import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { NOBODY } from '../../../src/core/platform-id.ts'
import { judgeActing, judgeReading, judgeSending } from '../../../src/sessions/people/least-reach.ts'

const able = { author: 'telegram:111', may: true }
const unable = { author: 'telegram:444', may: false }

describe('least reach', () => {
  it('T32: is what every one of them may do, and nothing while nobody is known', () => {
    fc.assert(
      fc.property(fc.array(fc.record({ author: fc.string(), may: fc.boolean() }), { maxLength: 5 }), (people) => {
        const allowed = people.length > 0 && people.every(({ may }) => may)
        expect(judgeActing(people).kind === 'allowed').toBe(allowed)
        expect(judgeReading(people).kind === 'allowed').toBe(allowed)
      }),
    )
  })

  it('S20: for one person alone what is out of reach is not there', () => {
    expect(judgeActing([unable])).toEqual({ kind: 'absent' })
    expect(judgeReading([unable])).toEqual({ kind: 'absent' })
    expect(judgeActing([{ author: NOBODY, may: false }])).toMatchObject({ kind: 'denied' })
  })

  it('T32: sends nothing where somebody has spoken whom nobody let in by name', () => {
    const [ada, eve] = [
      { author: 'telegram:111', known: true },
      { author: 'telegram:666', known: false },
    ]
    expect(judgeSending([ada])).toEqual({ kind: 'allowed' })
    expect(judgeSending([ada, eve])).toMatchObject({
      kind: 'denied',
      reason: expect.stringContaining('words of telegram:666.'),
    })
  })

  it('says whose words stand in the way, three of them by name', () => {
    const reason = (...names: readonly string[]): string => {
      const verdict = judgeActing([able, ...names.map((author) => ({ author, may: false }))])
      return verdict.kind === 'denied' ? verdict.reason : verdict.kind
    }
    expect(reason('telegram:444')).toContain('words of telegram:444, who may not do this')
    expect(reason(NOBODY)).toContain('words of nobody I know, who')
    expect(reason('a:1', 'a:2', 'a:3', 'a:4', 'a:5')).toContain('words of a:1, a:2, a:3 and 2 more, who')
  })

  it('reads nothing else where nobody knows who sees the answer', () => {
    expect(judgeReading('shared')).toMatchObject({
      kind: 'denied',
      reason: expect.stringContaining('Ask in a direct chat'),
    })
    expect(judgeReading([able, unable])).toMatchObject({ kind: 'denied' })
  })
})
