/** Returns the first characters of a text, at most so many; one that stands for two is not cut in half. */
export function cutText(text: string, longest: number): string {
  return text.slice(0, longest).replace(/[\uD800-\uDBFF]$/, '')
}
