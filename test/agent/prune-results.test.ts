import { describe, expect, it } from 'vitest'
import { ModelError } from '../../src/agent/models/model-error.ts'
import { pruneAll, pruneResults } from '../../src/agent/prune-results.ts'
import { textContent, textOf } from '../../src/core/content.ts'
import { ParleyError } from '../../src/core/errors.ts'
import type { ModelMessage } from '../../src/core/model.ts'
import { agentWith, call, failure, fakeModel, never, play, tool, turnRequest } from './turns.ts'

/** A step that called one tool, and its result. */
function step(id: string, text: string, name = 'read'): ModelMessage[] {
  return [
    { role: 'assistant', text: '', calls: [call(id, name)] },
    { role: 'tool', results: [{ id, content: textContent(text), isError: false }] },
  ]
}

/** Steps with results of so many characters, each of another letter. */
function turn(...sizes: readonly number[]): ModelMessage[] {
  const steps = sizes.flatMap((size, index) => step(`c${index}`, String.fromCharCode(97 + index).repeat(size)))
  return [{ role: 'user', content: textContent('go') }, ...steps]
}

function resultsOf(messages: readonly ModelMessage[]): readonly string[] {
  return messages.flatMap((one) => (one.role === 'tool' ? one.results.map(({ content }) => textOf(content)) : []))
}

/** Prunes for a window of so many characters. */
function pruned(messages: readonly ModelMessage[], characters: number, from = 50_000): readonly string[] {
  return resultsOf(pruneResults(messages, { window: characters / 4, from, besides: 0 }))
}

const lengths = (texts: readonly string[]) => texts.map(({ length }) => length)

