/** True where every case of every matrix runs: `npm run test:matrix`, and CI on one Node. */
export const WHOLE = (process.env.PARLEY_MATRIX ?? '') !== ''

/** Returns one case of each `oneOf` in a row, the first included; all of them where the matrices run as a whole. */
export function sample<Case>(cases: readonly Case[], oneOf: number): Case[] {
  return cases.filter((_, index) => WHOLE || index % oneOf === 0)
}

/**
 * Returns the cases of the `nth` of so many columns of a matrix, so that each case runs in one of them; all of them
 * where the matrices run as a whole.
 */
export function shareOf<Case>(cases: readonly Case[], nth: number, columns: number): Case[] {
  return cases.filter((_, index) => WHOLE || index % columns === nth)
}

/** Returns how many random cases a property is tried on: few, unless the matrices run as a whole. */
export function runs(many: number, few = Math.ceil(many / 3)): { readonly numRuns: number } {
  return { numRuns: WHOLE ? many : few }
}
