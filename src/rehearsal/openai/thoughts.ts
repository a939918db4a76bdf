import { joined } from './sent-steps.ts'

/**
 * The place of thoughts in an answer. `details` and `blocks`: beside `reasoning` or `reasoning_content`, with their
 * signatures. `parts`: in a list of content. `marked` and `unopened`: in the text, with or without the mark in front.
 */
export type ThoughtForm =
  | ('reasoning_content' | 'reasoning' | 'details' | 'blocks')
  | ('parts' | 'marked' | 'unopened' | 'hidden')

/** The thoughts of one answer, and their signature. */
export interface Thoughts {
  readonly form: ThoughtForm
  readonly signature: string
}

/** Yields the deltas in which a thought goes out. */
export function* thoughtDeltas(
  { form, signature }: Thoughts,
  thought: string,
  split: (text: string) => readonly string[],
): Generator<object> {
  switch (form) {
    case 'hidden':
      return
    case 'marked':
    case 'unopened':
      for (const content of split(marked(form, thought))) yield { content }
      return
    case 'parts':
      for (const text of split(thought)) yield { content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] }
      return
    case 'details':
      for (const text of split(thought)) yield { content: '', reasoning: text, reasoning_details: [readable(text)] }
      yield { content: '', reasoning_details: [encrypted(signature)] }
      return
    case 'blocks':
      for (const thinking of split(thought)) {
        yield { reasoning_content: thinking, thinking_blocks: [{ type: 'thinking', thinking, signature: null }] }
      }
      yield { reasoning_content: '', thinking_blocks: [{ type: 'thinking', thinking: '', signature }] }
      return
    default:
      for (const piece of split(thought)) yield { content: null, [form]: piece }
  }
}

/** Returns the fields of a whole answer: its content and its thoughts. */
export function thoughtFields(
  { form, signature }: Thoughts,
  thought: string,
  content: string | null,
): Readonly<Record<string, unknown>> {
  if (thought === '') return { content }
  switch (form) {
    case 'hidden':
      return { content }
    case 'marked':
    case 'unopened':
      return { content: `${marked(form, thought)}${content ?? ''}` }
    case 'parts': {
      const said = content === null ? [] : [{ type: 'text', text: content }]
      return { content: [{ type: 'thinking', thinking: [{ type: 'text', text: thought }] }, ...said] }
    }
    case 'details': {
      const details = [readable(thought), encrypted(signature)]
      return { content, reasoning: thought, reasoning_details: details }
    }
    case 'blocks':
      return {
        content,
        reasoning_content: thought,
        thinking_blocks: [{ type: 'thinking', thinking: thought, signature }],
      }
    default:
      return { content, [form]: thought }
  }
}

/** Returns those fields that must come back as they are. */
export function fieldsToReturn(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const kept = Object.entries(fields).filter(([name]) => name === 'reasoning_details' || name === 'thinking_blocks')
  return Object.fromEntries(kept.map(([name, value]) => [name, joined(value)]))
}

function marked(form: 'marked' | 'unopened', thought: string): string {
  return `${form === 'marked' ? '<think>\n' : ''}${thought}\n</think>\n\n`
}

function readable(text: string): object {
  return { type: 'reasoning.text', text, format: 'google-gemini-v1', index: 0 }
}

function encrypted(data: string): object {
  return { type: 'reasoning.encrypted', data, format: 'google-gemini-v1', index: 1 }
}
