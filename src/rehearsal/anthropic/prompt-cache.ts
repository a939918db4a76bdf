import { createHash } from 'node:crypto'
import type { PromptBlock, Ttl } from './prompt-blocks.ts'
import { hasImages, promptBlocks } from './prompt-blocks.ts'
import type { MessagesRequest } from './request.ts'

/** The input of one request as it is billed: the three counts together are the whole prompt. */
export interface InputUsage {
  /** The tokens behind the last mark. */
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly cache_creation: { readonly ephemeral_5m_input_tokens: number; readonly ephemeral_1h_input_tokens: number }
}

export interface CountedPrompt {
  readonly usage: InputUsage
  /** Called when the response begins: from then on other requests find what this one writes. */
  begin(): void
}

export interface PromptCall {
  readonly request: MessagesRequest
  /** Caches of different keys know nothing of each other. */
  readonly apiKey: string
  /** The time at which the request came, in ms; lifetimes count from there. */
  readonly at: number
}

interface Entry {
  readonly lifeMs: number
  until: number
}

const lifeMs: Readonly<Record<Ttl, number>> = { '5m': 300_000, '1h': 3_600_000 }
const lookBackPositions = 20

/** The fewest tokens of a prefix that is cached, by the beginning of the model's name. */
const leastTokens: readonly (readonly [RegExp, number])[] = [
  [/^claude-(opus-5|fable|mythos-5)/, 512],
  [/^claude-(opus-4-7|mythos-preview|3-5-haiku|3-haiku)/, 2_048],
  [/^claude-(opus-4-[56]|haiku-4-5)/, 4_096],
]
const leastTokensElse = 1_024

/**
 * Counts prompt caching as the Messages API documents it. A mark writes one entry, the whole prefix that ends there,
 * unless the prefix is too short for the model. A read finds entries of earlier requests only: at a mark, or up to 20
 * positions before it. Each use renews an entry by the life it was written with.
 */
export class PromptCache {
  readonly #entries = new Map<string, Entry>()

  count({ request, apiKey, at }: PromptCall): CountedPrompt {
    const blocks = promptBlocks(request)
    const ends = sums(blocks)
    const least = leastTokens.find(([name]) => name.test(request.model))?.[1] ?? leastTokensElse
    const marks = marksOf(blocks).filter(({ index }) => (ends[index] ?? 0) >= least)
    const keys = marks.length === 0 ? [] : prefixKeys(blocks, request, apiKey)
    const alive = (index: number): Entry | undefined => this.#alive(keys[index], at)
    const found = marks.map(({ index }) => lookBack(blocks, index, (earlier) => alive(earlier) !== undefined))
    for (const index of found) renew(alive(index), at)
    return {
      usage: usageOf({ marks, ends, read: Math.max(-1, ...found) }),
      begin: () => {
        for (const { index, ttl } of marks) this.#write(keys[index] ?? '', lifeMs[ttl], at)
      },
    }
  }

  #alive(key: string | undefined, at: number): Entry | undefined {
    const entry = this.#entries.get(key ?? '')
    return entry !== undefined && entry.until > at ? entry : undefined
  }

  #write(key: string, life: number, at: number): void {
    const known = this.#alive(key, at)
    renew(known, at)
    if (known !== undefined) return
    for (const [old, { until }] of this.#entries) if (until <= at) this.#entries.delete(old)
    this.#entries.set(key, { lifeMs: life, until: at + life })
  }
}

interface Mark {
  readonly index: number
  readonly ttl: Ttl
}

function marksOf(blocks: readonly PromptBlock[]): Mark[] {
  return blocks.flatMap(({ mark }, index) => (mark === undefined ? [] : [{ index, ttl: mark }]))
}

/** Returns for each block the tokens of the prompt up to its end. */
function sums(blocks: readonly PromptBlock[]): number[] {
  let sum = 0
  return blocks.map(({ tokens }) => {
    sum += tokens
    return sum
  })
}

/** Returns for each block the key of the prefix that ends with it. */
function prefixKeys(blocks: readonly PromptBlock[], request: MessagesRequest, apiKey: string): string[] {
  const settings = settingsOf(request)
  let key = `${apiKey} ${request.model}`
  return blocks.map(({ level, canonical }) => {
    key = createHash('sha256').update(`${key}\n${settings[level]}\n${canonical}`).digest('base64')
    return key
  })
}

/** The parameters that belong to the prefix of each level, so that changing them loses this level and the next. */
function settingsOf(request: MessagesRequest): Record<PromptBlock['level'], string> {
  const { speed, tool_choice = { type: 'auto' }, thinking = { type: 'disabled' }, output_config } = request
  const effort = typeof output_config === 'object' && output_config !== null && 'effort' in output_config
  return {
    tools: '',
    system: JSON.stringify([speed]),
    messages: JSON.stringify([tool_choice, thinking, effort && output_config.effort, hasImages(request)]),
  }
}

/** Returns the nearest earlier block with an entry, -1 if there is none within reach. */
function lookBack(blocks: readonly PromptBlock[], mark: number, has: (index: number) => boolean): number {
  let positions = 1
  for (let index = mark; index >= 0; index--) {
    if (index < mark && !inOneRun(blocks[index], blocks[index + 1])) positions++
    if (positions > lookBackPositions) return -1
    if (has(index)) return index
  }
  return -1
}

/** Tool calls in a row count as one position, and so do their results. */
function inOneRun(one: PromptBlock | undefined, next: PromptBlock | undefined): boolean {
  return one?.type === next?.type && (one?.type === 'tool_use' || one?.type === 'tool_result')
}

/** `read` is the block that ends the longest prefix found, -1 for none. */
function usageOf({ marks, ends, read }: { marks: readonly Mark[]; ends: readonly number[]; read: number }): InputUsage {
  const endOf = (index: number | undefined): number => ends[index ?? -1] ?? 0
  const fromCache = endOf(read)
  const long = Math.max(fromCache, endOf(marks.findLast(({ ttl }) => ttl === '1h')?.index))
  const marked = Math.max(long, endOf(marks.at(-1)?.index))
  return {
    input_tokens: endOf(ends.length - 1) - marked,
    cache_creation_input_tokens: marked - fromCache,
    cache_read_input_tokens: fromCache,
    cache_creation: { ephemeral_5m_input_tokens: marked - long, ephemeral_1h_input_tokens: long - fromCache },
  }
}

function renew(entry: Entry | undefined, at: number): void {
  if (entry !== undefined) entry.until = Math.max(entry.until, at + entry.lifeMs)
}
