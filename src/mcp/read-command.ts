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
  // Some servers put the words together again, and a shell takes them apart at each space.
  const apart = more.flatMap((word) => (word.includes(' ') ? [word, ...word.split(' ')] : [word]))
  return { kind: 'program', words: [...words, ...apart].filter((word) => word !== '') }
}

/** Programs find a path behind one of these: `if=/x`, `@/x`, `a:/x`, `a,/x`, `+/x`. */
const MARK = /[=@:,+]/g
const LONGEST_OPTION = 100

/**
 * Returns what a program may take for a path in a word behind it: the word, and whatever stands in it behind a mark.
 * Returns undefined for an option in which a path may stand without one (`-C/x`, `-C..`).
 */
export function pathsIn(word: string): readonly string[] | undefined {
  const marks = [...word.matchAll(MARK)].map(({ index }) => index)
  const behind = marks.map((at) => word.slice(at + 1)).filter((part) => part !== '')
  if (!word.startsWith('-')) return [word, ...behind]
  const option = word.slice(0, marks[0]).normalize('NFKC')
  if (option.includes('/') || option.includes('..') || option.length > LONGEST_OPTION) return undefined
  // A link of the folder may lead out of it: `-Clink`, also behind other letters.
  const glued = option.startsWith('--') ? [] : [...option].slice(2).map((_, at) => option.slice(at + 2))
  return [...glued, ...behind]
}
