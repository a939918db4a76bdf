import { describe, expect, it } from 'vitest'
import { askedTooMuch, type QuestionAsker } from '../../src/core/asked-too-much.ts'

const ADA: QuestionAsker = { who: 'ada', owner: true }
const member = (who: string): QuestionAsker => ({ who, owner: false })
const [BOB, CY] = [member('bob'), member('cy')]
const times = (count: number, ...those: readonly QuestionAsker[]) => Array.from({ length: count }, () => those)

describe('how many questions may be open', () => {
  it('F-H07: three of each person, whoever else asks', () => {
    expect(askedTooMuch([BOB], times(2, BOB))).toBeUndefined()
    expect(askedTooMuch([BOB], times(3, BOB))).toBe(3)
    expect(askedTooMuch([CY], times(3, BOB))).toBeUndefined()
    expect(askedTooMuch([ADA], times(3, ADA))).toBe(3)
  })

  it('F-H07: one for several people counts for each, and is asked while one of them has some left', () => {
    expect(askedTooMuch([CY], times(3, BOB, CY))).toBe(3)
    expect(askedTooMuch([BOB, CY], times(3, BOB))).toBeUndefined()
  })

  it('F-H07: ten of all people together, but never for an owner', () => {
    const crowd = Array.from({ length: 10 }, (_, nth) => [member(`member ${nth}`)])
    expect(askedTooMuch([BOB], crowd)).toBe(10)
    expect(askedTooMuch([BOB], [...times(9, ADA), ...crowd.slice(1)])).toBeUndefined()
    expect(askedTooMuch([ADA], crowd)).toBeUndefined()
    expect(askedTooMuch([BOB, ADA], crowd)).toBeUndefined()
  })

  it('F-H07: what nobody asked for has three of its own', () => {
    expect(askedTooMuch([], times(3))).toBe(3)
    expect(askedTooMuch([], times(3, BOB))).toBeUndefined()
    expect(askedTooMuch([BOB], times(3))).toBeUndefined()
  })
})
