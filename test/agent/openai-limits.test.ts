import { describe, expect, it } from 'vitest'
import { isPublicApi } from '../../src/agent/models/failure.ts'
import { createOpenAi } from '../../src/agent/models/openai.ts'
import { limitParams } from '../../src/agent/models/openai-request.ts'
import { createTraitBook } from '../../src/agent/models/traits.ts'
import { systemClock } from '../../src/core/clock.ts'
import { textContent } from '../../src/core/content.ts'
import type { ModelRequest } from '../../src/core/model.ts'
import { noMedia } from '../fakes/media.ts'
import { rehearse } from '../rehearsal/openai/rehearsal.ts'
import { never } from './turns.ts'

const hello: ModelRequest = {
  system: '',
  messages: [{ role: 'user', content: textContent('hello') }],
  tools: [],
  maxTokens: 4096,
}

describe('the limit of an answer and the effort', () => {
  const limits = (model: string, request: Pick<ModelRequest, 'tools' | 'thinking'>, isPublic: boolean) => {
    const traits = createTraitBook().of(model, isPublic ? ['max-completion-tokens'] : [])
    return limitParams({ maxTokens: 1_000, ...request }, { model, traits }, () => true)
  }
  const of = (model: string, thinking?: ModelRequest['thinking'], isPublic = false) =>
    limits(model, { tools: [], ...(thinking ? { thinking } : {}) }, isPublic)

  it('follow the level, where the model can think', () => {
    expect(of('o3', 'high')).toEqual({ max_completion_tokens: 17_384, reasoning_effort: 'high' })
    expect(of('openai/gpt-5', 'low')).toEqual({ max_completion_tokens: 3_048, reasoning_effort: 'low' })
    expect(of('qwen3:8b', 'medium')).toEqual({ max_tokens: 9_192, reasoning_effort: 'medium' })
    expect(of('gpt-4o', 'high')).toEqual({ max_tokens: 1_000 })
  })

  it('are as little as the model knows where it shall not think', () => {
    expect(of('o3', 'off')).toEqual({ max_completion_tokens: 3_048, reasoning_effort: 'low' })
    expect(of('gpt-5-mini', 'off')).toEqual({ max_completion_tokens: 3_048, reasoning_effort: 'minimal' })
    expect(of('gpt-5.1', 'off')).toEqual({ max_completion_tokens: 1_000, reasoning_effort: 'none' })
    expect(of('qwen3:8b', 'off')).toEqual({ max_tokens: 1_000, reasoning_effort: 'none' })
  })

  it("go by OpenAI's own servers, in whatever region", () => {
    const urls = ['https://api.openai.com/v1/', 'https://eu.api.openai.com/v1', 'https://api.openai.com.example.org/v1']
    expect(urls.map((baseUrl) => isPublicApi({ kind: 'openai', baseUrl }))).toEqual([true, true, false])
  })

  it('leave room for thoughts where nothing is set, and are named as OpenAI demands', () => {
    expect(of('gpt-5')).toEqual({ max_completion_tokens: 9_192 })
    expect(of('qwen3:8b')).toEqual({ max_tokens: 1_000 })
    expect(of('gpt-4o', undefined, true)).toEqual({ max_completion_tokens: 1_000 })
  })

  it('are without thoughts where the model takes no tools with them', () => {
    const tools = [{ name: 'look', description: 'Looks.', parameters: {} }]
    const withTools = (model: string) => limits(model, { tools, thinking: 'high' }, true)
    expect(withTools('gpt-5.6-sol')).toEqual({ max_completion_tokens: 1_000, reasoning_effort: 'none' })
    expect(withTools('gpt-5.1')).toMatchObject({ reasoning_effort: 'high' })
    expect(withTools('openai/gpt-5.6-sol')).toMatchObject({ reasoning_effort: 'high' })
  })

  it.each(['o3', 'gpt-5', 'gpt-5.1', 'gpt-5.4', 'gpt-5.6-sol', 'gpt-5-chat-latest', 'gpt-4o'])(
    'the strict server takes those of %s at every level',
    async (model) => {
      const look = { name: 'look', description: 'Looks.', parameters: {} }
      const server = await rehearse()
      const { apiKey, baseUrl } = server
      const made = await createOpenAi({ apiKey, baseUrl, model, clock: systemClock, media: noMedia })
      const ask = async (more: Partial<ModelRequest>) => {
        for await (const event of made.stream({ ...hello, ...more }, never())) void event
      }
      for (const thinking of ['off', 'low', 'medium', 'high'] as const) {
        await ask({ thinking })
        await ask({ thinking, tools: [look] })
      }
      await ask({ tools: [look] })
      expect(server.ledger.requests()).toHaveLength(9)
    },
  )
})
