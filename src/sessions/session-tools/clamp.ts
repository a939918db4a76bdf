/**
 * Returns a caller's number brought into its range; fractions round down, and the fallback replaces what is no number.
 */
export function clamp(
  given: number | undefined,
  { fallback, least, most }: { readonly fallback: number; readonly least: number; readonly most: number },
): number {
  if (given === undefined || Number.isNaN(given)) return fallback
  return Math.min(most, Math.max(least, Math.floor(given)))
}
