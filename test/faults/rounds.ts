import { sample, WHOLE } from '../sample.ts'

const ROUNDS = process.env.PARLEY_FAULT_ROUNDS ?? (WHOLE ? '1' : undefined)

/**
 * Returns every case as often as PARLEY_FAULT_ROUNDS says, or once where the matrices run as a whole. Else one case of
 * each `oneOf` in a row: a sample, for a case starts several processes.
 */
export function rounds<Case>(cases: readonly Case[], oneOf = 1): Case[] {
  if (ROUNDS === undefined) return sample(cases, oneOf)
  return Array.from({ length: Number(ROUNDS) }, () => cases).flat()
}

/** How often something happens within one case: `few` times in a sample. */
export function times(many: number, few: number): number {
  return ROUNDS === undefined ? few : many
}

/** A case starts several processes. */
export const CASE = { timeout: 240_000 }
