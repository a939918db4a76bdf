import type { Content } from '../../core/content.ts'
import { nameOf } from '../../core/content-words.ts'
import type { MediaId } from '../../core/ids.ts'
import type { ModelMessage } from '../../core/model.ts'

/**
 * Returns the messages with a line in the place of each of these pictures, from which the model knows that it is not
 * shown it.
 */
export function withoutImages(
  messages: readonly ModelMessage[],
  isLeftOut: (media: MediaId) => boolean,
): readonly ModelMessage[] {
  const inLines = (content: Content): Content =>
    content.map((part) =>
      part.type === 'image' && isLeftOut(part.media)
        ? { type: 'text', text: `${nameOf(part)} (you cannot be shown this picture)` }
        : part,
    )
  return messages.map((message): ModelMessage => {
    if (message.role === 'user') return { role: 'user', content: inLines(message.content) }
    if (message.role === 'assistant') return message
    return { role: 'tool', results: message.results.map((one) => ({ ...one, content: inLines(one.content) })) }
  })
}

/** Returns what a message says: its content, or those of its results. */
export function contentsOf(message: ModelMessage): readonly Content[] {
  if (message.role === 'user') return [message.content]
  return message.role === 'tool' ? message.results.map(({ content }) => content) : []
}
