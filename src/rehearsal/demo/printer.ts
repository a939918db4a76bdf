/** Everything the demo writes: one line a fact, indented under who caused it. Colours only on a terminal. */
export interface Printer {
  title(text: string): void
  place(title: string): void
  said(name: string, text: string): void
  decided(line: string): void
  answered(name: string, text: string, note?: string): void
  note(text: string): void
  check(ok: boolean, what: string): void
  blank(): void
}

const WIDTH = 10

export function createPrinter(write: (line: string) => void, colours: boolean): Printer {
  const paint = (code: number) => (text: string) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text)
  const [bold, dim, red, green, cyan] = [1, 2, 31, 32, 36].map(paint) as [Paint, Paint, Paint, Paint, Paint]
  const speech = (name: string, text: string, style: Paint): void => {
    const [first = '', ...rest] = text.split('\n')
    write(`  ${style(name.padEnd(WIDTH))}${first}`)
    for (const line of rest) write(`  ${' '.repeat(WIDTH)}${line}`)
  }
  return {
    title: (text) => write(bold(`\n${text}`)),
    place: (title) => write(dim(`\n  ${title}`)),
    said: (name, text) => speech(name, text, bold),
    decided: (line) => write(dim(`  ${' '.repeat(WIDTH)}· ${line}`)),
    answered: (name, text, note) => {
      speech(name, text, cyan)
      if (note) write(dim(`  ${' '.repeat(WIDTH)}· ${note}`))
    },
    note: (text) => write(dim(`  ${text}`)),
    check: (ok, what) => write(ok ? green(`  ✓ ${what}`) : red(`  ✗ ${what}`)),
    blank: () => write(''),
  }
}

type Paint = (text: string) => string
