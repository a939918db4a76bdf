import { describe, expect, it } from 'vitest'
import { slopeOf } from './growth.ts'
import { planOf } from './plan.ts'
import { type Answer, type Said, tallyOf } from './tally.ts'

const OPTIONS = { seed: 7, minutes: 2, kills: [3, 60], faults: true } as const

describe('the plan of a soak', () => {
  it('the same seed gives the same plan, another one another', () => {
    expect(planOf(OPTIONS)).toEqual(planOf(OPTIONS))
    expect(planOf({ ...OPTIONS, seed: 8 })).not.toEqual(planOf(OPTIONS))
  })

  it('five messages a second are said, in order of time, beside kills and faults', () => {
    const plan = planOf(OPTIONS)
    expect(plan.filter(({ kind }) => kind === 'say')).toHaveLength(600)
    expect(plan.map(({ at }) => at)).toEqual(plan.map(({ at }) => at).toSorted((one, other) => one - other))
    expect(new Set(plan.map(({ kind }) => kind))).toEqual(new Set(['say', 'kill', 'fault']))
  })

  it('without kills the messages and faults are the same', () => {
    const kept = planOf(OPTIONS).filter(({ kind }) => kind !== 'kill')
    expect(planOf({ ...OPTIONS, kills: undefined })).toEqual(kept)
  })
})

describe('the tally of a soak', () => {
  it('whoever has no answer is lost, and the longest wait is told', () => {
    const { lost, answered, longestWaitMs } = tallyOf(
      [said('w1', 10), said('w2', 20)],
      [answer('echo of w1 and nothing else', 510)],
    )
    expect([lost.map(({ word }) => word), answered, longestWaitMs]).toEqual([['w2'], 1, 500])
  })

  it('a marked copy on Telegram is no double, an unmarked one is, and on Discord any is', () => {
    const copies = [answer('echo of w1 and nothing else'), answer('(repeat) echo of w1 and nothing else')]
    expect(tallyOf([said('w1')], copies)).toMatchObject({ doubled: [], marked: 1 })
    expect(
      tallyOf(
        [said('w1')],
        [copies[0], copies[0]].flatMap((one) => one ?? []),
      ).doubled,
    ).toHaveLength(1)
    const elsewhere = copies.map((copy) => ({ ...copy, platform: 'discord' as const }))
    expect(tallyOf([{ ...said('w1'), platform: 'discord' }], elsewhere).doubled).toHaveLength(1)
  })

  it('an answer behind that of a later message is out of order, unless the platform repeated the message behind it', () => {
    const answers = [answer('echo of w2 and nothing else'), answer('echo of w1 and nothing else')]
    expect(tallyOf([said('w1'), said('w2')], answers).outOfOrder.map(({ word }) => word)).toEqual(['w1'])
    const repeated = { ...said('w1'), handed: { first: 1, last: 3 } }
    expect(tallyOf([repeated, { ...said('w2'), handed: { first: 2, last: 2 } }], answers).outOfOrder).toEqual([])
  })

  it('what a growing answer shows of a longer word is no answer to a shorter one, and no double', () => {
    const grown = [answer('echo of w11 and nothing else'), answer('echo of w11')]
    expect(tallyOf([said('w11'), said('w118')], grown)).toMatchObject({ answered: 1, doubled: [] })
    expect(tallyOf([said('w11')], grown.slice(1)).lost).toHaveLength(1)
  })

  it('a beginning that stands unfinished is told of, but on Telegram where nobody can find it', () => {
    const half = answer('echo of w11 an')
    expect(tallyOf([said('w11')], [half]).unfinished).toEqual([])
    const elsewhere = { ...half, platform: 'slack' as const }
    expect(tallyOf([said('w11')], [elsewhere]).unfinished).toEqual([elsewhere])
  })

  it('an answer in another chat is none', () => {
    const elsewhere = { ...answer('echo of w1 and nothing else'), chat: '2' }
    expect(tallyOf([said('w1')], [elsewhere]).lost).toHaveLength(1)
  })

  it('several messages answered together are answered in order', () => {
    expect(tallyOf([said('w1'), said('w2')], [answer('echo of w1 w2 and nothing else')])).toMatchObject({
      answered: 2,
      outOfOrder: [],
    })
  })
})

describe('the growth of a process', () => {
  it('a megabyte a minute is sixty an hour; what a young process takes does not count', () => {
    const samples = Array.from({ length: 60 }, (_, index) => ({
      at: index * 1000,
      ageMs: index * 1000,
      rssMb: index / 60,
    }))
    expect(slopeOf(samples.map((one) => (one.ageMs < 15_000 ? { ...one, rssMb: 500 } : one)))).toBeCloseTo(60)
    expect(slopeOf(samples.slice(0, 20))).toBeUndefined()
  })
})

function said(word: string, at = 0): Said {
  return { platform: 'telegram', chat: '1', word, at }
}

function answer(text: string, at = 0): Answer {
  return { platform: 'telegram', chat: '1', at, text }
}
