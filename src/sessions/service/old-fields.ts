import { DOORS } from '../../core/doors.ts'
import { errorCode } from '../../core/errors.ts'
import { readJson } from '../../core/read-json.ts'

/** A conversation in an older program's form, one file each. */
export interface OldSession {
  readonly key: string
  readonly messages: readonly OldMessage[]
  /** The number of messages that are no longer shown to the model. */
  readonly hidden: number
  readonly summary?: string
  readonly updatedAt?: number
  /** The name that people gave it. */
  readonly title?: string
  /** The numbers, from 1, of the lines or messages that could not be read. */
  readonly damaged: readonly number[]
}

export interface OldMessage {
  readonly role: 'user' | 'assistant'
  readonly text: string
}

export type OldFields = Readonly<Record<string, unknown>>

export function isFields(value: unknown): value is OldFields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Undefined: no JSON. Throws `too_long` for more than is read of a file. */
export function parseJson(text: string): unknown {
  try {
    return readJson(text, DOORS.oldStore)
  } catch (error) {
    if (errorCode(error) === 'too_long') throw error
    return undefined
  }
}

/** Returns a text, or the texts in a list of parts; undefined for any other value. */
export function contentOf(content: unknown): string | undefined {
  if (content === undefined || content === null) return ''
  if (!Array.isArray(content)) return typeof content === 'string' ? content.trim() : undefined
  const texts = content.map(partOf)
  return texts.includes(undefined) ? undefined : texts.filter((text) => text !== '').join('\n\n')
}

function partOf(part: unknown): string | undefined {
  if (typeof part === 'string') return part.trim()
  if (!isFields(part)) return undefined
  return part.text === undefined || typeof part.text === 'string' ? textOf(part.text) : undefined
}

/** Returns the role and the keys of a line, never its text. */
export function outlineOf(value: OldFields): string {
  const { role } = value
  const outline = `keys ${Object.keys(value).slice(0, 6).join(', ') || 'none'}`
  return typeof role === 'string' ? `role ${role.slice(0, 20)}, ${outline}` : outline
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

/** Returns a time in ms since the epoch, from a number or a text. */
export function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'number' ? value : Date.parse(textOf(value))
  return Number.isSafeInteger(at) && at > 0 ? at : undefined
}
