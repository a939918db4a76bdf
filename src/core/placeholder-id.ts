/**
 * Runs of characters that examples begin their ids with. The examples of this repository (111111111, 222222222,
 * 777777777, -1001234567890, 111111111111111111, T012ABCDE, U012ABCDE) and the usual ones elsewhere (123456789,
 * U0123456789, T01/U333) are pieces of these, or one character again and again.
 */
const RUNS: readonly string[] = ['12345678901234567890', '0123456789', '9876543210', '012abcdefghijk', 'abcdefghijk']
/** Shorter numbers are too likely to be an id that there is. */
const SHORTEST_NUMBER = 6
/** No id that begins as those of Slack or of Telegram's groups is as short as this. */
const SHORTEST_REST = 3

/**
 * Returns true for an id copied from an example: whoever holds it on the platform would get what the line grants. A
 * leading character, the -100 of Telegram's groups and the first letter of Slack's ids are ignored. `examples`: the ids
 * on the platforms' own pages (`Channels.examples`).
 */
export function isPlaceholder(id: string, examples: readonly string[], shortest = 0): boolean {
  if (/[<>\u2026]/.test(id)) return true
  const [, mark = '', core = ''] = /^(-100(?=\d)|[a-z](?=\w)|)-?(.*)$/.exec(id.trim().toLowerCase()) ?? []
  if (core.length < Math.max(shortest, mark === '' ? SHORTEST_NUMBER : SHORTEST_REST)) return false
  const repeated = core === core.charAt(0).repeat(core.length)
  return repeated || examples.includes(core) || RUNS.some((run) => run.startsWith(core))
}
