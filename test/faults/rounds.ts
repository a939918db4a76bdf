const ROUNDS = process.env.PARLEY_FAULT_ROUNDS

/**
 * Returns every case as often as PARLEY_FAULT_ROUNDS says. Where it says nothing, one case of each `oneOf` in a row, once:
 * a sample, for a case starts several processes. CI runs every case.
 */
export function rounds<Case>(cases: readonly Case[], oneOf = 1): Case[] {
  if (ROUNDS === undefined) return cases.filter((_, index) => index % oneOf === 0)
  return Array.from({ length: Number(ROUNDS) }, () => cases).flat()
}

/** How often something happens within one case: `few` times in a sample. */
export function times(many: number, few: number): number {
  return ROUNDS === undefined ? few : many
}

/** A case starts several processes. */
export const CASE = { timeout: 240_000 }
