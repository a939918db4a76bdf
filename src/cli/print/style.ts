export interface Style {
  bold(text: string): string
  dim(text: string): string
  good(text: string): string
  bad(text: string): string
}

export interface Terminal {
  readonly isTTY: boolean
  readonly env: Readonly<Record<string, string | undefined>>
}

/** Returns colours for terminals only, and none if `NO_COLOR` is set (no-color.org: to anything but the empty text). */
export function styleFor({ isTTY, env }: Terminal): Style {
  const colours = isTTY && !env.NO_COLOR && env.TERM !== 'dumb'
  const paint = (code: number) => (text: string) => (colours ? `\u001b[${code}m${text}\u001b[0m` : text)
  return { bold: paint(1), dim: paint(2), good: paint(32), bad: paint(31) }
}
