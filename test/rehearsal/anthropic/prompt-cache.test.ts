import type Anthropic from '@anthropic-ai/sdk'
import { describe, expect, test } from 'vitest'
import { playReplies, textReply } from '../../../src/rehearsal/anthropic/script.ts'
import {
  assistant,
  type Block,
  longMark,
  mark,
  marked,
  rehearseCache,
  text,
  tokens,
  tool,
  toolTokens,
  user,
} from './cached-prompts.ts'
import { ask, clientOf } from './rehearsal.ts'

describe('a marked prefix', () => {
  test('is written once and read from then on; the three counts are the whole prompt', async () => {
    const { send } = await rehearseCache()
    expect(await send(marked)).toEqual([10, 1_500, 0])
    expect(await send({ ...marked, messages: [user(text(25))] })).toEqual([25, 0, 1_500])
  })

  test('is not cached without a mark', async () => {
    const { send } = await rehearseCache()
    const plain = { system: tokens(1_500) }
    expect(await send(plain)).toEqual([1_501, 0, 0])
    expect(await send(plain)).toEqual([1_501, 0, 0])
  })

  test('is the same whether a text is a string or a block, marked or not', async () => {
    const { send } = await rehearseCache()
    await send({ messages: [user(text(1_500, mark))] })
    const grown = [{ role: 'user', content: tokens(1_500) } as const, assistant(text(5)), user(text(7, mark))]
    expect(await send({ messages: grown })).toEqual([0, 12, 1_500])
  })

  test('is the same in whatever order the fields of a block come, and another by its role', async () => {
    const { send } = await rehearseCache()
    await send({ messages: [user(text(1_500)), assistant(text(5, mark))] })
    const turned = { text: tokens(5), ...mark, type: 'text' } as const
    expect(await send({ messages: [user(text(1_500)), assistant(turned)] })).toEqual([0, 0, 1_505])
    expect(await send({ messages: [user(text(1_500)), user(turned)] })).toEqual([0, 1_505, 0])
  })

  test('covers the tools, the system and the messages before the mark, in this order', async () => {
    const { send } = await rehearseCache()
    const all = { tools: [tool], system: tokens(100), messages: [user(text(10, mark))] }
    expect(await send(all)).toEqual([0, toolTokens + 110, 0])
    expect(await send({ ...all, messages: [user(text(10), text(3))] })).toEqual([toolTokens + 113, 0, 0])
    expect(await send({ ...all, tools: [{ ...tool, ...mark }], messages: [user(text(3))] })).toEqual([
      103,
      toolTokens,
      0,
    ])
    expect(await send({ ...all, system: [text(100, mark)], messages: [user(text(3))] })).toEqual([3, 100, toolTokens])
  })

  test('of a tool result, a tool call and a part of a result can be marked', async () => {
    const { send } = await rehearseCache()
    const start = [user(text(1_500)), assistant({ type: 'tool_use', id: 't', name: 'weather', input: {}, ...mark })]
    const part: Block = { type: 'tool_result', tool_use_id: 't', content: [text(40, mark)] }
    const result: Block = { type: 'tool_result', tool_use_id: 't', content: [text(40)], ...mark }
    const [, written] = await send({ tools: [tool], messages: [...start, user(part)] })
    expect(await send({ tools: [tool], messages: [...start, user(result)] })).toEqual([0, 0, written])
  })

  test.each([
    ['claude-sonnet-4-6', 1_024],
    ['claude-sonnet-5', 1_024],
    ['claude-opus-4-1', 1_024],
    ['claude-opus-4-8', 1_024],
    ['claude-opus-5', 512],
    ['claude-opus-4-7', 2_048],
    ['claude-opus-4-6', 4_096],
    ['claude-opus-4-5-20251101', 4_096],
    ['claude-haiku-4-5', 4_096],
    ['claude-3-5-haiku-20241022', 2_048],
  ])('of %s has at least %i tokens; a shorter one is processed without caching', async (model, least) => {
    const { send } = await rehearseCache()
    const of = (count: number) => send({ model, system: [text(count, mark)] })
    expect(await of(least - 1)).toEqual([least, 0, 0])
    expect(await of(least - 1)).toEqual([least, 0, 0])
    expect(await of(least)).toEqual([1, least, 0])
  })
})

