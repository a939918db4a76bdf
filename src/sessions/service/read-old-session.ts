import { ParleyError } from '../../core/errors.ts'
import type { OldFile } from '../../core/import.ts'

/** A conversation in an older program's form, one file each. */
export interface OldSession {
  readonly key: string
  readonly messages: readonly OldMessage[]
  /** The number of messages that are no longer shown to the model. */
  readonly hidden: number
  readonly summary?: string
  readonly updatedAt?: number
  /** The number of lines that could not be read. */
  readonly skipped: number
}

export interface OldMessage {
  readonly role: 'user' | 'assistant'
  readonly text: string
}

type Fields = Readonly<Record<string, unknown>>

/**
 * Reads `.json` (`{ key, messages, summary, updated }` or a list of messages) and `.jsonl` (a message a line; key,
 * summary and `skip` in the file beside it). The key inside wins over the file's name. Tool messages and messages
 * without text are left out; a torn or damaged line is skipped. Throws `invalid` with the reason if nothing can be
 * read, or if a line is whole but no message of this form: half a conversation must not look complete.
 */
export function readOldSession({ name, text, meta }: OldFile): OldSession {
  const session = name.endsWith('.jsonl') ? readLines(name, text, meta) : readWhole(name, text)
  if (session.messages.length === 0 && session.summary === undefined) {
    throw new ParleyError('invalid', 'it has no message with text')
  }
  return session
}

function readWhole(name: string, text: string): OldSession {
  const parsed = parse(text)
  if (parsed === undefined) throw new ParleyError('invalid', 'it is no JSON')
  const fields = isFields(parsed) ? parsed : {}
  const list = Array.isArray(parsed) ? parsed : fields.messages
  if (!Array.isArray(list)) throw new ParleyError('invalid', 'it has no list of messages')
  return { ...readMessages(list), ...readFacts(name, fields) }
}

function readLines(name: string, text: string, meta: string | undefined): OldSession {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const values = lines.map(parse)
  if (lines.length > 0 && values.every((value) => value === undefined)) {
    throw new ParleyError('invalid', 'none of its lines is JSON')
  }
  const beside = meta === undefined ? undefined : parse(meta)
  return { ...readMessages(values), ...readFacts(name, isFields(beside) ? beside : {}) }
}

function readFacts(name: string, fields: Fields): Pick<OldSession, 'key' | 'hidden' | 'summary' | 'updatedAt'> {
  const key = textOf(fields.key) || name.replace(/\.jsonl?$/, '')
  if (key.length > LONGEST_KEY) throw new ParleyError('invalid', `its key is longer than ${LONGEST_KEY} characters`)
  const summary = textOf(fields.summary)
  const updatedAt = timeOf(fields.updated_at ?? fields.updated)
  return {
    key,
    hidden: typeof fields.skip === 'number' && fields.skip > 0 ? Math.floor(fields.skip) : 0,
    ...(summary === '' ? {} : { summary }),
    ...(updatedAt === undefined ? {} : { updatedAt }),
  }
}

/** Longer than any key of a chat and a topic; keys appear in labels and lists. */
const LONGEST_KEY = 500

function readMessages(values: readonly unknown[]): Pick<OldSession, 'messages' | 'skipped'> {
  const messages: OldMessage[] = []
  let skipped = 0
  for (const [index, value] of values.entries()) {
    if (!isFields(value)) {
      skipped++
      continue
    }
    const { role } = value
    const text = contentOf(value.content)
    if (typeof role !== 'string' || !ROLES.includes(role) || text === undefined) {
      throw new ParleyError('invalid', `its message ${index + 1} has a form that is not known: ${outlineOf(value)}`)
    }
    if (text !== '' && (role === 'user' || role === 'assistant')) messages.push({ role, text })
  }
  return { messages, skipped }
}

/** The roles; those other than `user` and `assistant` are left out. */
const ROLES: readonly string[] = ['user', 'assistant', 'system', 'developer', 'tool', 'toolResult', 'function']

/** Returns a text, or the texts in a list of parts; undefined for any other value. */
function contentOf(content: unknown): string | undefined {
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
function outlineOf(value: Fields): string {
  const { role } = value
  const outline = `keys ${Object.keys(value).slice(0, 6).join(', ') || 'none'}`
  return typeof role === 'string' ? `role ${role.slice(0, 20)}, ${outline}` : outline
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : ''
}

function timeOf(value: unknown): number | undefined {
  const at = typeof value === 'number' ? value : Date.parse(textOf(value))
  return Number.isSafeInteger(at) && at > 0 ? at : undefined
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
