import { describe, expect, it } from 'vitest'
import { textContent } from '../../src/core/content.ts'
import type { StepData } from '../../src/core/event.ts'
import type { ModelMessage } from '../../src/core/model.ts'
import { failureCause, modelRemedy } from '../../src/core/model-remedy.ts'
import type { JournalDraft } from '../../src/core/turn.ts'
import { calmLine } from '../../src/sessions/turns/turn-reply.ts'
import { advance, BEGINNING } from '../../src/sessions/view/running-turn-view.ts'
import {
  agentWith,
  call,
  failure,
  fakeModel,
  never,
  play,
  results,
  type Say,
  story,
  tool,
  turnRequest,
} from './turns.ts'

const { agent } = turnRequest()
const limited = { ...agent, answerTokens: 900 }

/** A cut answer with one call, whose arguments are torn or happen to be whole. */
function cut(id: string, more: { args?: unknown; said?: string; name?: string } = {}): Say {
  const { args = '{"text":"half of', said = '', name = 'write' } = more
  return { deltas: [said], calls: [call(id, name, args)], stop: 'length' }
}

/** A tool that counts its runs. */
function writing() {
  const ran: string[] = []
  const run = async (_: unknown, { callId }: { readonly callId: string }) => {
    ran.push(callId)
    return 'written'
  }
  return { ran, tools: [tool('write', { class: 'once', run })] }
}

/** The request of the same turn after a crash behind so many events of its journal. */
function resumedAfter(journal: readonly JournalDraft[], events: number) {
  const before = journal.slice(0, events)
  const start = { ...BEGINNING, id: 'turn_1', received: [], notes: [] } as unknown as Parameters<typeof advance>[0]
  const { steps, open, spent } = before.reduce((view, event) => advance(view, event as never), start)
  const messages: ModelMessage[] = [{ role: 'user', content: textContent('hello') }, ...steps]
  return turnRequest({ agent: limited, messages, open, spent })
}

