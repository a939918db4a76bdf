import { describe, expect, it } from 'vitest'
import { thinkingParams } from '../../src/agent/models/anthropic-thinking.ts'
import { textContent } from '../../src/core/content.ts'
import type { ModelMessage, ModelRequest, Opaque } from '../../src/core/model.ts'

const asking = (changes: Partial<ModelRequest>): ModelRequest => ({
  system: '',
  messages: [{ role: 'user', content: textContent('hi') }],
  tools: [],
  maxTokens: 4096,
  ...changes,
})

const step = (opaque?: Opaque): ModelMessage => ({
  role: 'assistant',
  text: '',
  calls: [{ id: '1', name: 'time', args: {} }],
  ...(opaque ? { opaque } : {}),
})

describe('T37: a thinking level', () => {
  it.each([
    ['claude-sonnet-5-5', undefined, { max_tokens: 4096 }],
    ['claude-sonnet-5-5', 'off', { max_tokens: 4096, thinking: { type: 'disabled' } }],
    [
      'claude-sonnet-5-5',
      'low',
      { max_tokens: 6144, thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    ],
    [
      'claude-opus-4-6',
      'high',
      { max_tokens: 20480, thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    ],
    ['claude-haiku-4-5', 'medium', { max_tokens: 12288, thinking: { type: 'enabled', budget_tokens: 8192 } }],
    ['claude-sonnet-4-5-20250929', 'low', { max_tokens: 6144, thinking: { type: 'enabled', budget_tokens: 2048 } }],
    ['claude-sonnet-4-5', 'off', { max_tokens: 4096 }],
    ['claude-3-5-haiku-20241022', 'high', { max_tokens: 4096 }],
  ] as const)('for %s, %s is what its API takes', (model, thinking, params) => {
    expect(thinkingParams(model, asking(thinking === undefined ? {} : { thinking }))).toEqual(params)
  })

  it('C19: stays out of a turn whose earlier thoughts a crash took', () => {
    const go = (messages: ModelMessage[]) => thinkingParams('claude-haiku-4-5', asking({ thinking: 'low', messages }))
    expect(go([{ role: 'user', content: textContent('x') }, step()])).not.toHaveProperty('thinking')
    expect(
      go([
        { role: 'user', content: textContent('x') },
        step({ model: 'anthropic/claude-haiku-4-5', tokens: 0, data: [] }),
      ]),
    ).toHaveProperty('thinking')
  })
})
