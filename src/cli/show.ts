import type { CliPorts } from './ports.ts'
import { broken } from './print/columns.ts'
import { toJson } from './print/plain.ts'
import { type Style, styleFor } from './print/style.ts'

/** The ports of a command that only reads. */
export type ReadPorts = Pick<CliPorts, 'env' | 'now' | 'stdout' | 'stderr' | 'load' | 'openOffline'>

export interface ReadOptions {
  readonly config?: string
  readonly json?: boolean
}

export interface PrintedAnswer {
  /** The answer that `--json` prints unchanged. */
  readonly value: unknown
  lines(style: Style): readonly string[]
}

/** Writes an answer to stdout, as JSON or as lines; without lines it writes nothing. */
export function show(
  { stdout, env }: Pick<CliPorts, 'stdout' | 'env'>,
  { json }: ReadOptions,
  answer: PrintedAnswer,
): void {
  if (json) {
    stdout.write(toJson(answer.value))
    return
  }
  const lines = answer.lines(styleFor({ isTTY: stdout.isTTY, env }))
  if (lines.length > 0) stdout.write(`${lines.join('\n')}\n`)
}

/** Breaks lines between words, for a terminal, where they are wider than it. */
export function fitted(stdout: CliPorts['stdout'], lines: readonly string[]): readonly string[] {
  return stdout.isTTY ? lines.flatMap((line) => broken(line, widthOf(stdout))) : lines
}

const WIDTH = 80

/** Returns the columns of the terminal, or those of one where the answer goes elsewhere. */
export function widthOf({ isTTY, columns }: CliPorts['stdout']): number {
  return isTTY && columns ? columns : WIDTH
}
