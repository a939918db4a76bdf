import { describe, expect, it } from 'vitest'
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

  it('R29: is reported at once where nothing can be left out', async () => {
    const model = fakeModel({ fail: tooLong })
    const { result } = await play(agentWith(model)(turnRequest(), never()))
    expect(failure(result)).toBe('model_context_length')
    expect(model.requests).toHaveLength(1)
  })
})
