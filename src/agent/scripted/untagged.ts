const TAGS = /^(?:\[[^\]\n]*\] )+/
const NEXT_TAGGED_LINE = /\n(?=\[[^\]\n]*\] )/

/**
 * The newest message as its author wrote it: of a group prompt the last tagged line and what follows it, without the
 * `[Name]` and `[not directed at you]` tags; any other text as it is.
 */
export function untagged(text: string): string {
  const newest = TAGS.test(text) ? (text.split(NEXT_TAGGED_LINE).at(-1) ?? text) : text
  return newest.replace(TAGS, '')
}
