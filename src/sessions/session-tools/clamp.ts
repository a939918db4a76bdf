/** A number a caller gave, brought into its range; fractions round down, no number is the fallback. */
export function clamp(
  given: number | undefined,
  { fallback, least, most }: { readonly fallback: number; readonly least: number; readonly most: number },
): number {
  if (given === undefined || Number.isNaN(given)) return fallback
  return Math.min(most, Math.max(least, Math.floor(given)))
}
