import type { WireMessage } from './anthropic-messages.ts'

/** Asks the provider to keep the prompt up to here for five minutes; reading it again costs a tenth. */
export const CACHE_MARK = { cache_control: { type: 'ephemeral' } } as const

/**
 * Marks the end of the messages. The next request of the conversation begins with the same bytes, so that the provider
 * finds them again: it looks for an earlier end among the twenty blocks before a mark. The system prompt has a mark of
 * its own, which all conversations of an agent share, tools included.
 */
export function markEnd(messages: readonly WireMessage[]): WireMessage[] {
  return messages.map((message, at) => {
    if (at < messages.length - 1) return message
    const { role, content } = message
    return {
      role,
      content: content.map((block, nth) => (nth < content.length - 1 ? block : { ...block, ...CACHE_MARK })),
    }
  })
}
