import { expect, it } from 'vitest'
import { createFileAllowance } from '../../src/pipeline/file-allowance.ts'

const DAY_MS = 86_400_000

function rig() {
  const clock = { ms: 0, elapsed: () => clock.ms }
  return { clock, allowance: createFileAllowance(clock, 100) }
}

it('F-G07: what one person sends within a day is bounded, from the first of their files on', () => {
  const { clock, allowance } = rig()
  allowance.fetched('ada', 60)
  clock.ms = DAY_MS / 2
  allowance.fetched('ada', 60)
  clock.ms = DAY_MS - 1
  expect([allowance.mayFetch('ada'), allowance.mayFetch('bob')]).toEqual([false, true])
  clock.ms = DAY_MS
  expect(allowance.mayFetch('ada')).toBe(true)
})

it('F-G07: who sends files is counted however many others send some; who sent none for longest is forgotten', () => {
  const { allowance } = rig()
  allowance.fetched('ada', 100)
  allowance.fetched('bob', 100)
  for (let other = 0; other < 9_999; other++) {
    allowance.fetched('ada', 1)
    allowance.fetched(`other ${other}`, 1)
  }
  expect([allowance.mayFetch('ada'), allowance.mayFetch('bob')]).toEqual([false, true])
})
