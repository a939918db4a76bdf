const LEADING = /^(?:(?:F-[A-K]\d{2}|[SRTKC]\d{1,3}(?:-[SRTKC]\d{1,3})?)(?:, |(?=:)))+(?=:)/

/** Returns the numbers of statements and the codes of fault cases with which a title begins, each of a range too. */
export function codesOf(title: string): string[] {
  const words = LEADING.exec(title)?.[0].split(', ') ?? []
  return words.flatMap((word) => (word.startsWith('F-') ? [word] : numbersOf(word)))
}

/** `K33-K36` is four statements. */
export function numbersOf(range: string): string[] {
  const [from = '', to = from] = range.split('-')
  const [first, last] = [Number(from.slice(1)), Number(to.slice(1))]
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => `${from[0]}${first + at}`)
}
