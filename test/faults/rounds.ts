import { sample, WHOLE } from '../sample.ts'

const ROUNDS = process.env.PARLEY_FAULT_ROUNDS ?? (WHOLE ? '1' : undefined)

/** A sample is this much thinner than a matrix says: half of the time of `npm test` is that of processes. */
const THINNER = 4

/**
 * Returns every case as often as PARLEY_FAULT_ROUNDS says, or once where the matrices run as a whole. Else a sample, for
 * a case starts several processes: one of each `oneOf * THINNER` in a row, the first included.
 */
export function rounds<Case>(cases: readonly Case[], oneOf = 1): Case[] {
  if (ROUNDS === undefined) return sample(cases, oneOf * THINNER)
  return Array.from({ length: Number(ROUNDS) }, () => cases).flat()
}

/** How often something happens within one case: `few` times in a sample. */
export function times(many: number, few: number): number {
  return ROUNDS === undefined ? few : many
}

/** A case starts several processes. */
export const CASE = { timeout: 240_000 }
