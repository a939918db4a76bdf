/** Most fences looked through for the end of the one around them. */
const MOST_FENCES = 40
/** Most lines of code that begins behind words. */
const MOST_LINES = 200

/** The beginning of a line that may stand before a fence or a table: indent, quotes, the marker of a list. */
const PREFIX = '(?:[ \\t>]|[-*+][ \\t]|\\d{1,9}[.)][ \\t])*'
const OPENING = new RegExp(`^(${PREFIX})(\`{3,}(?=[^\`]*$)|~{3,})(.*)$`)
const START = new RegExp(`^${PREFIX}`)
const DELIMITERS = /^[ \t>]*(?:\|[ \t]*)?:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*(?:\|[ \t]*)?$/

/**
 * Puts the fences and tables of an answer as Markdown wants them where models write them otherwise: a fence behind
 * words, words behind its end, fences within fences of the same length, a row with bars in its code or with too many
 * cells. Every other line stays as it is.
 */
export function mendLines(source: string): string {
  const summed = withSums(source)
  if (!/```|~~~|\|/.test(summed)) return summed
  return new LineMender(summed.split('\n')).mended().join('\n')
}

/** A line of a sum: plus or minus, a number or a term, and the result. */
const SUMMAND = /^ {0,3}[+-] (?:\d[\d.,]*%?|\d*[a-z](?:\^?\d|[\u00b2\u00b3])?)(?:\s*(?:[=+\u00d7*/-]\s.*)?)$/i

/** A sum that continues in the next line is no list: its plus is escaped. A list has a colon or a free line above. */
function withSums(source: string): string {
  if (!/\n {0,3}[+-] [\da-z]/i.test(source)) return source
  const lines = source.split('\n')
  let isSum = false
  const mended = lines.map((line, at) => {
    const above = lines[at - 1] ?? ''
    const goesOn =
      isSum || (/[\w)%\u00b2\u00b3]\s*$/.test(above) && /\d/.test(above) && !/^\s*(?:[-+*>#|]|\d+[.)])\s/.test(above))
    isSum = goesOn && SUMMAND.test(line)
    return isSum ? line.replace(/[+-]/, '\\$&') : line
  })
  return mended.join('\n')
}

class LineMender {
  readonly #lines: readonly string[]
  readonly #out: string[] = []
  /** The number of fences from each line on, and whether the next of them names a language. */
  readonly #fencesFrom: number[] = []
  readonly #opensNext: boolean[] = []
  #at = 0

  constructor(lines: readonly string[]) {
    this.#lines = lines
    let fences = 0
    let opens = true
    for (let index = lines.length - 1; index >= 0; index--) {
      const line = lines[index] ?? ''
      const tail = /^[ \t>]*```+(.*)$/.exec(line)?.[1] ?? languageBehindWords(line)
      if (tail !== undefined) {
        fences++
        opens = /^[ \t]*\w/.test(tail)
      }
      this.#fencesFrom[index] = fences
      this.#opensNext[index] = opens
    }
  }

  mended(): readonly string[] {
    while (this.#at < this.#lines.length) {
      const line = this.#lines[this.#at] ?? ''
      const opening = OPENING.exec(line)
      if (opening !== null) this.#fence(opening)
      else if (line.includes('```') && this.#wordsBeforeFence(line)) continue
      else if (this.#isTable()) this.#table()
      else this.#keep(line)
    }
    return this.#out
  }

  #keep(line: string): void {
    this.#out.push(line)
    this.#at++
  }

  /** ``Run this: ```bash`` begins a fence, as does code that begins behind words and continues below. */
  #wordsBeforeFence(line: string): boolean {
    const [words = '', marks, info = ''] = aroundMarks(line) ?? []
    if (marks === undefined) return false
    const indent = indentOf(START.exec(words)?.[0] ?? '')
    const below = this.#lines.slice(this.#at + 1, this.#at + MOST_LINES)
    const next = below.findIndex((one) => one.includes('```'))
    const end = below[next]
    if (end === undefined) return false
    const isInfo = /^[\w+#.-]*[ \t]*$/.test(info)
    const isEnd = /^[ \t>]*```+[ \t]*$/.test(end) || (isInfo && /^[ \t>]*```+(?![\w`])/.test(end))
    const opening = OPENING.exec(indent + marks + (isInfo ? info : ''))
    if (isEnd && opening !== null) {
      this.#out.push(words.trimEnd())
      this.#fence(opening, isInfo ? [] : [indent + info])
      return true
    }
    const around = aroundMarks(end)
    if (around === undefined || below.slice(0, next).some((one) => one.trim() === '')) return false
    const code = info === '' ? [] : [indent + info]
    this.#out.push(words.trimEnd(), indent + marks, ...code, ...below.slice(0, next), around[0], indent + marks)
    if (around[2].trim() !== '') this.#out.push(indent + around[2].trimStart())
    this.#at += next + 2
    return true
  }

  /** Copies a fence up to its end, which is made plain. */
  #fence(opening: RegExpExecArray, first: readonly string[] = []): void {
    const [, prefix = '', marks = '', info = ''] = opening
    const from = this.#at + 1
    const fence = { mark: marks[0] ?? '', length: marks.length }
    const { end, longest } = this.#endOf(from, fence)
    const longer = longest === 0 ? marks : fence.mark.repeat(Math.max(longest + 1, fence.length))
    this.#out.push(prefix + longer + info, ...first)
    for (this.#at = from; this.#at < end; this.#at++) {
      const line = this.#lines[this.#at] ?? ''
      const split = this.#endsBehindCode(line, fence)
      if (split !== undefined) {
        this.#out.push(split, indentOf(prefix) + longer)
        this.#at++
        return
      }
      this.#out.push(line)
    }
    if (end >= this.#lines.length) return
    const [, before = '', , words = ''] = /^([ \t>]*)([`~]+)(.*)$/.exec(this.#lines[end] ?? '') ?? []
    this.#out.push(before + longer)
    if (words.trim() !== '') this.#out.push(before + words.trimStart())
    this.#at = end + 1
  }

  /**
   * Returns the line that ends a fence, and the longest marks of a fence inside. Fences inside come in pairs; where
   * they do not, the end is the first bare line of marks.
   */
  #endOf(from: number, fence: { mark: string; length: number }): { end: number; longest: number } {
    let depth = 0
    let longest = 0
    let firstBare = this.#lines.length
    let left = MOST_FENCES
    for (let index = from; index < this.#lines.length && left > 0; index++) {
      const kind = kindOfFence(this.#lines[index] ?? '', fence)
      if (kind === undefined) continue
      left--
      if (kind.opens) {
        depth++
        longest = Math.max(longest, kind.length)
      } else {
        firstBare = Math.min(firstBare, index)
        if (depth === 0) return { end: index, longest: firstBare === index ? 0 : longest }
        depth--
      }
    }
    return { end: firstBare, longest: 0 }
  }

  /** Code whose last line has the marks behind it: the next fence is another one, or those from here on are paired. */
  #endsBehindCode(line: string, { mark, length }: { mark: string; length: number }): string | undefined {
    if (mark !== '`' || !line.trimEnd().endsWith('```')) return undefined
    const [code, marks = ''] = aroundMarks(line) ?? []
    const below = this.#at + 1
    const isPaired = (this.#opensNext[below] ?? true) || (this.#fencesFrom[below] ?? 0) % 2 === 0
    return marks.length < length || !isPaired ? undefined : code
  }

  #isTable(): boolean {
    const header = this.#lines[this.#at] ?? ''
    const below = this.#lines[this.#at + 1] ?? ''
    return header.includes('|') && below.includes('-') && DELIMITERS.test(below)
  }

  /** The header says how many columns there are; surplus cells of a row are joined to its last. */
  #table(): void {
    const header = this.#lines[this.#at] ?? ''
    const below = this.#lines[this.#at + 1] ?? ''
    const columns = cellsOf(header).cells.length
    const given = below.split('|').filter((cell) => cell.includes('-'))
    // Any line of dashes is a rule or belongs to a list; a table has as many columns as it has names.
    if (given.length !== columns && given.length < 2) {
      this.#keep(header)
      return
    }
    const prefix = /^[ \t>]*/.exec(below)?.[0] ?? ''
    const delimiters = Array.from({ length: columns }, (_, column) => given[column]?.trim() ?? '---')
    this.#out.push(mendRow(header, columns))
    this.#out.push(given.length === columns ? below : `${prefix}| ${delimiters.join(' | ')} |`)
    this.#at += 2
    for (; this.#at < this.#lines.length; this.#at++) {
      const row = this.#lines[this.#at] ?? ''
      if (!row.includes('|')) break
      this.#out.push(mendRow(row, columns))
    }
    const next = this.#lines[this.#at] ?? ''
    // Otherwise the paragraph below would become its last row.
    if (/[^\s>]/.test(next)) this.#out.push(/^[ \t>]*/.exec(next)?.[0].includes('>') ? prefix : '')
  }
}

