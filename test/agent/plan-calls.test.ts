import { describe, expect, it } from 'vitest'
import { textContent } from '../../src/core/content.ts'
import type { Model, ModelEvent, ModelRequest, ModelToolCall, Opaque } from '../../src/core/model.ts'
import { agentWith, call, fakeModel, never, play, results, story, tool, turnRequest } from './turns.ts'

describe('a call by a name that nobody offered', () => {
  it.each([
    ['', ''],
    ['multi_tool_use.parallel', 'multi_tool_use.parallel'],
    ['note<|channel|>commentary', 'note<|channel|>commentary'],
    ['note ', 'note '],
    ['Note', 'Note'],
    ['x'.repeat(64), 'x'.repeat(64)],
    ['x'.repeat(65), 'x'.repeat(64)],
    ['x'.repeat(100_000), 'x'.repeat(64)],
    [`${'x'.repeat(63)}👍`, 'x'.repeat(63)],
    ['constructor', 'constructor'],
  ])('%j runs nothing, and is answered with the names there are', async (name, named) => {
    const ran: string[] = []
    const note = tool('note', { run: async () => `ran ${ran.push('note')}` })
    const model = fakeModel({ calls: [call('a', name), call('b', 'note')] }, { deltas: ['ok'] })
    const { journal, result } = await play(agentWith(model, [note, tool('clock')])(turnRequest(), never()))
    expect(results(journal)).toMatchObject([
      { callId: 'a', tool: name, isError: true, content: `There is no tool "${named}". Known tools: note, clock.` },
      { callId: 'b', isError: false, content: 'ran 1' },
    ])
    expect(result).toMatchObject({ kind: 'final', text: 'ok' })
  })

  it('is answered so as well where there is no tool at all', async () => {
    const model = fakeModel({ calls: [call('a', '')] }, { deltas: ['ok'] })
    const { journal } = await play(agentWith(model)(turnRequest(), never()))
    expect(results(journal)[0]?.content).toBe('There is no tool "". You have no tools.')
  })
})

it('a required argument is missing though JavaScript has something of its name', async () => {
  const parameters = { type: 'object', properties: { constructor: {} }, required: ['constructor'] }
  const note = { ...tool('note'), spec: { name: 'note', description: 'notes', parameters } }
  const model = fakeModel({ calls: [call('a', 'note', {})] }, { deltas: ['ok'] })
  const { journal } = await play(agentWith(model, [note])(turnRequest(), never()))
  expect(results(journal)).toMatchObject([{ isError: true, content: 'Missing arguments of note: constructor.' }])
})

describe('the order of the calls of a step', () => {
  /** The fields of its server refer to the calls of their step by place. */
  const opaque: Opaque = { model: 'fake/model', tokens: 3, data: { calls: [{ sign: 0 }, { sign: 1 }, { sign: 2 }] } }

  async function playStep(calls: readonly ModelToolCall[], slow: string) {
    const requests: ModelRequest[] = []
    const model: Model = {
      id: 'fake/model',
      async *stream(request): AsyncGenerator<ModelEvent> {
        requests.push(request)
        const usage = { input: 1, output: 1 }
        if (requests.length > 1) yield { type: 'text', delta: 'ok' }
        if (requests.length > 1) return yield { type: 'end', stop: 'end', usage, model: 'fake/model' }
        for (const one of calls) yield { type: 'tool_call', call: one }
        yield { type: 'end', stop: 'tools', usage, model: 'fake/model', opaque }
      },
    }
    let release = () => {}
    const others = new Promise<void>((resolve) => {
      release = resolve
    })
    const run = async (args: unknown) => {
      const { key } = args as { readonly key: string }
      if (key === slow) await others
      return key
    }
    let left = calls.length - 1
    const { journal } = await play(agentWith(model, [tool('read', { run })])(turnRequest(), never()), ({ type }) => {
      if (type === 'tool_result' && --left === 0) release()
    })
    return { journal, messages: requests[1]?.messages ?? [] }
  }

  it.each([
    ['ids of their own', ['c', 'a', 'b']],
    ['one id', ['same', 'same', 'same']],
    ['empty ids', ['', '', '']],
  ])('stays as the model gave it with %s, whichever ends first, beside the fields of its server', async (_, ids) => {
    const calls = ids.map((id, at) => call(id, 'read', { key: `k${at}` }))
    const { journal, messages } = await playStep(calls, 'k0')
    const [, step, answered] = messages
    expect(step).toMatchObject({ role: 'assistant', opaque, calls: calls.map(({ args }) => ({ args })) })
    const kept = step?.role === 'assistant' ? step.calls.map(({ id }) => id) : []
    expect(new Set(['', ...kept]).size).toBe(4)
    expect(answered).toMatchObject({
      role: 'tool',
      results: kept.map((id, at) => ({ id, content: textContent(`k${at}`) })),
    })
    expect(journal[0]?.data).toMatchObject({ opaque, calls: kept.map((callId) => ({ callId })) })
    expect(story(journal).at(-1)).toBe(`tool_result ${kept[0]}`)
  })
})
