/**
 * The output of the demo: each message with its place, nothing wider than the screen. Colours are for terminals only.
 */
export interface Printer {
  title(text: string): void
  said(place: string, name: string, text: string): void
  answered(place: string, text: string): void
  /** Writes a remark under the message it belongs to. */
  decided(line: string): void
  note(text: string): void
  check(ok: boolean, what: string): void
}

export interface PrinterOptions {
  readonly colours: boolean
  /** The columns of a line. */
  readonly width: number
}

const PLACE_COLUMNS = 13
const NAME_COLUMNS = 9
const MARGIN = '  '
const INDENT = ' '.repeat(MARGIN.length + PLACE_COLUMNS + NAME_COLUMNS)

export function createPrinter(write: (line: string) => void, { colours, width }: PrinterOptions): Printer {
  const paint = (code: number) => (text: string) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text)
  const [bold, dim, red, green, cyan] = [1, 2, 31, 32, 36].map(paint) as [Paint, Paint, Paint, Paint, Paint]
  const speech = (place: string, name: string, text: string, style: Paint): void => {
    const [first = '', ...rest] = wrapWords(text, width - INDENT.length)
    write(`${MARGIN}${dim(place.padEnd(PLACE_COLUMNS))}${style(name.padEnd(NAME_COLUMNS))}${first}`)
    for (const line of rest) write(INDENT + line)
  }
  const marked = (mark: string, text: string, style: Paint): void => {
    const [first = '', ...rest] = wrapWords(text, width - MARGIN.length - mark.length)
    write(style(`${MARGIN}${mark}${first}`))
    for (const line of rest) write(style(`${MARGIN}${' '.repeat(mark.length)}${line}`))
  }
  return {
    title: (text) => write(bold(`\n${text}`)),
    said: (place, name, text) => speech(place, name, text, bold),
    answered: (place, text) => speech(place, 'Parley', text, cyan),
    decided: (line) => marked(`${INDENT.slice(MARGIN.length)}· `, line, dim),
    note: (text) => {
      for (const line of text.split('\n')) marked(' '.repeat(line.length - line.trimStart().length), line.trim(), dim)
    },
    check: (ok, what) => marked(ok ? '✓ ' : '✗ ', what, ok ? green : red),
  }
}

type Paint = (text: string) => string

/** Breaks a text into lines of at most `width` characters, between words only. A longer word has a line of its own. */
export function wrapWords(text: string, width: number): readonly string[] {
  const lines = text.split('\n').flatMap((paragraph) => {
    const wrapped: string[] = []
    for (const word of paragraph.split(' ')) {
      const line = wrapped.at(-1)
      if (line !== undefined && line.length + 1 + word.length <= width) wrapped[wrapped.length - 1] = `${line} ${word}`
      else wrapped.push(word)
    }
    return wrapped.filter((line) => line !== '')
  })
  return lines.length === 0 ? [''] : lines
}
