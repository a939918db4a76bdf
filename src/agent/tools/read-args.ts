import { ParleyError } from '../../core/errors.ts'

/**
 * The arguments of a call as the model gave them: any JSON object. Each reader throws `invalid` in words for the model.
 */
export type ToolArgs = Readonly<Record<string, unknown>>

export function readText(args: ToolArgs, name: string): string {
  const value = args[name]
  if (typeof value === 'string' && value.trim() !== '') return value
  throw new ParleyError('invalid', `${name} must be a text that is not empty.`)
}

/** Also a number written as text; `undefined` where none is given. */
export function readNumber(args: ToolArgs, name: string): number | undefined {
  const value = args[name]
  if (value === undefined || value === null) return undefined
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  if (typeof number === 'number' && Number.isFinite(number)) return number
  throw new ParleyError('invalid', `${name} must be a number.`)
}

export function readFlag(args: ToolArgs, name: string): boolean {
  const value = args[name] ?? false
  if (typeof value === 'boolean') return value
  throw new ParleyError('invalid', `${name} must be true or false.`)
}

/** Returns the texts of a list, what is no text left out; a text by itself is a list of one. */
export function readTexts(args: ToolArgs, name: string): readonly string[] | undefined {
  const value = args[name]
  if (value === undefined || value === null) return undefined
  const list = typeof value === 'string' ? [value] : value
  if (Array.isArray(list)) return list.filter((item) => typeof item === 'string')
  throw new ParleyError('invalid', `${name} must be a list of texts.`)
}
