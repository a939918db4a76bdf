import { inWords } from '../../src/core/content-words.ts'
import type { ModelMessage } from '../../src/core/model.ts'

/** Returns what a message to the model says, its files in words; of tool results only that they are some. */
export function said(message: ModelMessage): string {
  if (message.role === 'tool') return 'tool'
  return message.role === 'user' ? inWords(message.content) : message.text
}
