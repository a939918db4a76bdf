import type { Micros, ModelPrice, PriceList } from './budget.ts'
import { NO_MODEL, tokensRead, type Usage } from './model.ts'

/** Writes of a cache cost a quarter more than the input, reads of it this share of the input. */
function anthropic(input: number, output: number, read = 0.1, long?: ModelPrice['long']): ModelPrice {
  return { input, output, cacheRead: input * read, cacheWrite: input * 1.25, ...(long ? { long } : {}) }
}

function openai(input: number, output: number, cacheRead: number, rest: Partial<ModelPrice> = {}): ModelPrice {
  return { input, output, cacheRead, ...rest }
}

/** The factors of the newer OpenAI models for long requests. */
const LONG = { long: { from: 272_000, input: 2, output: 1.5 } }

/**
 * The list prices of November 2026. They change: the configuration has the last word (`budgets.prices`). A minute of a
 * recording is taken for 1,000 tokens, a character that is spoken for one token.
 */
export const LIST_PRICES: PriceList = {
  'anthropic/claude-fable-5-1': anthropic(10, 50, 0.025),
  'anthropic/claude-fable-5': anthropic(10, 50),
  'anthropic/claude-opus-5-5': anthropic(4, 20, 0.05),
  'anthropic/claude-opus-5': anthropic(5, 25),
  'anthropic/claude-opus-4-8': anthropic(5, 25),
  'anthropic/claude-opus-4-7': anthropic(5, 25),
  'anthropic/claude-opus-4-6': anthropic(5, 25),
  'anthropic/claude-opus-4-5': anthropic(5, 25),
  'anthropic/claude-opus-4-1': anthropic(15, 75),
  'anthropic/claude-opus-4': anthropic(15, 75),
  'anthropic/claude-sonnet-5-5': anthropic(2, 10, 0.05),
  'anthropic/claude-sonnet-5': anthropic(2, 10),
  'anthropic/claude-sonnet-4-6': anthropic(3, 15),
  'anthropic/claude-sonnet-4-5': anthropic(3, 15),
  'anthropic/claude-sonnet-4': anthropic(3, 15),
  'anthropic/claude-3-7-sonnet': anthropic(3, 15),
  'anthropic/claude-haiku-5-5': anthropic(0.1, 0.5, 0.1, { from: 100_000, input: 5, output: 5 }),
  'anthropic/claude-haiku-4-5': anthropic(1, 5),
  'anthropic/claude-3-5-haiku': anthropic(0.8, 4),
  'openai/gpt-6.1-sol': openai(2, 10, 0.1, { cacheWrite: 2.5, ...LONG }),
  'openai/gpt-6.1-terra': openai(1, 5, 0.05, { cacheWrite: 1.25, ...LONG }),
  'openai/gpt-6-sol': openai(2, 10, 0.2, { cacheWrite: 2.5, ...LONG }),
  'openai/gpt-6-luna': openai(0.1, 0.5, 0.01, { cacheWrite: 0.125, ...LONG }),
  'openai/gpt-5.6': openai(5, 30, 0.5, LONG),
  'openai/gpt-5.6-sol': openai(5, 30, 0.5, LONG),
  'openai/gpt-5.6-terra': openai(2.5, 15, 0.25, LONG),
  'openai/gpt-5.4': openai(2.5, 15, 0.25, LONG),
  'openai/gpt-5.4-mini': openai(0.75, 4.5, 0.075),
  'openai/gpt-5.4-nano': openai(0.2, 1.25, 0.02),
  'openai/gpt-5.2': openai(1.75, 14, 0.175),
  'openai/gpt-5.1': openai(1.25, 10, 0.125),
  'openai/gpt-5': openai(1.25, 10, 0.125),
  'openai/gpt-5-mini': openai(0.25, 2, 0.025),
  'openai/gpt-5-nano': openai(0.05, 0.4, 0.005),
  'openai/gpt-4.1': openai(2, 8, 0.5),
  'openai/gpt-4.1-mini': openai(0.4, 1.6, 0.1),
  'openai/gpt-4.1-nano': openai(0.1, 0.4, 0.025),
  'openai/gpt-4o': openai(2.5, 10, 1.25),
  'openai/gpt-4o-mini': openai(0.15, 0.6, 0.075),
  'openai/o3': openai(2, 8, 0.5),
  'openai/o3-mini': openai(1.1, 4.4, 0.55),
  'openai/o4-mini': openai(1.1, 4.4, 0.275),
  'audio/whisper-1': { input: 6, output: 0 },
  'audio/gpt-4o-transcribe': { input: 6, output: 10 },
  'audio/gpt-4o-mini-transcribe': { input: 3, output: 5 },
  'audio/tts-1': { input: 0, output: 15 },
  'audio/tts-1-hd': { input: 0, output: 30 },
  'audio/gpt-4o-mini-tts': { input: 0.6, output: 17 },
}

/** The day of its release behind the name of a model. */
const RELEASE = /-(\d{8}|\d{4}-\d{2}-\d{2}|latest)$/

/** Returns the price of a model; undefined for one that no list has. A scripted model is free. */
export function priceOf(model: string, own: PriceList = {}): ModelPrice | undefined {
  if (isFree(model)) return FREE
  const plain = model.replace(RELEASE, '')
  for (const list of [own, LIST_PRICES])
    for (const name of [model, plain]) if (Object.hasOwn(list, name)) return list[name]
  return undefined
}

/** The most tokens that providers charge for a picture of any size. */
const PICTURE = 5_000
/** Models to which a picture is shown smaller than it is. */
const SCALED = { models: /^anthropic\/claude-(?:3.*|(?:opus|sonnet|haiku)-4(?:-[0-6])?)$/, picture: 1_600 }
/** A model that counts more tokens for one, each of which costs less; so it does behind any server. */
const MANY = { models: /\/gpt-4o-mini$/, picture: 48_200 }

/** Returns the most tokens that the provider of a model charges for a picture. */
export function pictureTokens(model: string): number {
  const plain = model.replace(RELEASE, '')
  if (MANY.models.test(plain)) return MANY.picture
  return SCALED.models.test(plain) ? SCALED.picture : PICTURE
}

const FREE: ModelPrice = { input: 0, output: 0 }

/** Returns true for what is no model: a script costs nobody anything, neither money nor tokens. */
export function isFree(model: string): boolean {
  return model.startsWith('scripted/') || model === NO_MODEL
}

/** Returns the cost of a call; 0 where the model has no price. */
export function costOf(usage: Usage, price: ModelPrice | undefined): Micros {
  if (price === undefined) return 0
  const { input, output, cacheRead = input, cacheWrite = input, long } = price
  const isLong = long !== undefined && tokensRead(usage) > long.from
  const [more, moreOut] = isLong ? [long.input, long.output] : [1, 1]
  const read = usage.input * input + (usage.cacheRead ?? 0) * cacheRead + (usage.cacheWrite ?? 0) * cacheWrite
  // A dollar for a million tokens is a millionth of a dollar for each.
  return Math.ceil(read * more + usage.output * output * moreOut)
}
