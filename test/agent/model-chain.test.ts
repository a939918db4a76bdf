import { describe, expect, it } from 'vitest'
import { ParleyError } from '../../src/core/errors.ts'
import type { Model } from '../../src/core/model.ts'
import { agentWith, call, failure, fakeModel, never, play, tool, turnRequest } from './turns.ts'

const overloaded = new ParleyError('model_overloaded', 'busy')

/** An agent whose models are these, in the order of its chain; `calls` says what was asked and with what result. */
function chained(models: Readonly<Record<string, Model>>, resting: readonly string[] = []) {
  const [model = '', ...fallback] = Object.keys(models)
  const calls: string[] = []
  const run = agentWith(fakeModel(), [tool('clock')], {
    models: async (id) => {
      const found = models[id]
      if (found === undefined) throw new ParleyError('model_unconfigured', 'no key')
      return found
    },
    rests: (id) => resting.includes(id),
    called: (id, error) => void calls.push(error === undefined ? `${id} answered` : `${id} failed`),
  })
  const request = turnRequest({ agent: { ...turnRequest().agent, model, fallback } })
  return { calls, play: () => play(run(request, never())) }
}

describe('the chain of models', () => {
  it('C45: the models are asked in order until one answers, and the answer names it', async () => {
    const chain = chained({
      'a/one': fakeModel({ fail: overloaded }),
      'b/two': fakeModel({ fail: new ParleyError('model_auth', 'no') }),
      'c/three': fakeModel({ deltas: ['Hello'] }),
      'd/four': fakeModel({ deltas: ['Never'] }),
    })
    const { result } = await chain.play()
    expect(result).toMatchObject({ kind: 'final', text: 'Hello', model: 'fake/model-1', steps: 1 })
    expect(chain.calls).toEqual(['a/one failed', 'b/two failed', 'c/three answered'])
  })

  it('C45: one that failed a moment ago is asked behind the others, and not at all where one of them answers', async () => {
    const models = { 'a/one': fakeModel({ fail: overloaded }), 'b/two': fakeModel({ deltas: ['Hello'] }) }
    const resting = chained(models, ['a/one'])
    expect((await resting.play()).result).toMatchObject({ kind: 'final', text: 'Hello' })
    expect(resting.calls).toEqual(['b/two answered'])
    const all = chained({ 'a/one': fakeModel({ deltas: ['Hello'] }), 'b/two': fakeModel({ fail: overloaded }) }, [
      'a/one',
    ])
    expect((await all.play()).result).toMatchObject({ kind: 'final', text: 'Hello' })
    expect(all.calls).toEqual(['b/two failed', 'a/one answered'])
  })

  it('C45: a turn that fails names the model that was asked last', async () => {
    const both = {
      'a/one': fakeModel({ fail: new ParleyError('model_auth', 'no') }),
      'b/two': fakeModel({ fail: overloaded }),
    }
    expect((await chained(both).play()).result).toMatchObject({ code: 'model_overloaded', model: 'b/two' })
    const empty = chained({ 'a/one': fakeModel({ fail: overloaded }), 'b/two': fakeModel({ deltas: [''] }) })
    expect((await empty.play()).result).toMatchObject({ code: 'model_empty', model: 'b/two' })
  })

  it('C45: one that is not configured is passed over as well', async () => {
    const agent = { ...turnRequest().agent, model: 'none/here', fallback: ['b/two'] }
    const two = fakeModel({ deltas: ['Hello'] })
    const run = agentWith(two, [], {
      models: async (id) => {
        if (id === 'b/two') return two
        throw new ParleyError('model_unconfigured', 'no key')
      },
    })
    expect((await play(run(turnRequest({ agent }), never()))).result).toMatchObject({ kind: 'final', text: 'Hello' })
  })

  it("C45: after the first text no other model is asked: the chat has seen a part of this one's answer", async () => {
    const chain = chained({
      'a/one': fakeModel({ deltas: ['Hel'], fail: overloaded }),
      'b/two': fakeModel({ deltas: ['Never'] }),
    })
    expect(failure((await chain.play()).result)).toBe('model_overloaded')
    expect(chain.calls).toEqual(['a/one failed'])
  })

  it('C45: after the first step the turn stays with its model', async () => {
    const two = fakeModel({ calls: [call('x', 'clock')] }, { fail: overloaded })
    const chain = chained({ 'a/one': fakeModel({ fail: overloaded }), 'b/two': two, 'c/three': fakeModel({}) })
    expect(failure((await chain.play()).result)).toBe('model_overloaded')
    expect(two.requests).toHaveLength(2)
    expect(chain.calls).toEqual(['a/one failed', 'b/two answered', 'b/two failed'])
  })

  it.each(['model_refused', 'model_context_length'] as const)(
    '%s is about the request, so no other model is asked',
    async (code) => {
      const two = fakeModel({ deltas: ['Never'] })
      const chain = chained({ 'a/one': fakeModel({ fail: new ParleyError(code, 'no') }), 'b/two': two })
      expect(failure((await chain.play()).result)).toBe(code)
      expect(two.requests).toEqual([])
    },
  )

  it('C45: where none answers, the turn fails with the failure of the last', async () => {
    const chain = chained({
      'a/one': fakeModel({ fail: overloaded }),
      'b/two': fakeModel({ fail: new ParleyError('model_auth', 'no') }),
    })
    expect(failure((await chain.play()).result)).toBe('model_auth')
  })
})
