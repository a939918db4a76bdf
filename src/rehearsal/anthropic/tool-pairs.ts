import { invalid } from './api-error.ts'
import type { ContentBlock, RequestMessage } from './request.ts'

/**
 * Checks that the very next user message answers every `tool_use` with a `tool_result`, and that every result answers a
 * call of the message right before it. `messages` are already merged by role.
 */
export function checkToolPairs(messages: readonly RequestMessage[]): void {
  const seen = new Set<string>()
  for (const [index, message] of messages.entries()) {
    const calls = idsOf(message, 'tool_use')
    for (const id of calls) {
      if (seen.has(id)) throw invalid('messages: `tool_use` ids must be unique')
      seen.add(id)
    }
    checkAnswered(calls, messages[index + 1], index)
    checkAsked(message, messages[index - 1], index)
  }
}

function checkAnswered(calls: readonly string[], next: RequestMessage | undefined, index: number): void {
  const answered = new Set(next === undefined ? [] : idsOf(next, 'tool_result'))
  const open = calls.filter((id) => !answered.has(id))
  if (open.length === 0) return
  throw invalid(
    `messages.${index}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. ` +
      'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  )
}

function checkAsked(message: RequestMessage, previous: RequestMessage | undefined, index: number): void {
  const asked = new Set(previous === undefined ? [] : idsOf(previous, 'tool_use'))
  const answered = new Set<string>()
  for (const [nth, block] of listOf(message).entries()) {
    if (block.type !== 'tool_result') continue
    const id = block.tool_use_id ?? ''
    if (!asked.has(id)) {
      throw invalid(
        `messages.${index}.content.${nth}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. ` +
          'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
      )
    }
    if (answered.has(id)) {
      throw invalid(
        `messages.${index}.content.${nth}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
      )
    }
    answered.add(id)
  }
}

function idsOf(message: RequestMessage, type: 'tool_use' | 'tool_result'): string[] {
  return listOf(message)
    .filter((block) => block.type === type)
    .map((block) => (type === 'tool_use' ? block.id : block.tool_use_id) ?? '')
}

function listOf({ content }: RequestMessage): readonly ContentBlock[] {
  return typeof content === 'string' ? [] : content
}
