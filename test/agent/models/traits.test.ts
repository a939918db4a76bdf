import { describe, expect, it } from 'vitest'
import { createTraitBook, type Trait, traitsOfServer } from '../../../src/agent/models/traits.ts'

const OPENAI: readonly Trait[] = ['max-completion-tokens', 'thoughts-apart']
const AZURE: readonly Trait[] = ['thoughts-apart']
const DEMANDS_THOUGHTS: readonly Trait[] = ['thoughts-apart', 'thoughts-with-calls']
const GEMINI: readonly Trait[] = ['thoughts-apart', 'signed-calls']
const MISTRAL: readonly Trait[] = ['thoughts-apart', 'nine-character-ids']

describe('what is known of a server by its address', () => {
  it.each([
    ['https://api.openai.com/v1', OPENAI],
    ['https://eu.api.openai.com/v1', OPENAI],
    ['https://API.OpenAI.com/v1', OPENAI],
    ['https://mine.openai.azure.com/openai/v1', AZURE],
    ['https://mine.services.ai.azure.com/openai/v1', AZURE],
    ['https://mine.cognitiveservices.azure.com/openai/v1', AZURE],
    ['https://api.deepseek.com', DEMANDS_THOUGHTS],
    ['https://api.deepseek.com:443/beta', DEMANDS_THOUGHTS],
    ['https://api.moonshot.ai/v1', DEMANDS_THOUGHTS],
    ['https://api.moonshot.cn/v1', DEMANDS_THOUGHTS],
    ['https://api.kimi.com/coding/v1', DEMANDS_THOUGHTS],
    ['https://generativelanguage.googleapis.com/v1beta/openai', GEMINI],
    ['https://aiplatform.googleapis.com/v1/openapi', GEMINI],
    ['https://eu.aiplatform.googleapis.com/v1/openapi', GEMINI],
    ['https://api.mistral.ai/v1', MISTRAL],
    ['https://codestral.mistral.ai/v1', MISTRAL],
  ])('%s', (url, traits) => expect([...traitsOfServer(url)].sort()).toEqual([...traits].sort()))

  it.each([
    'https://api.openai.com.example.org/v1',
    'https://notapi.openai.com/v1',
    'https://example.org/api.openai.com',
    'https://api-openai.com/v1',
    'https://apixopenai.com/v1',
    'https://mine.openai.azure.com.example.org/v1',
    'https://mine.cognitiveservices.azure.community/v1',
    'https://mineopenai.azure.com/v1',
    'https://mine.openai-azure.com/v1',
    'https://notdeepseek.com',
    'https://deepseek.com.example.org',
    'https://deepseek.community',
    'https://notmoonshot.ai/v1',
    'https://moonshot.air/v1',
    'https://kimi.com.example.org',
    'https://mykimi.com',
    'https://notgenerativelanguage.googleapis.com',
    'https://generativelanguage.googleapis.com.example.org',
    'https://storage.googleapis.com',
    'https://notmistral.ai/v1',
    'https://mistral.air/v1',
    'http://localhost:11434/v1',
    'https://openrouter.ai/api/v1',
  ])('nothing of %s', (url) => expect(traitsOfServer(url)).toEqual([]))
})

describe('the book of traits', () => {
  it('remembers what was learnt of a model, with its numbers, and mixes no two up', () => {
    const book = createTraitBook()
    expect(book.of('a/b').learn('no-tools')).toBe(true)
    book.of('a/b').window = 8_192
    book.of('a/b').longestAnswer = 800
    expect(book.of('a/b').has('no-tools')).toBe(true)
    expect(book.of('a/b')).toMatchObject({ window: 8_192, longestAnswer: 800 })
    expect(book.of('a/c').has('no-tools')).toBe(false)
    expect(book.of('a/c')).toMatchObject({ window: undefined, longestAnswer: undefined })
  })

  it('a trait is learnt once, and one that is known beforehand never', () => {
    const traits = createTraitBook().of('a/b', ['thoughts-apart'])
    expect(traits.has('thoughts-apart')).toBe(true)
    expect(traits.learn('thoughts-apart')).toBe(false)
    expect([traits.learn('thinks'), traits.learn('thinks')]).toEqual([true, false])
  })

  it('says in words what was learnt, of those models alone', () => {
    const book = createTraitBook()
    book.of('a/known', ['thoughts-apart', 'signed-calls']).learn('signed-calls')
    book.of('a/new')
    expect(book.learnt()).toEqual([])
    const traits = book.of('a/b', ['thoughts-apart'])
    traits.learn('no-temperature')
    traits.learn('no-tools')
    traits.window = 8_192
    book.of('a/c').longestAnswer = 800
    expect(book.learnt()).toEqual([
      {
        model: 'a/b',
        learnt: [
          'takes no temperature',
          'takes no tools: it answers without them',
          expect.stringMatching(/^reads 8192 tokens/),
        ],
      },
      { model: 'a/c', learnt: [expect.stringMatching(/^writes 800 tokens/)] },
    ])
  })
})
