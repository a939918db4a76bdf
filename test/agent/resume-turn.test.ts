import { describe, expect, it } from 'vitest'
import { textContent } from '../../src/core/content.ts'
import type { ToolClass } from '../../src/core/model.ts'
import type { OpenStep } from '../../src/core/turn.ts'
import { agentWith, call, fakeModel, never, play, results, story, tool, turnRequest } from './turns.ts'

const calls = [call('a', 'first'), call('b', 'second')]
const spent = { steps: 1, usage: { input: 100, output: 10 } }

function resumed(open: Partial<OpenStep>) {
  return turnRequest({
    spent,
    open: { calls, results: [], intended: [], ...open },
    messages: [
      { role: 'user', content: textContent('hello') },
      { role: 'assistant', text: '', calls },
    ],
  })
}

function toolsOf(kind: ToolClass) {
  const ran: string[] = []
  const make = (name: string) =>
    tool(name, {
      class: kind,
      run: async (_, { callId }) => {
        ran.push(callId)
        return `${name} again`
      },
    })
  return { ran, tools: [make('first'), make('second')] }
}

describe('run-turn after a crash', () => {
  it('a once tool whose intent is on record is never run again and its outcome reported as unknown', async () => {
    const { ran, tools } = toolsOf('once')
    const model = fakeModel({ deltas: ['done'] })
    const played = await play(agentWith(model, tools)(resumed({ intended: ['a'] }), never()))
    expect(ran).toEqual(['b'])
    expect(results(played.journal)[0]).toEqual({
      callId: 'a',
      tool: 'first',
      content: 'interrupted, outcome unknown, check before repeating',
      isError: true,
    })
    expect(played.result).toMatchObject({ kind: 'final', steps: 2, usage: { input: 110, output: 11 } })
  })

  it.each(['pure', 'keyed'] as const)(
    'a %s tool runs again under the same call id, without a second intent',
    async (kind) => {
      const { ran, tools } = toolsOf(kind)
      const played = await play(
        agentWith(fakeModel({ deltas: ['done'] }), tools)(resumed({ intended: ['a', 'b'] }), never()),
      )
      expect(ran).toEqual(['a', 'b'])
      expect(story(played.journal)).toEqual(['tool_result a', 'tool_result b'])
    },
  )

  it('results on record are kept, not journaled again, and stand in call order in the request', async () => {
    const { ran, tools } = toolsOf('once')
    const kept = { callId: 'b', tool: 'second', content: textContent('kept'), isError: false }
    const model = fakeModel({ deltas: ['done'] })
    const played = await play(agentWith(model, tools)(resumed({ intended: ['b'], results: [kept] }), never()))
    expect(ran).toEqual(['a'])
    expect(story(played.journal)).toEqual(['tool_call a', 'tool_result a'])
    expect(model.requests[0]?.messages.at(-1)).toEqual({
      role: 'tool',
      results: [
        { id: 'a', content: textContent('first again'), isError: false },
        { id: 'b', content: textContent('kept'), isError: false },
      ],
    })
  })

  it('a tool that left the configuration after its intent counts as interrupted', async () => {
    const played = await play(agentWith(fakeModel({ deltas: ['done'] }))(resumed({ intended: ['a'] }), never()))
    expect(results(played.journal).map(({ content }) => content)).toEqual([
      'interrupted, outcome unknown, check before repeating',
      'There is no tool "second". You have no tools.',
    ])
  })

  it('R14: a step at the limit is settled without running anything and the model is not asked', async () => {
    const { ran, tools } = toolsOf('pure')
    const model = fakeModel({ deltas: ['never'] })
    const played = await play(
      agentWith(model, tools)({ ...resumed({}), agent: { ...resumed({}).agent, maxSteps: 1 } }, never()),
    )
    expect([ran, model.requests]).toEqual([[], []])
    expect(results(played.journal)).toHaveLength(2)
    expect(played.result).toMatchObject({ kind: 'final', error: 'turn_limit', steps: 1, usage: spent.usage })
  })

  it('R31: an abort before the resumed calls began gives each a result', async () => {
    const { ran, tools } = toolsOf('once')
    const played = await play(agentWith(fakeModel(), tools)(resumed({ intended: ['a'] }), AbortSignal.abort()))
    expect(ran).toEqual([])
    expect(results(played.journal).map(({ callId }) => callId)).toEqual(['a', 'b'])
    expect(played.result).toEqual({ kind: 'aborted', ...spent })
  })
})
