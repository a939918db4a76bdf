import { describe, expect, test } from 'vitest'
import { playReplies, textReply } from '../../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../../src/rehearsal/deferred.ts'
import {
  type Block,
  longMark,
  MINUTE,
  mark,
  marked,
  type Params,
  rehearseCache,
  SECOND,
  text,
  tokens,
  tool,
  toolTokens,
  user,
} from './cached-prompts.ts'
import { ask, clientOf } from './rehearsal.ts'

describe('a cached prefix is lost', () => {
  const image = (end: string): Block => {
    // It begins as a PNG does.
    const data = `iVBORw0K${'A'.repeat(36)}${end}`
    return { type: 'image', source: { type: 'base64', media_type: 'image/png', data } }
  }
  // A model that takes a budget of thinking.
  const base = {
    model: 'claude-sonnet-4-6',
    tools: [{ ...tool, ...mark }],
    system: [text(1_500, mark)],
    messages: [user(text(1_000, mark), text(1))],
  } satisfies Partial<Params>
  const inSystem = toolTokens + 1_500
  const inMessages = inSystem + 1_000
  const thinking = (budget_tokens: number) =>
    ({ max_tokens: 9_000, thinking: { type: 'enabled', budget_tokens } }) as const

  test.each<[string, Partial<Params>, number]>([
    ['by nothing', {}, inMessages],
    ['whole by a byte of a tool', { tools: [{ ...tool, ...mark, description: `${tokens(1_999)}xxxy` }] }, 0],
    ['whole by another model', { model: 'claude-sonnet-5' }, 0],
    [
      'from the system on by a byte of it',
      { system: [{ ...text(1_500, mark), text: `${tokens(1_499)}xxxy` }] },
      toolTokens,
    ],
    ['from the system on by another speed', { speed: 'fast' } as Partial<Params>, toolTokens],
    ['in the messages by a byte', { messages: [user(text(1_000, mark, 'y'))] }, inSystem],
    ['in the messages by tool_choice', { tool_choice: { type: 'any' } }, inSystem],
    ['by no tool_choice of auto, the default', { tool_choice: { type: 'auto' } }, inMessages],
    ['in the messages by thinking', thinking(2_000), inSystem],
    ['in the messages by an effort', { output_config: { effort: 'low' } } as Partial<Params>, inSystem],
    ['in the messages by a picture anywhere', { messages: [user(text(1_000, mark), image('aaaa'))] }, inSystem],
    ['by no text behind the mark', { messages: [user(text(1_000, mark), text(9))] }, inMessages],
  ])('%s', async (_name, change, read) => {
    const { send } = await rehearseCache()
    expect((await send(base))[1]).toBe(inMessages)
    expect((await send({ ...base, ...change }))[2]).toBe(read)
  })

  test('by another effort than before', async () => {
    const { send } = await rehearseCache()
    const reads: number[] = []
    for (const effort of ['low', 'low', 'high'] as const)
      reads.push((await send({ ...base, output_config: { effort } }))[2])
    expect(reads).toEqual([0, inMessages, inSystem])
  })

  test('by another budget of thinking and by another picture', async () => {
    const { send } = await rehearseCache()
    const budgets = [thinking(2_000), thinking(2_000), thinking(3_000)].map((one) => ({ ...base, ...one }))
    const pictures = ['aaaa', 'aaaa', 'bbbb'].map((data) => ({
      ...base,
      messages: [user(image(data), text(1_000, mark))],
    }))
    const reads: number[] = []
    for (const params of [...budgets, ...pictures]) reads.push((await send(params))[2])
    const picture = inMessages + 1
    expect(reads).toEqual([0, inMessages, inSystem, inSystem, picture, inSystem])
  })

  test('for other keys, which never share one', async () => {
    const { send } = await rehearseCache({ otherApiKeys: ['other-key'] })
    await send(marked)
    expect(await send(marked, 'other-key')).toEqual([10, 1_500, 0])
    expect(await send(marked)).toEqual([10, 0, 1_500])
  })
})

describe('a written prefix lives', () => {
  test('five minutes', async () => {
    const { send, clock } = await rehearseCache()
    await send(marked)
    clock.now += 5 * MINUTE
    expect(await send(marked)).toEqual([10, 1_500, 0])
  })

  test('five minutes from the last read', async () => {
    const { send, clock } = await rehearseCache()
    await send(marked)
    for (let read = 0; read < 3; read++) {
      clock.now += 5 * MINUTE - SECOND
      expect(await send(marked)).toEqual([10, 0, 1_500])
    }
  })

  test('on where it is found by a look-back', async () => {
    const { send, clock } = await rehearseCache()
    const grown = { ...marked, system: [text(1_500), text(50, mark)] }
    await send(marked)
    clock.now += 5 * MINUTE - SECOND
    expect(await send(grown)).toEqual([10, 50, 1_500])
    clock.now += 5 * MINUTE - SECOND
    expect(await send(marked)).toEqual([10, 0, 1_500])
  })

  test('an hour from the last read where the mark asks for it', async () => {
    const { send, clock } = await rehearseCache()
    const long = { ...marked, system: [text(1_500, longMark)] }
    await send(long)
    for (let read = 0; read < 2; read++) {
      clock.now += 60 * MINUTE - SECOND
      expect(await send(long)).toEqual([10, 0, 1_500])
    }
    clock.now += 60 * MINUTE
    expect(await send(long)).toEqual([10, 1_500, 0])
  })

  test('as long as it was written for, whatever a later mark asks', async () => {
    const { send, clock } = await rehearseCache()
    await send({ ...marked, system: [text(1_500, longMark)] })
    for (let read = 0; read < 2; read++) {
      expect(await send(marked)).toEqual([10, 0, 1_500])
      clock.now += 30 * MINUTE
    }
  })

  test('from the moment the response begins', async () => {
    const [first, second] = [createGate(), createGate()]
    const held = textReply('later', { holds: [{ beforeDelta: 0, gate: first }] })
    const streamed = textReply('later', { holds: [{ beforeDelta: 0, gate: second }] })
    const { server, send } = await rehearseCache({
      script: playReplies(held, textReply('ok'), streamed, textReply('ok')),
    })

    const whole = send(marked)
    await first.reached
    expect(await send(marked)).toEqual([10, 1_500, 0])
    first.release()
    expect(await whole).toEqual([10, 1_500, 0])

    // A stream has begun once its first event is out, long before its last.
    const other = { ...ask('ok'), model: 'claude-sonnet-4-6', ...marked }
    const stream = clientOf(server).messages.stream(other)
    await second.reached
    expect(await send({ ...marked, model: 'claude-sonnet-4-6' })).toEqual([10, 0, 1_500])
    second.release()
    await stream.finalMessage()
  })

  test('not at all where the answer was an error', async () => {
    const overloaded = { error: { status: 529, type: 'overloaded_error' } }
    const { send } = await rehearseCache({ script: playReplies(overloaded, textReply('ok')) })
    await expect(send(marked)).rejects.toMatchObject({ status: 529 })
    expect(await send(marked)).toEqual([10, 1_500, 0])
  })
})
