import { expect, it } from 'vitest'
import { windowOf } from '../../src/core/model-server.ts'

it.each([
  ['anthropic/claude-sonnet-5-5', 200_000],
  ['openai/gpt-5.4', 272_000],
  ['openai/gpt-4.1-mini', 1_047_576],
  ['openai/gpt-4o-mini', 128_000],
  ['openai/o3', 200_000],
  ['openai/qwen3', undefined],
  ['scripted/echo', undefined],
])('T11: %s reads %s tokens at once', (model, tokens) => {
  expect(windowOf(model)).toBe(tokens)
})
