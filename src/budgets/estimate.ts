import type { SoundFile } from '../core/audio.ts'
import type { Amount, ModelPrice } from '../core/budget.ts'
import type { Content } from '../core/content.ts'
import { type ModelMessage, type ModelRequest, tokensOf, type Usage } from '../core/model.ts'
import { costOf } from '../core/prices.ts'
import { tokensIn } from './text-tokens.ts'

/** Tokens of a message beside its text. */
const MESSAGE = 8
/** The most that may be thought beside an answer: what `agent` asks providers for (`BUDGET`, `ROOM` there). */
const THOUGHTS = { off: 0, low: 2_048, medium: 8_192, high: 16_384 } as const

/** Returns the tokens that a model will read, for which each picture is `picture` of them. */
export function promptTokens({ system, messages, tools }: ModelRequest, picture: number): number {
  const contentTokens = (content: Content): number =>
    content.reduce((sum, part) => sum + (part.type === 'text' ? tokensIn(part.text) : picture), 0)
  let tokens = tokensIn(system)
  for (const { name, description, parameters } of tools)
    tokens += tokensIn(name) + tokensIn(description) + tokensIn(JSON.stringify(parameters))
  for (const message of messages) {
    tokens += MESSAGE
    if (message.role === 'user') tokens += contentTokens(message.content)
    else if (message.role === 'tool')
      for (const { content } of message.results) tokens += MESSAGE + contentTokens(content)
    else tokens += writtenTokens(message)
  }
  return tokens
}

/** A provider is given the thoughts of a running turn again with each of its steps, and charges them as read. */
function writtenTokens({ text, calls, opaque }: Extract<ModelMessage, { role: 'assistant' }>): number {
  const thoughts = opaque?.tokens ?? 0
  return thoughts + tokensIn(text) + calls.reduce((sum, { args }) => sum + callTokens(args), 0)
}

/** Returns the tokens of a call's arguments. */
export function callTokens(args: unknown): number {
  return MESSAGE + tokensIn(JSON.stringify(args) ?? '')
}

/** Returns the most tokens that may be thought. */
export function mostThoughts({ thinking = 'off' }: Pick<ModelRequest, 'thinking'>): number {
  return THOUGHTS[thinking]
}

/** The price of a model, and the most tokens that a picture is for it. */
export interface Priced {
  readonly price: ModelPrice | undefined
  readonly picture: number
}

/** Returns the most that a call may cost: its prompt, none of it from a cache, and the longest answer. */
export function mostOf(request: ModelRequest, { price, picture }: Priced): Amount {
  const output = request.maxTokens + mostThoughts(request)
  return most({ input: promptTokens(request, picture), output }, price)
}

/** A prompt that is written to a cache costs more than one that is not. */
function most(usage: Usage, price: ModelPrice | undefined): Amount {
  const { input, cacheWrite = input } = price ?? { input: 0 }
  const dear = cacheWrite > input ? { input: 0, output: usage.output, cacheWrite: usage.input } : usage
  return { tokens: tokensOf(usage), micros: costOf(dear, price) }
}

/** Returns the cost of what was used. */
export function amountOf(usage: Usage, price: ModelPrice | undefined): Amount {
  return { tokens: tokensOf(usage), micros: costOf(usage, price) }
}

/** Bytes of a minute of sound at the lowest rate that is usual for its type, so that no recording counts too little. */
const MINUTE: readonly (readonly [type: RegExp, bytes: number])[] = [
  [/^audio\/(ogg|opus)|^audio\/webm/, 120_000],
  [/^audio\/(wav|flac|x-flac)/, 960_000],
]
const ANY_MINUTE = 240_000
/** Tokens of a minute of sound, and of the words in it. */
const HEARD = 1_000
const SAID = 300

/** Returns the usage of a transcription, by the length of the recording as its size has it. */
export function heardUsage({ bytes, mime }: SoundFile): Usage {
  const [, minute = ANY_MINUTE] = MINUTE.find(([type]) => type.test(mime)) ?? []
  const minutes = bytes.length / minute
  return { input: Math.ceil(minutes * HEARD), output: Math.ceil(minutes * SAID) }
}

/** Returns the usage of a text that is spoken. */
export function spokenUsage(text: string): Usage {
  return { input: tokensIn(text), output: text.length }
}
