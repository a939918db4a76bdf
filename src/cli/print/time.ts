/** Returns a time as `2026-11-21 14:03:22Z`, in UTC, so that it reads the same on every machine and matches the log. */
export function formatTime(at: number): string {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? 'unknown' : date.toISOString().replace('T', ' ').replace(/\.\d+/, '')
}
