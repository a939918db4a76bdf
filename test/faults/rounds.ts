/** Every case once, or as often as PARLEY_FAULT_ROUNDS says. */
export function rounds<Case>(cases: readonly Case[]): Case[] {
  const count = Number(process.env.PARLEY_FAULT_ROUNDS ?? 1)
  return Array.from({ length: count }, () => cases).flat()
}

/** A case starts several processes. */
export const CASE = { timeout: 240_000 }
