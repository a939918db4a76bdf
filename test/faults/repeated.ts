/** Each text that stands a second time. */
export function repeated(texts: readonly string[]): string[] {
  return texts.filter((text, index) => texts.indexOf(text) < index)
}
