import { invalid } from './api-error.ts'
import type { MessagesRequest } from './request.ts'
import type { Quirks } from './script.ts'

/** A server of another vendor that speaks the Messages API; what each is reported to do is in `MODEL-FACTS.md`. */
export type Imitator = 'ollama' | 'kimi' | 'deepseek' | 'llama-cpp' | 'minimax'

interface Imitation {
  /** The quirks of every answer; those of a reply go before. */
  readonly quirks: Quirks
  /** The refusal of a call without a thought in front of it, by the number of its message. */
  readonly wantsThoughts?: (index: number) => string
}

export const IMITATIONS: Readonly<Record<Imitator, Imitation>> = {
  ollama: { quirks: { signatures: 'none' } },
  kimi: {
    quirks: { signatures: 'none' },
    wantsThoughts: (index) =>
      `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${index}`,
  },
  deepseek: {
    quirks: { thoughts: 'signed' },
    wantsThoughts: () => 'The `content[].thinking` in the thinking mode must be passed back to the API.',
  },
  'llama-cpp': { quirks: { signatures: 'empty', noInput: true } },
  minimax: { quirks: { thoughts: 'text' } },
}

/** Checks what an imitator checks of thoughts. */
export function checkImitated(imitator: Imitator, { messages }: MessagesRequest): void {
  const { wantsThoughts } = IMITATIONS[imitator]
  if (wantsThoughts === undefined) return
  const bare = messages.findIndex(({ content }) => {
    if (typeof content === 'string') return false
    return content.some(({ type }) => type === 'tool_use') && !content.some(({ type }) => type === 'thinking')
  })
  if (bare >= 0) throw invalid(wantsThoughts(bare))
}
