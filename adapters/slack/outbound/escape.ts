/** Nothing to see: behind a character that would be a mark, it takes the mark's meaning. */
export const GAP = '\u200B'

/**
 * Escapes the platform's special characters in any text. Every bracket of ours is written after this, so nothing a
 * model says can become a mention: `<!channel>` arrives as words (F-I10).
 */
export function escapeText(text: string): string {
  if (!/[&<>]/.test(text)) return text
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/** A mark where a styled text could begin: at the border of a word, with a word behind it. */
const OPENERS = /(?<![\p{L}\p{N}_*~`])([*_~])\1*(?=[^\s*_~`])/gu
/** Marks within a word, which the mark of a styled text nearby could close. */
const WITHIN = /(?<=[\p{L}\p{N}])([*~])\1*(?=[^\s*_~`\u200B])/gu
const CLOSERS: Readonly<Record<string, RegExp>> = {
  '*': /[^\s*]\*(?![\p{L}\p{N}])/u,
  _: /[^\s_]_(?![\p{L}\p{N}])/u,
  '~': /[^\s~]~(?![\p{L}\p{N}])/u,
}
/** Most characters looked through for the other end of a styled text. */
const LOOKED_THROUGH = 500
/** A colon within a word, before what could be the name of an emoji; an address of Parley's own has none. */
const EMOJI = /(?<=\w):(?!(?:direct|group|channel):)(?=(?:(?!\d+:)\w[\w+-]*|100|1234):)/g
const CODE = /`([^`\n]+)`/g

/**
 * Escapes a text whose marks are characters. The platform knows no escape for its marks: one that would style the words
 * behind it has an invisible space behind it, a pair of backticks is written with another character. `ends` are the
 * marks that styled stretches in the same text have.
 */
export function escapeMarks(text: string, ends = '', startsLine = true): string {
  if (!/[*_~`:&<>]/.test(text)) return text
  const apart = text
    .replace(OPENERS, (marks: string, mark: string, at: number, whole: string) =>
      ends.includes(mark) || isClosed(whole, at + marks.length, mark) ? [...marks, ''].join(GAP) : marks,
    )
    .replace(WITHIN, (marks, mark: string) => (ends.includes(mark) ? [...marks, ''].join(GAP) : marks))
    .replace(CODE, '\u02CB$1\u02CB')
    .replace(EMOJI, `:${GAP}`)
    .replace(/^>/gm, (sign, at: number) => (at > 0 || startsLine ? GAP + sign : sign))
  return escapeText(apart)
}

function isClosed(text: string, from: number, mark: string): boolean {
  const line = text.slice(from, from + LOOKED_THROUGH).split('\n', 1)[0] ?? ''
  return CLOSERS[mark]?.test(line) ?? false
}

/** UTF-16 units of a text once it is escaped, its marks included; never too few. */
export function escapedLength(text: string, inCode: boolean): number {
  let length = text.length
  if (!/[*_~`:&<>]/.test(text)) return length
  for (const char of text.match(/[&<>]/g) ?? []) length += char === '&' ? 4 : 3
  if (inCode) return length
  for (const pattern of [OPENERS, WITHIN]) for (const marks of text.match(pattern) ?? []) length += marks.length
  for (const pattern of [EMOJI, /^>/gm]) length += text.match(pattern)?.length ?? 0
  return length
}

/** An address as it stands between the brackets of a link. */
export function escapeUrl(url: string): string {
  return url
    .replaceAll('&', '&amp;')
    .replaceAll('<', '%3C')
    .replaceAll('>', '%3E')
    .replaceAll('|', '%7C')
    .replace(/\s/g, '%20')
}

/** Takes the meaning from every mention in a text that is mrkdwn already; links keep theirs. */
export function withoutMentions(mrkdwn: string): string {
  return mrkdwn.replace(/<(?=[!@#])/g, '&lt;')
}
