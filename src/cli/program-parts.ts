import { InvalidArgumentError } from 'commander'

export const JSON_OPTION = ['--json', 'print the answer as JSON'] as const

/** Returns an argument that must not be empty. */
export function nonBlank(text: string): string {
  if (text.trim() === '') throw new InvalidArgumentError('It must not be empty.')
  return text
}

/** Returns a parser for a whole number within bounds. */
export function wholeNumber(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN
    if (value >= least && value <= most) return value
    throw new InvalidArgumentError(
      most === Number.MAX_SAFE_INTEGER
        ? `It must be a whole number from ${least}.`
        : `It must be a whole number from ${least} to ${most}.`,
    )
  }
}
