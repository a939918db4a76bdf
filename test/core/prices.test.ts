import { describe, expect, it } from 'vitest'
import { costOf, isFree, LIST_PRICES, priceOf } from '../../src/core/prices.ts'

describe('prices', () => {
  it('C33: a model is known by its name, with or without the day of its release', () => {
    expect(priceOf('anthropic/claude-sonnet-4-5-20250929')).toBe(LIST_PRICES['anthropic/claude-sonnet-4-5'])
    expect(priceOf('openai/gpt-5-mini-2025-08-07')).toMatchObject({ input: 0.25, output: 2 })
    expect(priceOf('anthropic/claude-3-5-haiku-latest')).toMatchObject({ input: 0.8 })
    expect(priceOf('openai/gpt-5.1-codex')).toBeUndefined()
    expect(priceOf('openai/constructor')).toBeUndefined()
  })

  it('C33: the configuration has the last word, and a script is free', () => {
    const own = { 'openai/gpt-5': { input: 7, output: 8 }, 'openai/llama': { input: 0, output: 0 } }
    expect(priceOf('openai/gpt-5', own)).toEqual({ input: 7, output: 8 })
    expect(priceOf('openai/llama', own)).toEqual({ input: 0, output: 0 })
    expect(priceOf('scripted/echo')).toEqual({ input: 0, output: 0 })
    expect([isFree('scripted/echo'), isFree('openai/gpt-5')]).toEqual([true, false])
  })

  it('C33: what was read from a cache costs less, what was written to it more', () => {
    const usage = { input: 100, output: 10, cacheRead: 1_000, cacheWrite: 200 }
    // 100 × 3 + 10 × 15 + 1000 × 0.3 + 200 × 3.75 millionths of a dollar.
    expect(costOf(usage, priceOf('anthropic/claude-sonnet-4-5'))).toBe(1_500)
    expect(costOf(usage, { input: 1, output: 1 })).toBe(1_310)
    expect(costOf(usage, undefined)).toBe(0)
    expect(costOf({ input: 1, output: 0 }, { input: 0.1, output: 0 })).toBe(1)
  })

  it('C33: a request longer than a list says costs more, all of it', () => {
    const haiku = priceOf('anthropic/claude-haiku-5-5')
    expect(costOf({ input: 100_000, output: 1_000 }, haiku)).toBe(10_500)
    expect(costOf({ input: 1, output: 1_000, cacheRead: 100_000 }, haiku)).toBe(7_501)
  })
})