describe('an answer that is cut at its limit of tokens within its calls', () => {
  const words =
    'not run: the answer was cut at its limit of 900 tokens within its calls, so that none of them was made. Go on in smaller steps: shorter arguments, and one call an answer.'

  it.each([
    ['whose arguments are torn', [call('a', 'write', '{"text":"half of')]],
    ['whose arguments are whole', [call('a', 'write', { text: 'a' })]],
    ['without arguments', [call('a', 'write', undefined)]],
    ['of several calls', [call('a', 'write'), call('b', 'write', '{"te'), call('c', 'nothing')]],
    ['of no name', [call('a', '')]],
  ])(
    'R14: %s is journaled, each call is answered with the limit, nothing runs, and the model goes on',
    async (_, calls) => {
      const { ran, tools } = writing()
      const model = fakeModel({ deltas: ['I write.'], calls, stop: 'length' }, { deltas: ['Shorter now.'] })
      const { journal, result } = await play(agentWith(model, tools)(turnRequest({ agent: limited }), never()))
      expect(ran).toEqual([])
      expect(story(journal)).toEqual(['assistant_step', ...calls.map(({ id }) => `tool_result ${id}`)])
      expect(journal[0]?.data).toMatchObject({ cut: true, text: 'I write.' })
      expect(results(journal)).toEqual(
        calls.map(({ id, name }) => ({ callId: id, tool: name, content: words, isError: true })),
      )
      expect(model.requests[1]?.messages.slice(1)).toEqual([
        { role: 'assistant', text: 'I write.', calls },
        { role: 'tool', results: calls.map(({ id }) => ({ id, content: textContent(words), isError: true })) },
      ])
      expect(result).toMatchObject({ kind: 'final', text: 'Shorter now.', steps: 2 })
    },
  )

  it('R14: the third in a row ends the turn with what was said, the limit and its setting, and takes no further messages', async () => {
    const { ran, tools } = writing()
    let steered = 0
    const steer = async () => {
      steered++
      return []
    }
    const model = fakeModel(cut('a'), cut('b'), cut('c', { said: 'I write the page.' }), { deltas: ['never'] })
    const request = turnRequest({ agent: limited, steer })
    const { journal, result } = await play(agentWith(model, tools)(request, never()))
    expect([ran, model.requests.length, steered]).toEqual([[], 3, 2])
    expect(results(journal).map(({ content }) => content)).toEqual([words, words, words])
    expect(result).toMatchObject({
      ...{ kind: 'final', error: 'model_cut', steps: 3, usage: { input: 30, output: 3 } },
      text: 'I write the page.\n\nI stopped here because my steps are longer than the 900 tokens that I may write at once (answerTokens).',
    })
  })

  it('one that is whole in between begins the count anew', async () => {
    const { ran, tools } = writing()
    const whole = (id: string): Say => ({ calls: [call(id, 'write', { id })] })
    const model = fakeModel(cut('a'), cut('b'), whole('c'), cut('d'), cut('e'), { deltas: ['Done.'] })
    const { result } = await play(agentWith(model, tools)(turnRequest({ agent: limited }), never()))
    expect(ran).toEqual(['c'])
    expect(result).toMatchObject({ kind: 'final', text: 'Done.', steps: 6 })
  })

  it('a tool that fails in like words is no cut answer', async () => {
    const run = async () => {
      throw new Error('the answer was cut at its limit')
    }
    const model = fakeModel(...['a', 'b', 'c', 'd'].map((id) => ({ calls: [call(id, 'write', { id })] })), {
      deltas: ['Done.'],
    })
    const { result } = await play(agentWith(model, [tool('write', { run })])(turnRequest(), never()))
    expect(result).toMatchObject({ kind: 'final', text: 'Done.' })
  })

  it.each([1, 2, 3, 4, 5, 6])('a crash behind event %i of the turn changes nothing', async (events) => {
    const says = [
      cut('a', { args: { text: 'whole' } }),
      cut('b', { args: { text: 'other' } }),
      cut('c', { said: 'I write.', args: {} }),
    ]
    const { ran, tools } = writing()
    const first = await play(agentWith(fakeModel(...says), tools)(turnRequest({ agent: limited }), never()))
    const model = fakeModel(...says.slice(Math.ceil(events / 2)))
    const again = await play(agentWith(model, tools)(resumedAfter(first.journal, events), never()))
    expect(ran).toEqual([])
    expect([...first.journal.slice(0, events), ...again.journal]).toEqual(first.journal)
    const ending = ({ result }: typeof first) =>
      result.kind === 'final' ? [result.text, result.error, result.steps, result.usage] : result.kind
    expect(ending(again)).toEqual(ending(first))
  })

  it('at the limit of steps each call is answered with that, and the turn ends with it', async () => {
    const model = fakeModel(cut('a'))
    const { journal, result } = await play(
      agentWith(model, writing().tools)(turnRequest({ agent: { ...limited, maxSteps: 1 } }), never()),
    )
    expect(results(journal).map(({ content }) => content)).toEqual(['not run: the turn has reached its limit'])
    expect(result).toMatchObject({ error: 'turn_limit' })
  })

  it('one that the model declined is a refusal', async () => {
    const model = fakeModel({ calls: [call('a', 'write')], stop: 'refused' })
    const { journal, result } = await play(agentWith(model, writing().tools)(turnRequest(), never()))
    expect([journal, failure(result)]).toEqual([[], 'model_refused'])
  })

  it('the step is on record as cut', async () => {
    const { journal } = await play(
      agentWith(fakeModel(cut('a'), { calls: [call('b', 'write')] }, {}), writing().tools)(turnRequest(), never()),
    )
    const steps = journal.filter(({ type }) => type === 'assistant_step').map(({ data }) => (data as StepData).cut)
    expect(steps).toEqual([true, undefined])
  })
})

describe('an answer that used up its tokens and said nothing', () => {
  it.each([[[]], [['']], [[' \n']]])('of the texts %j fails as model_cut', async (deltas) => {
    const { result } = await play(agentWith(fakeModel({ deltas, stop: 'length' }))(turnRequest(), never()))
    expect(failure(result)).toBe('model_cut')
    expect(result).toMatchObject({ cause: { message: expect.stringMatching(/answerTokens.*thoughts/) } })
  })

  it('says what can be done, to people without a setting and to the operator with it', () => {
    expect(calmLine('model_cut', turnRequest().traceId)).toMatch(/reached its longest.*ask for less/)
    expect(failureCause('model_cut')).toMatch(/longest answer/)
    expect(modelRemedy('model_cut')).toMatch(/answerTokens.*\/think/)
  })
})
