const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 7 * 86_400_000,
}
const LONGEST_MS = 366 * 86_400_000

/**
 * Parses `30m`, `2h`, `1d` or `1h30m` to ms. Returns undefined for any other text, for an empty one and for more than a
 * year.
 */
export function parseDuration(text: string): number | undefined {
  const bare = text.replace(/\s+/g, '')
  if (!/^(?:\d{1,6}[smhdw])+$/.test(bare)) return undefined
  let total = 0
  for (const [, count, unit = ''] of bare.matchAll(/(\d+)([smhdw])/g)) total += Number(count) * (UNIT_MS[unit] ?? 0)
  return total > 0 && total <= LONGEST_MS ? total : undefined
}
