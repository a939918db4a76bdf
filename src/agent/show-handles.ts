import type { Content } from '../core/content.ts'
import { shortHandle } from '../core/ids.ts'
import type { ModelMessage } from '../core/model.ts'

/** Returns the messages with the handle of each file behind it, by which a tool can send it. */
export function withHandles(messages: readonly ModelMessage[]): readonly ModelMessage[] {
  return messages.map((message): ModelMessage => {
    if (message.role === 'user') return { role: 'user', content: named(message.content) }
    if (message.role === 'assistant') return message
    return { role: 'tool', results: message.results.map((one) => ({ ...one, content: named(one.content) })) }
  })
}

function named(content: Content): Content {
  if (content.every(({ type }) => type === 'text')) return content
  return content.flatMap((part) =>
    part.type === 'text' ? [part] : [part, { type: 'text', text: `[its handle: ${shortHandle(part.media)}]` }],
  )
}