describe('pruning of the results of a turn', () => {
  it('R26: above 30 % of the window the oldest large result keeps its ends, with a notice between them', () => {
    const [first = '', ...rest] = pruned(turn(60_000, 60_000, 10, 10, 10), 400_000)
    expect(first).toBe(
      `${'a'.repeat(1_500)}\n[57000 characters of this result are left out here to save room]\n${'a'.repeat(1_500)}`,
    )
    expect(lengths(rest)).toEqual([60_000, 10, 10, 10])
  })

  it('R26: at 30 % nothing is touched', () => {
    const messages = turn(60_000, 59_958, 10, 10, 10)
    expect(lengths(pruned(messages, 400_000))).toEqual([60_000, 59_958, 10, 10, 10])
    expect(lengths(pruned(turn(60_000, 59_959, 10, 10, 10), 400_000))).not.toContain(60_000)
  })

  it('R27: at 50 % a result that keeps its ends stays so, above it is replaced', () => {
    const [kept = ''] = pruned(turn(60_000, 10, 10, 96_904), 200_000)
    expect(kept).toHaveLength(3_066)
    const [gone = ''] = pruned(turn(60_000, 10, 10, 96_905), 200_000)
    expect(gone).toMatch(/^\[this result of 60000 characters is left out/)
  })

  it('R27: above 50 % the oldest are replaced by a notice', () => {
    const texts = pruned(turn(60_000, 60_000, 10, 10, 100_000), 120_000)
    expect(texts.slice(0, 2)).toEqual([
      '[this result of 60000 characters is left out here to save room]',
      '[this result of 60000 characters is left out here to save room]',
    ])
    expect(lengths(texts.slice(2))).toEqual([10, 10, 100_000])
  })

  it('R28: small results, those of skills and those of the three newest steps stay', () => {
    const messages = [
      { role: 'user', content: textContent('go') } as const,
      ...step('small', 's'.repeat(49_999)),
      ...step('skill', 'k'.repeat(60_000), 'skill'),
      ...step('c', 'c'.repeat(60_000)),
      ...step('d', 'd'.repeat(60_000)),
      ...step('e', 'e'.repeat(60_000)),
    ]
    expect(lengths(pruned(messages, 10_000))).toEqual([49_999, 60_000, 60_000, 60_000, 60_000])
    expect(resultsOf(pruneAll(messages))[0]).toMatch(/^\[this result of 49999 characters/)
    expect(lengths(resultsOf(pruneAll(messages)).slice(1))).toEqual([60_000, 60_000, 60_000, 60_000])
  })

  it('R28: fewer than four steps leave nothing to prune', () => {
    expect(lengths(pruned(turn(60_000, 60_000, 60_000), 1_000))).toEqual([60_000, 60_000, 60_000])
  })

  it('a model whose window is not known is shown everything', () => {
    const messages = turn(60_000, 60_000, 60_000, 60_000, 60_000)
    expect(pruneResults(messages, { window: undefined, from: 1, besides: 0 })).toBe(messages)
  })

  it('R30: the stored messages are not changed', () => {
    const messages = turn(60_000, 60_000, 10, 10, 10)
    const before = structuredClone(messages)
    pruned(messages, 1_000)
    pruneAll(messages)
    expect(messages).toEqual(before)
  })
})

describe('a window that the server of the model has named', () => {
  /** A turn of six steps with large results; the first answer names the window. */
  async function sizes(window: number | undefined, contextTokens?: number) {
    const steps = [1, 2, 3, 4, 5].map((n) => ({
      calls: [call(`c${n}`, 'read', { n })],
      ...(n === 1 && window !== undefined ? { window } : {}),
    }))
    const model = fakeModel(...steps, { deltas: ['done'] })
    const agent = { ...turnRequest().agent, ...(contextTokens === undefined ? {} : { contextTokens }) }
    const read = tool('read', { run: async () => 'x'.repeat(60_000) })
    const { result } = await play(agentWith(model, [read])(turnRequest({ agent }), never()))
    return { result, last: lengths(resultsOf(model.requests.at(-1)?.messages ?? [])) }
  }

  it('R26, R27: prunes the results of the turn where none is configured', async () => {
    const { result, last } = await sizes(50_000)
    expect(last.slice(2)).toEqual([60_000, 60_000, 60_000])
    expect(last[0]).toBeLessThan(100)
    expect(result).toMatchObject({ context: { window: 50_000 } })
  })

  it('R26: the configured one goes before it, and without any nothing is pruned', async () => {
    expect((await sizes(50_000, 1_000_000)).last).toEqual(Array(5).fill(60_000))
    const { result, last } = await sizes(undefined)
    expect(last).toEqual(Array(5).fill(60_000))
    expect(result).toMatchObject({ kind: 'final', context: { read: 10, shortened: false } })
    expect(result).not.toHaveProperty('context.window')
  })
})

describe('a request that is too long', () => {
  const tooLong = new ParleyError('model_context_length', 'prompt is too long')
  const earlier = Array.from({ length: 6 }, (_, n): ModelMessage[] => [
    { role: 'user', content: textContent(`question ${n}`) },
    { role: 'assistant', text: `answer ${n}`, calls: [] },
  ]).flat()
  const asked = { role: 'user', content: textContent('and now?') } as const

  it('R29: is sent once more with the newest four earlier turns alone', async () => {
    const model = fakeModel({ fail: tooLong }, { deltas: ['fine'] })
    const request = turnRequest({ messages: [...earlier, asked], earlier: { messages: 12, summary: false, said: 12 } })
    const { result } = await play(agentWith(model)(request, never()))
    expect(model.requests.map(({ messages }) => messages)).toEqual([
      [...earlier, asked],
      [...earlier.slice(4), asked],
    ])
    expect(result).toMatchObject({ kind: 'final', text: 'fine', context: { shortened: true } })
  })

  it('R29: is run again twice, the second time with no earlier turn, and a third refusal is reported', async () => {
    const model = fakeModel({ fail: tooLong }, { fail: tooLong }, { deltas: ['fine'] })
    const { result } = await play(agentWith(model)(request(earlier), never()))
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([13, 9, 1])
    expect(result).toMatchObject({ kind: 'final', text: 'fine', context: { shortened: true } })
    const refusing = fakeModel({ fail: tooLong })
    expect(failure((await play(agentWith(refusing)(request(earlier), never()))).result)).toBe('model_context_length')
    expect(refusing.requests).toHaveLength(3)
  })

  it('R29: the first rerun prunes from lower thresholds, the second leaves no result that may be pruned', async () => {
    const sizes: Readonly<Record<string, number>> = {
      a: 5_000,
      b: 5_000,
      c: 3_000,
      d: 9_000,
      e: 4_000,
      f: 2_000,
      g: 2_000,
    }
    const steps = Object.keys(sizes).map((id) => ({ calls: [call(id, 'read', { id })] }))
    const model = fakeModel(...steps, { fail: tooLong }, { fail: tooLong }, { deltas: ['fine'] })
    const read = tool('read', { run: async (args) => 'x'.repeat(sizes[(args as { id: string }).id] ?? 0) })
    const { result } = await play(agentWith(model, [read])(turnRequest(), never()))
    expect(result).toMatchObject({ kind: 'final', text: 'fine' })
    const [first, second, third] = model.requests.slice(-3).map(({ messages }) => lengths(resultsOf(messages)))
    expect(first).toEqual(Object.values(sizes))
    // Of 30,000 characters more than a quarter stays, whatever is pruned.
    expect(second).toEqual([62, 62, 3_000, 62, 4_000, 2_000, 2_000])
    expect(third).toEqual([62, 62, 62, 62, 4_000, 2_000, 2_000])
  })

  it('R29: the first rerun keeps the ends of a result where that is enough', async () => {
    const sizes: Readonly<Record<string, number>> = { a: 30_000, b: 6_000, c: 10, d: 10, e: 10 }
    const steps = Object.keys(sizes).map((id) => ({ calls: [call(id, 'read', { id })] }))
    const model = fakeModel(...steps, { fail: tooLong }, { deltas: ['fine'] })
    const read = tool('read', { run: async (args) => 'x'.repeat(sizes[(args as { id: string }).id] ?? 0) })
    await play(agentWith(model, [read])(turnRequest(), never()))
    expect(lengths(resultsOf(model.requests.at(-1)?.messages ?? []))).toEqual([3_066, 3_065, 10, 10, 10])
  })

  it('R29: a later step of a turn whose request was shortened is run again as well', async () => {
    const model = fakeModel({ fail: tooLong }, { calls: [call('a', 'read')] }, { fail: tooLong }, { deltas: ['fine'] })
    const { result } = await play(agentWith(model, [tool('read')])(request(earlier), never()))
    const shown = model.requests.map(({ messages }) => messages.length)
    expect(shown).toEqual([13, 9, 11, 3])
    expect(model.requests.at(-1)?.messages[0]).toEqual(asked)
    expect(result).toMatchObject({ kind: 'final', text: 'fine' })
  })

  it('R29: the try on a refusal in unknown words counts as the first rerun', async () => {
    const unknown = new ParleyError('model_invalid_request', 'no')
    const model = fakeModel({ fail: unknown }, { fail: tooLong }, { deltas: ['fine'] })
    await play(agentWith(model)(request(largest), never()))
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([13, 9, 1])
    const refusing = fakeModel({ fail: unknown }, { fail: tooLong })
    const { result } = await play(agentWith(refusing)(request(largest), never()))
    expect([failure(result), refusing.requests.length]).toEqual(['model_invalid_request', 3])
  })

  it('R29: is sent at once with as much of the earlier turns as the window takes that the server has named', async () => {
    const named = (window: number) =>
      new ModelError('model_context_length', 'too long', { advice: { retry: false }, window })
    for (const [window, left] of [
      [8_192, 9],
      [2_048, 3],
      [900, 1],
    ] as const) {
      const model = fakeModel({ fail: named(window) }, { deltas: ['fine'] })
      await play(agentWith(model)(request(long(2_000)), never()))
      expect([window, model.requests[1]?.messages.length]).toEqual([window, left])
    }
  })

  it('R29: keeps the summary before them', async () => {
    const model = fakeModel({ fail: tooLong }, { deltas: ['fine'] })
    const request = turnRequest({ messages: [...earlier, asked], earlier: { messages: 12, summary: true, said: 12 } })
    await play(agentWith(model)(request, never()))
    expect(model.requests[1]?.messages).toEqual([...earlier.slice(0, 2), ...earlier.slice(4), asked])
  })

  it('R29: is sent without the results of its older steps, and a second refusal is reported', async () => {
    const steps = ['a', 'b', 'c', 'd'].map((id) => ({ calls: [call(id, 'read', { id })] }))
    const model = fakeModel(...steps, { fail: tooLong })
    const read = tool('read', { run: async () => 'x'.repeat(500) })
    const { result } = await play(agentWith(model, [read])(turnRequest(), never()))
    expect(failure(result)).toBe('model_context_length')
    expect(model.requests).toHaveLength(6)
    const [before, after] = model.requests.slice(4).map(({ messages }) => lengths(resultsOf(messages)))
    expect(before).toEqual([500, 500, 500, 500])
    expect(after?.slice(1)).toEqual([500, 500, 500])
    expect(after?.[0]).toBeLessThan(100)
  })

  /** Six earlier turns of so many characters each. */
  const long = (characters: number) =>
    earlier.map((message) =>
      message.role === 'assistant' ? { ...message, text: message.text.padEnd(characters, '.') } : message,
    )
  const request = (messages: readonly ModelMessage[], summary = false) =>
    turnRequest({ messages: [...messages, asked], earlier: { messages: 12, summary, said: 12 } })
  /** As long as all the other turns together, and left out first. */
  const largest = long(10).map((message, at) =>
    message.role === 'assistant' && at < 4 ? { ...message, text: 'x'.repeat(30_000) } : message,
  )

  it.each([
    ['Please reduce the length of the messages or completion.'],
    ['Range of input length should be [1, 30720]'],
    ['超过最大长度'],
    [''],
    ['invalid params, context window exceeds limit'],
  ])(
    'R29: a refusal in words that nobody knows (%j) is tried once shortened where most of it is left out',
    async (words) => {
      const model = fakeModel({ fail: new ParleyError('model_invalid_request', words) }, { deltas: ['fine'] })
      const { result } = await play(agentWith(model)(request(largest), never()))
      expect(model.requests[1]?.messages).toEqual([...largest.slice(4), asked])
      expect(result).toMatchObject({ kind: 'final', text: 'fine', context: { shortened: true } })
    },
  )

  it('R29: the first refusal is reported where the shortened request fails as well', async () => {
    const model = fakeModel(
      { fail: new ParleyError('model_invalid_request', 'first') },
      { fail: new ParleyError('model_overloaded', 'second') },
    )
    const { result } = await play(agentWith(model)(request(largest), never()))
    expect(result).toMatchObject({ kind: 'failed', code: 'model_invalid_request', cause: { message: 'first' } })
    expect(model.requests).toHaveLength(2)
  })

  it('R29: the model that answers in place of the one that refused is asked the whole', async () => {
    const one = fakeModel({ fail: new ParleyError('model_invalid_request', 'no') })
    const two = fakeModel({ deltas: ['fine'] })
    const models = async (id: string) => (id === 'b/two' ? two : one)
    const agent = { ...turnRequest().agent, fallback: ['b/two'] }
    const run = agentWith(one, [], { models })
    const { result } = await play(run({ ...request(largest), agent }, never()))
    expect([one.requests.length, two.requests[0]?.messages.length]).toEqual([2, 13])
    expect(result).toMatchObject({ text: 'fine', context: { shortened: false } })
  })

  it.each<[string, readonly ModelMessage[]]>([
    ['is short', long(10)],
    ['is as long in the part that stays', long(20_000)],
    [
      'is short, though most of it could go',
      largest.map((one) => (one.role === 'assistant' ? { ...one, text: one.text.slice(0, 3_000) } : one)),
    ],
    ['has nothing that can be left out', largest.slice(0, 2)],
  ])('R29: a refusal in unknown words is reported at once where the request %s', async (_, messages) => {
    const model = fakeModel({ fail: new ParleyError('model_invalid_request', 'no') })
    const asking = turnRequest({
      messages: [...messages, asked],
      earlier: { messages: messages.length, summary: false, said: messages.length },
    })
    expect(failure((await play(agentWith(model)(asking, never()))).result)).toBe('model_invalid_request')
    expect(model.requests).toHaveLength(1)
  })

  it('R29: a refusal in unknown words of the large results of earlier steps is tried without them', async () => {
    const steps = ['a', 'b', 'c', 'd'].map((id) => ({ calls: [call(id, id === 'a' ? 'large' : 'small', { id })] }))
    const model = fakeModel(...steps, { fail: new ParleyError('model_invalid_request', 'no') }, { deltas: ['fine'] })
    const tools = [tool('large', { run: async () => 'x'.repeat(90_000) }), tool('small')]
    const { result } = await play(agentWith(model, tools)(turnRequest(), never()))
    expect(result).toMatchObject({ kind: 'final', text: 'fine', context: { shortened: true } })
    expect(lengths(resultsOf(model.requests.at(-1)?.messages ?? []))[0]).toBe(3_066)
  })

  it('R29: an answer that ends before its first token for want of room is too long, and is paid for', async () => {
    const model = fakeModel({ stop: 'length', usage: { input: 8_192, output: 0 } }, { deltas: ['fine'] })
    const { result } = await play(agentWith(model)(request(largest), never()))
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([13, 9])
    expect(result).toMatchObject({
      ...{ kind: 'final', text: 'fine', steps: 1, usage: { input: 8_202, output: 1 } },
      context: { shortened: true },
    })
    const again = fakeModel({ stop: 'length', usage: { input: 8_192, output: 0 } })
    expect(failure((await play(agentWith(again)(request(largest), never()))).result)).toBe('model_context_length')
  })

  it('an answer cut before it said anything is not too long where the server counts what it wrote, or counts nothing', async () => {
    for (const usage of [
      { input: 100, output: 4_096 },
      { input: 0, output: 0 },
    ]) {
      const model = fakeModel({ stop: 'length', usage })
      expect(failure((await play(agentWith(model)(request(largest), never()))).result)).toBe('model_cut')
      expect(model.requests).toHaveLength(1)
    }
  })

  it('R29: is reported at once where nothing can be left out', async () => {
    const model = fakeModel({ fail: tooLong })
    const { result } = await play(agentWith(model)(turnRequest(), never()))
    expect(failure(result)).toBe('model_context_length')
    expect(model.requests).toHaveLength(1)
  })
})
