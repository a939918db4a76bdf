import type { Introspection, RememberedText } from '../core/memory.ts'
import type { ModelToolCall, ToolSpec } from '../core/model.ts'

type Writing = { -readonly [Key in keyof Pick<Introspection, 'working' | 'description'>]: Introspection[Key] } & {
  readonly saved: RememberedText[]
  readonly changed: (RememberedText & { readonly no: number })[]
  readonly removed: number[]
  readonly refused: string[]
}

export function nothingYet(): Writing {
  return { saved: [], changed: [], removed: [], refused: [] }
}

const TEXT = { type: 'string' }
const LINES = { type: 'array', items: { type: 'number' }, description: 'The numbers of the lines it comes from.' }

/** The only tools of a checkpoint (S38). */
export const CHECKPOINT_TOOLS: readonly ToolSpec[] = [
  tool('memory_save', 'Keeps one fact for long.', { text: TEXT, lines: LINES }),
  tool('memory_replace', 'Puts another text in the place of a known fact that is out of date.', {
    number: { type: 'number' },
    text: TEXT,
    lines: LINES,
  }),
  tool('memory_remove', 'Takes a known fact away that is not true any more.', { number: { type: 'number' } }),
  tool('working_memory', 'Replaces the working memory; an empty text ends it.', { text: TEXT }),
  tool('describe', 'Describes the conversation in at most eight words.', { text: TEXT }),
]

function tool(name: string, description: string, properties: Readonly<Record<string, object>>): ToolSpec {
  const parameters = { type: 'object', properties, required: Object.keys(properties), additionalProperties: false }
  return { name, description, parameters }
}

/** Notes what a call asks for; returns what the model is answered. */
export function take(
  writing: Writing,
  { name, args }: ModelToolCall,
): { readonly answer: string; readonly ok: boolean } {
  const given = typeof args === 'object' && args !== null ? (args as Readonly<Record<string, unknown>>) : {}
  const { text, number } = given
  const lines = Array.isArray(given.lines) ? given.lines.filter((line) => Number.isSafeInteger(line)) : []
  const noted = { answer: 'noted', ok: true }
  if (name === 'memory_remove' && isNumber(number)) writing.removed.push(number)
  else if (typeof text !== 'string') return refusal(writing, name)
  else if (name === 'memory_save') writing.saved.push({ text, lines })
  else if (name === 'memory_replace' && isNumber(number)) writing.changed.push({ no: number, text, lines })
  else if (name === 'working_memory') writing.working = text
  else if (name === 'describe') writing.description = text
  else return refusal(writing, name)
  return noted
}

function refusal(writing: Writing, name: string): { readonly answer: string; readonly ok: false } {
  if (CHECKPOINT_TOOLS.some((one) => one.name === name)) return { answer: 'the arguments are not right', ok: false }
  writing.refused.push(name)
  return { answer: `there is no tool ${name} here`, ok: false }
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value)
}
