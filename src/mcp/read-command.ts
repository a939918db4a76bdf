/** Characters by which a shell does more than to start one program, and everything that is no printed character. */
const SHELL = /[;&|<>()$`\\"'*?[\]{}~#!]|[^\P{C}]|[^\P{Z} ]/u

/**
 * `listed`: the operator has listed this very command. `program`: an allowed program with these words behind it.
 * `refused`: neither.
 */
export type ReadCommand =
  | { readonly kind: 'listed' }
  | { readonly kind: 'program'; readonly words: readonly string[] }
  | { readonly kind: 'refused'; readonly why: string }

/** Reads a command: a line first, or its program, then further words. Pure. */
export function readCommand([line = '', ...more]: readonly string[], allowed: readonly string[]): ReadCommand {
  if (allowed.includes([line, ...more].join(' '))) return { kind: 'listed' }
  if ([line, ...more].some((one) => SHELL.test(one))) return { kind: 'refused', why: 'has characters of a shell in it' }
  const [program = '', ...words] = line.split(/ +/)
  if (program === '' || !allowed.includes(program)) return { kind: 'refused', why: 'begins with no allowed program' }
  return { kind: 'program', words: [...words, ...more].filter((word) => word !== '') }
}

/**
 * Returns the part of a word behind a program that may be a path, undefined for a plain option, and false for an option
 * in which a path may stand without a mark between them.
 */
export function pathIn(word: string): string | undefined | false {
  if (!word.startsWith('-')) return word
  const at = word.indexOf('=')
  if (at !== -1) return word.slice(at + 1)
  return word.includes('/') ? false : undefined
}
