import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { LowPriority } from '../../src/core/outbound.ts'
import {
  insert,
  leftInAccount,
  leftInChat,
  letAhead,
  type Queued,
  type Rank,
  rankOf,
  takeSuperseded,
} from '../../src/delivery/low-priority.ts'
import { anInbox } from './rig.ts'

interface Part extends Queued {
  readonly nth: number
}

const PRIORITIES: readonly (LowPriority | undefined)[] = [undefined, { known: true }, {}]

type Step = { readonly rank: number; readonly parts: number } | 'begins' | 'rests' | 'leaves'

/** A message of so many parts comes, or something is done with the head, or it waits, or leaves. */
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    fc.record({ rank: fc.nat(2), parts: fc.integer({ min: 1, max: 3 }) }),
    fc.constantFrom<Step>('begins', 'rests', 'leaves'),
  ),
  { maxLength: 60 },
)

class Line {
  readonly queue: Part[] = []
  readonly left: Part[] = []
  underWay = false
  #nth = 0

  take(step: Step): void {
    if (typeof step === 'object') this.#come(step.rank, step.parts)
    if (step === 'leaves') this.left.push(...this.queue.splice(0, 1))
    if (step === 'begins') this.underWay = true
    if (step === 'rests' || step === 'leaves' || this.queue.length === 0) this.underWay = false
    if (!this.underWay) letAhead(this.queue)
  }

  #come(rank: number, parts: number): void {
    const lowPriority = PRIORITIES[rank]
    const source = anInbox(`${this.#nth}`)
    for (let part = 0; part < parts; part++) {
      const item = { source, nth: this.#nth++, ...(lowPriority && { lowPriority }) }
      insert(this.queue, item, this.underWay ? 1 : 0)
    }
  }
}

const numbers = (parts: readonly Part[]): readonly number[] => parts.map(({ nth }) => nth)

const inOrder = (parts: readonly Part[]): readonly number[] =>
  numbers(parts.toSorted((a, b) => rankOf(a.lowPriority) - rankOf(b.lowPriority) || a.nth - b.nth))

describe('the queue of a conversation', () => {
  test('has what goes ahead first and is in the order of planning within a rank, but for a head under way', () => {
    fc.assert(
      fc.property(steps, (given) => {
        const line = new Line()
        for (const step of given) {
          line.take(step)
          const free = line.underWay ? line.queue.slice(1) : line.queue
          expect(numbers(free)).toEqual(inOrder(free))
        }
      }),
    )
  })

  test('never lets a part of a message go ahead of an earlier one, nor an answer ahead of an earlier one of its rank', () => {
    fc.assert(
      fc.property(steps, (given) => {
        const line = new Line()
        for (const step of given) line.take(step)
        for (const rank of [0, 1, 2]) {
          const all = [...line.left, ...line.queue].filter(({ lowPriority }) => rankOf(lowPriority) === rank)
          expect(numbers(all)).toEqual(inOrder(all))
        }
      }),
    )
  })
})

test('each rank leaves more slots than the one ahead of it, and of a slow chat the first has one alone', () => {
  const ranks: readonly Rank[] = [0, 1, 2]
  expect(ranks.map(leftInChat)).toEqual([0, 1, 2])
  expect(ranks.map((rank) => leftInAccount(rank, 6))).toEqual([0, 1, 3])
})

test('what was begun, and the message under way, give their place to nothing', () => {
  const person: LowPriority = { supersedes: 'telegram:444' }
  const queue: Queued[] = Array.from({ length: 6 }, (_, nth) => ({ source: anInbox(`${nth}`), lowPriority: person }))
  queue.splice(1, 0, { source: anInbox('1'), lowPriority: person, begun: true })
  const taken = takeSuperseded(queue, person, anInbox('0'))
  expect(taken.map(({ source }) => source)).toEqual([anInbox('2')])
  expect(queue.map(({ source }) => source)).toEqual(['0', '1', '1', '3', '4', '5'].map(anInbox))
})
