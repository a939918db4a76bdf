import { isDeepStrictEqual } from 'node:util'
import { invalid, type MessagesError } from './api-error.ts'
import type { SentBlock } from './reply-message.ts'
import type { ContentBlock, MessagesRequest, RequestMessage } from './request.ts'

/** The kinds of thinking that a request can ask for. */
export type ThinkingType = 'enabled' | 'disabled' | 'adaptive'

/** The refusals of models, by their names without a vendor, dots as dashes; the first that fits counts. */
const REFUSED: readonly (readonly [RegExp, readonly ThinkingType[]])[] = [
  [/^claude-(fable|mythos)-/, ['enabled', 'disabled']],
  [/^claude-(opus-4-[7-9]|(opus|sonnet)-[5-9])/, ['enabled']],
  [/^claude-(3|(opus|sonnet|haiku)-4(-[0-5])?(-\d{8})?$)/, ['adaptive']],
]

const WORDS: Readonly<Record<ThinkingType, string>> = {
  enabled:
    '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
  adaptive: 'adaptive thinking is not supported on this model',
  disabled:
    '"thinking.type.disabled" is not supported for this model. Thinking defaults to adaptive mode when not specified; use "thinking.type.enabled" with "budget_tokens" for extended thinking.',
}

/** Newer models take no temperature at all, thinking ones none but 1. */
const NO_TEMPERATURE = /^claude-(opus-4-[7-9]|(opus|sonnet)-[5-9]|fable|mythos)/

/**
 * Checks what a request says of thinking and temperature. `refuses`: what its model refuses whatever its name.
 * @throws MessagesError
 */
export function checkThinking(request: MessagesRequest, refuses: readonly ThinkingType[] = []): void {
  const { thinking, max_tokens: most, temperature } = request
  const model = request.model.replace(/^.*\//, '').replaceAll('.', '-')
  if (temperature !== undefined && NO_TEMPERATURE.test(model)) {
    throw invalid('`temperature` is deprecated for this model.')
  }
  if (thinking === undefined) return
  const { type, budget_tokens: budget } = Object(thinking) as { readonly type: string; readonly budget_tokens?: number }
  const types = ['enabled', 'disabled', 'adaptive', 'between_tools']
  if (!types.includes(type)) {
    throw invalid(`thinking: Input tag found using 'type' does not match any of the expected tags: ${types.join(', ')}`)
  }
  const refused = [...refuses, ...(REFUSED.find(([name]) => name.test(model))?.[1] ?? [])]
  const found = refused.find((one) => one === type)
  if (found !== undefined) throw invalid(WORDS[found])
  if (type !== 'disabled' && temperature !== undefined && temperature !== 1) {
    throw invalid('`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.')
  }
  if (type !== 'enabled') return
  if (typeof budget !== 'number') throw invalid('thinking.enabled.budget_tokens: Field required')
  if (budget < 1024) throw invalid('thinking.enabled.budget_tokens: Input should be greater than or equal to 1024')
  if (most <= budget) throw invalid('`max_tokens` must be greater than `thinking.budget_tokens`')
}

/** @throws MessagesError for a thought without a signature */
export function checkSignatures(messages: readonly RequestMessage[]): void {
  for (const [index, message] of messages.entries()) {
    const nth = listOf(message).findIndex(({ type, signature }) => type === 'thinking' && !signature)
    if (nth >= 0) throw invalid(`messages.${index}.content.${nth}.thinking.signature: Field required`)
  }
}

interface SentMessage {
  readonly model: string
  readonly content: readonly SentBlock[]
}

/** The messages that a server has sent: the thoughts in them come back unchanged and in their places, or not at all. */
export class SentMessages {
  readonly #messages: SentMessage[] = []

  add(message: SentMessage): void {
    this.#messages.push(message)
  }

  /** @throws MessagesError for a thought that no answer of the model had, or that stands elsewhere than in its answer */
  check({ model }: MessagesRequest, merged: readonly RequestMessage[]): void {
    const ours = this.#messages.filter((message) => message.model === model)
    const latest = merged.findLastIndex(({ role }) => role === 'assistant')
    for (const [index, message] of merged.entries()) {
      if (message.role !== 'assistant' || !listOf(message).some(isThought)) continue
      const wrong = falseThought(index, listOf(message), ours)
      if (wrong !== undefined) throw wrong
      if (index === latest) checkPlaces(index, listOf(message), ours)
    }
  }
}

function falseThought(at: number, blocks: readonly ContentBlock[], ours: readonly SentMessage[]) {
  const sent = ours.flatMap(({ content }) => content.filter(isThought).map(bare))
  const nth = blocks.findIndex((block) => isThought(block) && !sent.some((one) => isDeepStrictEqual(one, bare(block))))
  return nth < 0 ? undefined : invalid(`messages.${at}.content.${nth}: Invalid \`signature\` in \`thinking\` block`)
}

/** Only the thoughts and calls of the message count; the ids of calls may have changed since. */
function checkPlaces(at: number, blocks: readonly ContentBlock[], ours: readonly SentMessage[]): void {
  const [first] = blocks.filter(isThought).map(bare)
  const sent = ours.findLast(({ content }) => content.some((block) => isDeepStrictEqual(bare(block), first)))
  const wanted = (sent?.content ?? []).filter(counts).map(bare)
  const given = blocks.flatMap((block, nth) => (counts(block) ? [{ nth, block: bare(block) }] : []))
  const wrong = given.find(({ block }, place) => !isDeepStrictEqual(block, wanted[place]))
  if (wrong === undefined && given.length === wanted.length) return
  throw moved(`messages.${at}.content.${wrong?.nth ?? blocks.length - 1}`)
}

function moved(path: string): MessagesError {
  return invalid(
    `${path}: \`thinking\` or \`redacted_thinking\` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.`,
  )
}

/** With manual thinking a turn that waits for tool results must begin with the thinking before its tool calls. */
export function checkFirstThought({ thinking }: MessagesRequest, merged: readonly RequestMessage[]): void {
  if (thinking?.type !== 'enabled') return
  const [asking, results] = merged.slice(-2)
  if (!asking || !results || !listOf(results).some(({ type }) => type === 'tool_result')) return
  const [first] = listOf(asking)
  if (first !== undefined && isThought(first)) return
  throw invalid(
    `messages.${merged.length - 2}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${first?.type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking`,
  )
}

function listOf({ content }: RequestMessage): readonly ContentBlock[] {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content
}

function isThought({ type }: { readonly type: string }): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

function counts(block: { readonly type: string }): boolean {
  return isThought(block) || block.type === 'tool_use'
}

/** Returns what a block says, without its id and marks. */
function bare(block: ContentBlock | SentBlock): object {
  const { type, thinking, signature, data, name, input } = block as ContentBlock & { data?: string }
  return { type, thinking, signature, data, name, input }
}
