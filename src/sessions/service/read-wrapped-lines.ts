import { ParleyError } from '../../core/errors.ts'
import {
  contentOf,
  isFields,
  type OldFields,
  type OldMessage,
  type OldSession,
  outlineOf,
  textOf,
  timeOf,
} from './old-fields.ts'

/** A line of a file, by its number from 1; undefined where it is no JSON. */
export interface OldLine {
  readonly number: number
  readonly value: unknown
}

/** A line that wraps what it holds: `{ "type": "message", "id": …, "parentId": …, "message": { … } }`. */
interface Entry {
  readonly type: string
  readonly fields: OldFields
  readonly number: number
}

type Unwrapped = Pick<OldSession, 'messages' | 'hidden' | 'summary' | 'updatedAt' | 'damaged'>

/** Returns true for a file whose lines wrap their messages, as OpenClaw writes them. */
export function isWrapped(lines: readonly OldLine[]): boolean {
  const whole = lines.flatMap(({ value }) => (isFields(value) ? [value] : []))
  return (
    whole.some(({ type }) => type === 'session' || type === 'message') && whole.every(({ role }) => role === undefined)
  )
}

/**
 * Reads the branch that was in use: each line names the one before it, and a branch that was left has lines of its own.
 * Older files name none and are read in order. Of the newest compaction the summary stands for what came before the
 * lines that it kept. Lines of other types and messages of other roles say nothing that anybody said.
 */
export function readWrappedLines(lines: readonly OldLine[]): Unwrapped {
  const read = lines.map(({ number, value }) => ({ number, entry: entryOf(value, number) }))
  const damaged = read.flatMap(({ number, entry }) => (entry === undefined ? [number] : []))
  const branch = branchOf(read.flatMap(({ entry }) => (entry && entry.type !== 'session' ? [entry] : [])))
  const compaction = branch.findLast(({ type }) => type === 'compaction')
  const kept = compaction && branch.find(({ fields }) => fields.id === compaction.fields.firstKeptEntryId)
  const messages: OldMessage[] = []
  let hidden = 0
  for (const entry of branch) {
    if (entry === (kept ?? compaction)) hidden = messages.length
    if (entry.type !== 'message') continue
    const message = messageOf(entry)
    if (message !== undefined && !repeats(entry, message, messages)) messages.push(message)
  }
  const summary = textOf(compaction?.fields.summary)
  const updatedAt = timeOf(branch.at(-1)?.fields.timestamp)
  return {
    ...{ messages, hidden, damaged },
    ...(summary === '' ? {} : { summary }),
    ...(updatedAt === undefined ? {} : { updatedAt }),
  }
}

function entryOf(value: unknown, number: number): Entry | undefined {
  return isFields(value) && typeof value.type === 'string' ? { type: value.type, fields: value, number } : undefined
}

function branchOf(entries: readonly Entry[]): readonly Entry[] {
  const ids = new Map(entries.map((entry, index) => [entry.fields.id, index]))
  if (entries.some(({ fields }) => typeof fields.id !== 'string')) return entries
  const jump = entries.findLast(({ type, fields }) => type === 'leaf' && ids.has(fields.targetId))
  const last = entries.findLastIndex(({ type, fields }) => type !== 'leaf' && fields.appendMode !== 'side')
  const branch = new Set<number>()
  for (let at = jump ? (ids.get(jump.fields.targetId) ?? last) : last; at >= 0 && !branch.has(at); ) {
    branch.add(at)
    const parent = entries[at]?.fields.parentId
    // A line that was damaged is named and not there: what stands before it is read on.
    at = typeof parent === 'string' ? (ids.get(parent) ?? at - 1) : -1
  }
  return entries.filter((_entry, index) => branch.has(index))
}

/** Returns a message that somebody said; undefined for what nobody said. */
function messageOf({ fields, number }: Entry): OldMessage | undefined {
  const { message } = fields
  const text = isFields(message) ? contentOf(message.content) : undefined
  if (!isFields(message) || typeof message.role !== 'string')
    throw new ParleyError('invalid', `its line ${number} has a form that is not known: ${outlineOf(fields)}`)
  const { role } = message
  if (role !== 'user' && role !== 'assistant') return undefined
  if (text === undefined)
    throw new ParleyError('invalid', `its line ${number} has a form that is not known: ${outlineOf(message)}`)
  return text === '' ? undefined : { role, text }
}

/** A text that was delivered is written once more, as a mirror of the answer before it. */
function repeats({ fields }: Entry, { role, text }: OldMessage, messages: readonly OldMessage[]): boolean {
  const mirror = isFields(fields.message) && fields.message.model === 'delivery-mirror'
  return mirror && role === 'assistant' && messages.findLast((one) => one.role === 'assistant')?.text === text
}
