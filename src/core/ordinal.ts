// biome-ignore format: pairs of a table
const ROMAN = [
  [1000, 'm'], [900, 'cm'], [500, 'd'], [400, 'cd'], [100, 'c'], [90, 'xc'], [50, 'l'], [40, 'xl'], [10, 'x'],
  [9, 'ix'], [5, 'v'], [4, 'iv'], [1, 'i'],
] as const
const LARGEST_ROMAN = 3_999
/** Numbers that are written in letters. */
const MOST_LETTERS = 780

/**
 * Returns the number of an item of a list in a format by its name in Office documents, such as `upperLetter`; decimal
 * where the format has nothing for it. `afterZ`: office programs repeat a letter behind the alphabet, and browsers
 * count on.
 */
export function ordinal(count: number, format: string, afterZ: 'bb' | 'ab' = 'bb'): string {
  if (format === 'none') return ''
  if (format === 'decimalZero') return String(count).padStart(2, '0')
  const written = /roman$/i.test(format) ? roman(count) : /letter$/i.test(format) ? letters(count, afterZ) : ''
  if (written === '') return String(count)
  return format.startsWith('upper') ? written.toUpperCase() : written
}

function roman(count: number): string {
  let [left, written] = [count <= LARGEST_ROMAN ? count : 0, '']
  for (const [value, letters] of ROMAN) for (; left >= value; left -= value) written += letters
  return written
}

function letters(count: number, afterZ: 'bb' | 'ab'): string {
  if (count < 1 || count > MOST_LETTERS) return ''
  const letter = String.fromCharCode(97 + ((count - 1) % 26))
  if (afterZ === 'bb') return letter.repeat(Math.ceil(count / 26))
  return letters(Math.floor((count - 1) / 26), afterZ) + letter
}
