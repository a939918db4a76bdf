import type { ChatRequest } from './request.ts'

export interface PromptUsage {
  readonly prompt_tokens: number
  /** The part of them that an earlier prompt began with as well. */
  readonly cached_tokens: number
}

interface Prompt {
  readonly owner: string
  readonly text: string
  readonly until: number
}

const charactersPerToken = 4
const leastTokens = 1_024
const step = 128
const lifeMs = 600_000
/** The estimate for a picture, whatever its size. */
const pictureTokens = 1_105

export function tokensIn(text: string): number {
  return Math.ceil(text.length / charactersPerToken)
}

/**
 * Counts prompt caching as the API documents it: it happens by itself, for beginnings of at least 1,024 tokens in steps
 * of 128 that an earlier request of the same key and model had as well, a few minutes long.
 */
export class PromptPrefixes {
  #prompts: readonly Prompt[] = []

  count(request: ChatRequest, { apiKey, at }: { readonly apiKey: string; readonly at: number }): PromptUsage {
    const { text, pictures } = flattened(request)
    const owner = `${apiKey} ${request.model}`
    const alive = this.#prompts.filter(({ until }) => until > at)
    const shared = alive.map((earlier) => (earlier.owner === owner ? sharedLength(earlier.text, text) : 0))
    const tokens = Math.floor(Math.max(0, ...shared) / charactersPerToken)
    this.#prompts = [...alive, { owner, text, until: at + lifeMs }]
    return {
      prompt_tokens: tokensIn(text) + pictures * pictureTokens,
      cached_tokens: tokens < leastTokens ? 0 : tokens - (tokens % step),
    }
  }
}

/** Returns the prompt in the order in which the model reads it, pictures by a few characters of their own. */
function flattened({ tools = [], messages }: ChatRequest): { text: string; pictures: number } {
  let pictures = 0
  const text = JSON.stringify([tools, messages], (key, value: unknown) => {
    if (key !== 'url' || typeof value !== 'string') return value
    pictures++
    return `${value.length} ${value.slice(-40)}`
  })
  return { text, pictures }
}

function sharedLength(one: string, other: string): number {
  const most = Math.min(one.length, other.length)
  let length = 0
  while (length < most && one[length] === other[length]) length++
  return length
}