describe('a look-back', () => {
  /** So many user and assistant texts in turn, the last one marked. */
  const talk = (count: number): Anthropic.MessageParam[] =>
    Array.from({ length: count }, (_, index) => {
      const block = text(100, index === count - 1 ? mark : {}, String(index % 10))
      return index % 2 === 0 ? user(block) : assistant(block)
    })

  test('finds what was written up to 19 blocks before the mark and no further', async () => {
    const { send } = await rehearseCache()
    expect(await send({ messages: talk(15) })).toEqual([0, 1_500, 0])
    expect(await send({ messages: talk(34) })).toEqual([0, 1_900, 1_500])
    expect(await send({ messages: talk(54) })).toEqual([0, 5_400, 0])
  })

  test('starts at every mark', async () => {
    const { send } = await rehearseCache()
    await send({ messages: talk(15) })
    const far = talk(54).map((message, index) => (index === 14 ? talk(15).at(-1) : message)) as Anthropic.MessageParam[]
    expect(await send({ messages: far })).toEqual([0, 3_900, 1_500])
  })

  test('finds written prefixes only, not what merely stayed the same', async () => {
    const { send } = await rehearseCache()
    await send({ system: [text(1_500)], messages: [user(text(10, mark, 'a'))] })
    expect(await send({ system: [text(1_500)], messages: [user(text(10, mark, 'b'))] })).toEqual([0, 1_510, 0])
  })

  test('counts tool calls in a row as one position, and their results', async () => {
    const { send } = await rehearseCache()
    const ids = Array.from({ length: 25 }, (_, index) => `t${index}`)
    const calls = ids.map((id) => ({ type: 'tool_use', id, name: 'weather', input: {} }) as const)
    const results = ids.map((id) => ({ type: 'tool_result', tool_use_id: id, content: 'rain' }) as const)
    const [, written] = await send({ tools: [tool], messages: [user(text(1_500, mark))] })
    const messages = [user(text(1_500)), assistant(...calls), user(...results, text(1, mark))]
    expect((await send({ tools: [tool], messages }))[2]).toBe(written)
  })
})

describe('the usage', () => {
  test('tells writes for five minutes and for an hour apart', async () => {
    const { server } = await rehearseCache()
    const params = { system: [text(1_500, longMark)], messages: [user(text(70, mark), text(5))] }
    const { usage } = await clientOf(server).messages.create({ ...ask('ok'), ...params })
    expect(usage).toMatchObject({
      input_tokens: 5,
      cache_creation_input_tokens: 1_570,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 70, ephemeral_1h_input_tokens: 1_500 },
    })
  })

  test('is the same in a stream, and stands in the ledger', async () => {
    const { server, send } = await rehearseCache()
    await send(marked)
    const { usage } = await clientOf(server)
      .messages.stream({ ...ask('ok'), model: 'claude-sonnet-5', ...marked })
      .finalMessage()
    expect(usage).toMatchObject({ input_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 1_500 })
    const ended = server.ledger.all((entry) => entry.kind === 'ended')
    expect(ended).toMatchObject([
      { usage: { input_tokens: 10, cache_creation_input_tokens: 1_500 } },
      { usage: { input_tokens: 10, cache_read_input_tokens: 1_500 } },
    ])
  })

  test('is that of the script where it gives one', async () => {
    const usage = { input_tokens: 1, output_tokens: 2, cache_read_input_tokens: 3, cache_creation_input_tokens: 4 }
    const { server } = await rehearseCache({ script: playReplies(textReply('ok', { usage })) })
    expect((await clientOf(server).messages.create({ ...ask('ok'), ...marked })).usage).toMatchObject({
      ...usage,
      cache_creation: { ephemeral_5m_input_tokens: 4, ephemeral_1h_input_tokens: 0 },
    })
  })

  test('counts a picture by its size, up to a limit', async () => {
    const { send } = await rehearseCache()
    const tokensOf = async (data: string) => {
      const [input] = await send({
        messages: [user({ type: 'image', source: { type: 'base64', media_type: 'image/png', data } })],
      })
      return input
    }
    expect(await tokensOf(`iVBORw0K${'a'.repeat(12_792)}`)).toBe(150)
    expect(await tokensOf(`iVBORw0K${'a'.repeat(4_000_000)}`)).toBe(1_600)
  })
})

describe('the automatic mark', () => {
  test('stands on the last block that can carry one and moves as the conversation grows', async () => {
    const { send } = await rehearseCache()
    const first = [user(text(1_500))]
    const grown = [...first, assistant(text(20)), user(text(30))]
    expect(await send({ ...mark, messages: first })).toEqual([0, 1_500, 0])
    expect(await send({ ...mark, messages: grown })).toEqual([0, 50, 1_500])
  })

  test('changes nothing where the last block has its own', async () => {
    const { send } = await rehearseCache()
    await send({ ...mark, messages: [user(text(1_500, mark))] })
    expect(await send({ messages: [user(text(1_500, mark))] })).toEqual([0, 0, 1_500])
  })

  test('steps over thoughts', async () => {
    const { send, server } = await rehearseCache()
    const thought = { type: 'thinking', thinking: tokens(7), signature: 's' } as const
    server.setScript(() => ({ blocks: [thought] }))
    await send({})
    expect(await send({ ...mark, messages: [user(text(1_500)), assistant(thought)] })).toEqual([7, 1_500, 0])
  })
})
