import { ParleyError } from '../../core/errors.ts'
import type { OldFile } from '../../core/import.ts'
import {
  contentOf,
  isFields,
  type OldFields,
  type OldMessage,
  type OldSession,
  outlineOf,
  parseJson,
  textOf,
  timeOf,
} from './old-fields.ts'
import { isWrapped, type OldLine, readWrappedLines } from './read-wrapped-lines.ts'

/**
 * Reads `.json` (`{ key, messages, summary, updated }` as PicoClaw writes it, `{ sessionId, name, messages }` as Molf
 * does, or a list of messages) and `.jsonl` (a message a line, with key, summary and `skip` in the file beside it, or
 * the wrapped lines of OpenClaw). The key of an index goes before the one inside, that before the file's name. Tool
 * messages and messages without text are left out; a torn or damaged line is skipped. Throws `invalid` with the reason
 * if nothing can be read, or if a line is whole but no message of this form: half a conversation must not look
 * complete.
 */
export function readOldSession({ name, text, meta, key, unread }: OldFile): OldSession {
  if (unread !== undefined) throw new ParleyError('invalid', unread)
  const session = name.endsWith('.jsonl') ? readLines(name, text, meta) : readWhole(name, text)
  if (session.messages.length === 0 && session.summary === undefined) {
    throw new ParleyError('invalid', 'it has no message with text')
  }
  const named = key === undefined ? session : { ...session, key }
  if (named.key.length > LONGEST_KEY)
    throw new ParleyError('invalid', `its key is longer than ${LONGEST_KEY} characters`)
  return named
}

/** Longer than any key of a chat and a topic; keys appear in labels and lists. */
const LONGEST_KEY = 500

function readWhole(name: string, text: string): OldSession {
  const parsed = parseJson(text)
  if (parsed === undefined) throw new ParleyError('invalid', 'it is no JSON')
  const fields = isFields(parsed) ? parsed : {}
  const list = Array.isArray(parsed) ? parsed : fields.messages
  if (!Array.isArray(list)) throw new ParleyError('invalid', 'it has no list of messages')
  const lines = list.map((value: unknown, index) => ({ number: index + 1, value }))
  const read = readMessages(lines, fields.skip)
  return { ...read, ...readFacts(name, fields), ...readClientFacts(fields, list) }
}

function readLines(name: string, text: string, meta: string | undefined): OldSession {
  const lines = text
    .split('\n')
    .map((line, index) => ({ number: index + 1, line }))
    .filter(({ line }) => line.trim() !== '')
    .map(({ number, line }) => ({ number, value: parseJson(line) }))
  if (lines.length > 0 && lines.every(({ value }) => value === undefined)) {
    throw new ParleyError('invalid', 'none of its lines is JSON')
  }
  const fields = meta === undefined ? {} : parseJson(meta)
  if (!isFields(fields)) throw new ParleyError('invalid', 'the file beside it that names its key is damaged')
  const facts = readFacts(name, fields)
  return { ...facts, ...(isWrapped(lines) ? readWrappedLines(lines) : readMessages(lines, fields.skip)) }
}

function readFacts(name: string, fields: OldFields): Pick<OldSession, 'key' | 'summary' | 'updatedAt'> {
  const summary = textOf(fields.summary)
  const updatedAt = timeOf(fields.updated_at ?? fields.updated ?? fields.lastActiveAt)
  return {
    key: textOf(fields.key) || keyOfName(name),
    ...(summary === '' ? {} : { summary }),
    ...(updatedAt === undefined ? {} : { updatedAt }),
  }
}

/** Returns the key of a file for which nothing names one. */
export function keyOfName(file: string): string {
  return (file.split('/').at(-1) ?? file).replace(/\.jsonl?$/, '')
}

/**
 * Molf knows a session by an id that no chat has, and gives it a name. Its newest pair of messages that are marked as
 * summary stands for everything before them.
 */
function readClientFacts(
  { sessionId, name }: OldFields,
  list: readonly unknown[],
): Partial<Pick<OldSession, 'key' | 'hidden' | 'title'>> {
  const id = textOf(sessionId)
  if (id === '') return {}
  const isSummary = (value: unknown, role: string) => isFields(value) && value.summary === true && value.role === role
  const summed = list.findLastIndex((value) => isSummary(value, 'user'))
  const before = summed < 0 ? [] : list.slice(0, summed)
  const title = textOf(name)
  return {
    key: `molf:${id}`,
    hidden: before.filter((value) => isSaid(value)).length,
    ...(title === '' ? {} : { title }),
  }
}

function isSaid(value: unknown): boolean {
  return isFields(value) && (value.role === 'user' || value.role === 'assistant') && contentOf(value.content) !== ''
}

/** `skip` is the number of lines, whatever they hold, that its model was no longer shown. */
function readMessages(lines: readonly OldLine[], skip: unknown): Pick<OldSession, 'messages' | 'hidden' | 'damaged'> {
  const messages: OldMessage[] = []
  const damaged: number[] = []
  const skipped = typeof skip === 'number' ? skip : 0
  let hidden = 0
  for (const [index, { number, value }] of lines.entries()) {
    if (index === Math.floor(skipped)) hidden = messages.length
    if (!isFields(value)) {
      damaged.push(number)
      continue
    }
    const { role, text } = readMessage(value, number)
    if (text !== '' && (role === 'user' || role === 'assistant')) messages.push({ role, text })
  }
  return { messages, hidden: skipped >= lines.length ? messages.length : hidden, damaged }
}

function readMessage(value: OldFields, number: number): { readonly role: string; readonly text: string } {
  const { role } = value
  const text = contentOf(value.content)
  if (typeof role === 'string' && ROLES.includes(role) && text !== undefined) return { role, text }
  throw new ParleyError('invalid', `its message ${number} has a form that is not known: ${outlineOf(value)}`)
}

/** The roles; those other than `user` and `assistant` are left out. */
const ROLES: readonly string[] = ['user', 'assistant', 'system', 'developer', 'tool', 'toolResult', 'function']