/** Words, marks of a fence, and what stands behind them, if there are no other backticks in the line. */
function aroundMarks(line: string): readonly [string, string, string] | undefined {
  const at = line.indexOf('`')
  const marks = /`*/y.exec(line.slice(at))?.[0] ?? ''
  const words = line.slice(0, at)
  const rest = line.slice(at + marks.length)
  return at === -1 || marks.length < 3 || rest.includes('`') || !/[^\s>]/.test(words) ? undefined : [words, marks, rest]
}

function languageBehindWords(line: string): string | undefined {
  const language = line.includes('```') ? aroundMarks(line)?.[2] : undefined
  return language !== undefined && /^[\w+#.-]+[ \t]*$/.test(language) ? language : undefined
}

/** Returns whether a line could begin a fence in another one or end it; `undefined` if it is none. */
function kindOfFence(
  line: string,
  fence: { mark: string; length: number },
): { readonly opens: boolean; readonly length: number } | undefined {
  const [, marks = '', tail = ''] = /^[ \t>]*(`{3,}|~{3,})(.*)$/.exec(line) ?? []
  if (marks.length < fence.length || marks[0] !== fence.mark || tail.includes('`')) return undefined
  return { opens: /^[ \t]*[\w+#.:/-]+[ \t]*$/.test(tail), length: marks.length }
}

interface Row {
  readonly prefix: string
  readonly cells: readonly string[]
  /** A bar stood where it could be taken for the end of a cell. */
  readonly barred: boolean
}

/** The pieces of a row: code, an escaped bar, a bar, and whatever stands between them. */
const PIECES = /(`{1,4})(?!`)[^`]*?(?<!`)\1(?!`)|\\\||[^|\\`]+|[\s\S]/g

/** The cells of a row; a bar in code or behind a backslash ends none. */
function cellsOf(row: string): Row {
  const prefix = START.exec(row)?.[0] ?? ''
  const cells = ['']
  let barred = false
  for (const [piece, marks] of row.slice(prefix.length).trimEnd().matchAll(PIECES)) {
    if (piece === '|') {
      cells.push('')
      continue
    }
    const code = marks === undefined ? piece : piece.replace(/(?<!\\)\|/g, '\\|')
    barred ||= code !== piece
    cells[cells.length - 1] += code
  }
  if (cells.length > 1 && cells[0]?.trim() === '') cells.shift()
  if (cells.length > 1 && cells.at(-1)?.trim() === '') cells.pop()
  return { prefix, cells, barred }
}

/** White space as wide as what stands before a fence, and its quotes. */
function indentOf(prefix: string): string {
  return prefix.replace(/[^\s>]/g, ' ')
}

function mendRow(row: string, columns: number): string {
  const { prefix, cells, barred } = cellsOf(row)
  if (!barred && cells.length <= columns) return row
  const last = cells.slice(columns - 1).join('\\|')
  return `${prefix}| ${[...cells.slice(0, columns - 1), last].map((cell) => cell.trim()).join(' | ')} |`
}
