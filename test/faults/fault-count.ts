import { REPEAT_MARK } from './delivery-invariants.ts'
import type { Stored } from './stored.ts'

/** How many messages a case lost, doubled without a mark, and repeated with one, for the table of cases. */
export interface FaultCount {
  readonly lost: number
  readonly doubled: number
  readonly marked: number
}

/** Counts the violations of the first and third invariant, and the marked repeats, which none forbids. */
export function countOf(broken: readonly string[], { outbox }: Pick<Stored, 'outbox'>): FaultCount {
  return {
    lost: broken.filter((line) => line.startsWith('1:')).length,
    doubled: broken.filter((line) => line.startsWith('3:')).length,
    marked: outbox.filter(({ plain }) => plain.startsWith(REPEAT_MARK)).length,
  }
}
