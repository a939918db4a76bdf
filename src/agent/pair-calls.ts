import { textContent } from '../core/content.ts'
import { ParleyError } from '../core/errors.ts'
import type { ModelMessage, ModelToolCall, ModelToolResult } from '../core/model.ts'

interface PairedMessages {
  readonly messages: readonly ModelMessage[]
  /** Results made up or dropped; 0 unless the history was damaged. */
  readonly repairs: number
}

type AssistantMessage = Extract<ModelMessage, { role: 'assistant' }>

/**
 * Nothing but texts: there is neither a call to pair nor one to repeat. Earlier turns keep no calls (C27), so that this
 * is true of most requests, however long they are.
 */
export function isTalk(messages: readonly ModelMessage[]): boolean {
  for (const message of messages) {
    if (message.role === 'assistant' ? message.calls.length > 0 : message.role !== 'user') return false
  }
  return true
}

/**
 * Makes every tool call answered by exactly one result right behind it, and drops results nobody asked for: a provider
 * refuses a history with one dangling call for ever. Run before each request. Throws `invalid` for a role that is none
 * of ours (C24).
 */
export function pairCalls(messages: readonly ModelMessage[]): PairedMessages {
  const paired: ModelMessage[] = []
  let repairs = 0
  for (const [index, message] of messages.entries()) {
    switch (message.role) {
      case 'user':
        paired.push(message)
        break
      case 'assistant': {
        const answered = answer(message, messages[index + 1])
        paired.push(...answered.messages)
        repairs += answered.repairs
        break
      }
      case 'tool':
        // Taken with the assistant message before it; anywhere else it answers nothing.
        if (messages[index - 1]?.role !== 'assistant') repairs += message.results.length
        break
      default:
        throw new ParleyError('invalid', `A message of the history has the unknown role "${roleOf(message)}".`)
    }
  }
  return { messages: paired, repairs }
}

function answer(message: AssistantMessage, next: ModelMessage | undefined): PairedMessages {
  const given = next?.role === 'tool' ? next.results : []
  if (message.calls.length === 0) return { messages: [message], repairs: given.length }
  const kept = message.calls.map((call) => given.find((result) => result.id === call.id))
  const missing = kept.filter((result) => result === undefined).length
  const surplus = given.length - (kept.length - missing)
  const results = message.calls.map((call, index) => kept[index] ?? lost(call))
  return { messages: [message, { role: 'tool', results }], repairs: missing + surplus }
}

function lost(call: ModelToolCall): ModelToolResult {
  const content = textContent('No result of this call is on record: its outcome is unknown.')
  return { id: call.id, content, isError: true }
}

function roleOf(message: { readonly role: string }): string {
  return message.role
}
