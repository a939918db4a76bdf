import { basename } from 'node:path'
import { ParleyError } from '../core/errors.ts'

export type ConfigPath = readonly PropertyKey[]

/** One thing that is wrong, where it stands, and what to do about it. */
export interface Mistake {
  readonly path: ConfigPath
  /** A sentence that names the path itself. */
  readonly message: string
  /** The text is right, and what it refers to is not there. */
  readonly missing?: true
}

/** `channels.telegram.accounts.default`, `routing.dispatch[2].match`. */
export function formatPath(path: ConfigPath): string {
  return path.reduce<string>((text, key) => {
    if (typeof key === 'number') return `${text}[${key}]`
    return text === '' ? String(key) : `${text}.${String(key)}`
  }, '')
}

/** The path a message begins with, as `formatPath` writes it; of one with unusual names, as much as can be read. */
export function leadingPath(message: string): ConfigPath {
  const [text = ''] = /^\w+(?:\.[\w-]+|\[\d+\])*/.exec(message) ?? []
  return (text.match(/[\w-]+/g) ?? []).map((key, index) => (index > 0 && /^\d+$/.test(key) ? Number(key) : key))
}

/** Limits the mistakes in one message; the others show once these are mended. */
const SHOWN = 10

/** Returns the line of a mistake, counted from 1; undefined without a file. */
export type LineOf = (path: ConfigPath) => number | undefined

/**
 * The `config` error that lists mistakes, one a line, `<file>:<line>: <message>` so that editors can jump to it. Only
 * of the few that it lists is the message read.
 */
export function configError<One extends { readonly message: string }>(
  file: string | undefined,
  mistakes: readonly One[],
  lineOf: (mistake: One) => number | undefined,
): ParleyError {
  const inOrder = mistakes
    .map((mistake) => ({ line: lineOf(mistake), mistake }))
    .sort((left, right) => (left.line ?? 0) - (right.line ?? 0))
  const lines = inOrder.slice(0, SHOWN).map(({ line, mistake: { message } }) => {
    if (file === undefined) return message
    return line === undefined ? `${file}: ${message}` : `${file}:${line}: ${message}`
  })
  const more = mistakes.length - lines.length
  if (more > 0) lines.push(`and ${more} more in ${basename(file ?? 'the configuration')}`)
  return new ParleyError('config', lines.join('\n'))
}
