import { describe, expect, it } from 'vitest'
import { echoModel } from '../../src/agent/models/scripted/echo.ts'
import { textContent } from '../../src/core/content.ts'
import { ParleyError } from '../../src/core/errors.ts'
import { armFailpoints } from '../../src/core/failpoint.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { ModelMessage, Opaque } from '../../src/core/model.ts'
import type { JournalDraft } from '../../src/core/turn.ts'
import { agentWith, call, failure, fakeModel, never, play, results, tool, turnRequest } from './turns.ts'

describe('run-turn', () => {
  const { agent } = turnRequest()

  it('an answer without tools is shown while it grows and ends final with usage, steps and the model that answered', async () => {
    const model = fakeModel({ deltas: ['Hel', 'lo'] })
    const shown: string[] = []
    const played = await play(agentWith(model)(turnRequest({ show: (text) => void shown.push(text) }), never()))
    expect(shown).toEqual(['Hel', 'Hello'])
    expect(played.journal).toEqual([])
    expect(played.result).toEqual({
      kind: 'final',
      text: 'Hello',
      model: 'fake/model-1',
      usage: { input: 10, output: 1 },
      steps: 1,
      context: { read: 10, shortened: false },
    })
  })

  it('the echo model answers the newest user text', async () => {
    const played = await play(agentWith(echoModel)(turnRequest(), never()))
    expect(played.result).toMatchObject({ kind: 'final', text: 'echo hello', model: 'scripted/echo' })
  })

  it('a tool turn commits the step, then the intent, then runs the tool, then commits its result', async () => {
    const done: string[] = []
    const clock = tool('clock', { class: 'once', run: async () => `${done.push('ran')} o'clock` })
    const model = fakeModel({ deltas: ['Let me see.'], calls: [call('a', 'clock')] }, { deltas: ['One.'] })
    const played = await play(agentWith(model, [clock])(turnRequest(), never()), (event) => {
      done.push(event.type)
    })
    expect(done).toEqual(['assistant_step', 'tool_call', 'ran', 'tool_result'])
    expect(played.journal[1]).toEqual({
      type: 'tool_call',
      data: { callId: 'a', tool: 'clock', args: {}, class: 'once' },
    })
    expect(model.requests[1]?.messages).toEqual([
      { role: 'user', content: textContent('hello') },
      { role: 'assistant', text: 'Let me see.', calls: [call('a', 'clock')] },
      { role: 'tool', results: [{ id: 'a', content: textContent("3 o'clock"), isError: false }] },
    ])
    expect(played.result).toMatchObject({ kind: 'final', text: 'One.', steps: 2, usage: { input: 20, output: 2 } })
  })

  describe('opaque fields of a step', () => {
    const tools = [tool('clock')]
    const played = (opaque: Opaque) => {
      const model = fakeModel({ calls: [call('a', 'clock')], opaque }, { deltas: ['One.'] })
      return play(agentWith(model, tools)(turnRequest(), never())).then((one) => ({ ...one, model }))
    }

    it('C26: they are on record with their step before its tools run, and go back with it', async () => {
      const opaque = { model: 'fake/model', tokens: 7, data: [{ signature: 'sig' }] }
      const { journal, model } = await played(opaque)
      expect(journal[0]).toMatchObject({ type: 'assistant_step', data: { opaque } })
      expect(model.requests[1]?.messages[1]).toMatchObject({ role: 'assistant', opaque })
    })

    it('C26: what is too large to be stored is not kept, and the turn goes on without it', async () => {
      const { journal, model, result } = await played({ model: 'fake/model', tokens: 7, data: 'x'.repeat(1_000_001) })
      expect(journal[0]?.data).not.toHaveProperty('opaque')
      expect(model.requests[1]?.messages[1]).not.toHaveProperty('opaque')
      expect(result).toMatchObject({ kind: 'final', text: 'One.' })
    })
  })

  it('R14, C11: the step limit ends with an assistant text, turn_limit and real usage', async () => {
    let runs = 0
    const counter = tool('count', { run: async () => String(++runs) })
    const model = fakeModel(
      ...Array.from({ length: 20 }, (_, n) => ({ deltas: [`step ${n}`], calls: [call(`c${n}`, 'count', { n })] })),
    )
    const played = await play(agentWith(model, [counter])(turnRequest({ agent: { ...agent, maxSteps: 3 } }), never()))
    expect(model.requests).toHaveLength(3)
    expect(played.result).toMatchObject({
      kind: 'final',
      error: 'turn_limit',
      steps: 3,
      usage: { input: 30, output: 3 },
      text: 'step 2\n\nI stopped here after 3 steps.',
    })
    expect(runs).toBe(2)
    expect(results(played.journal).at(-1)).toMatchObject({ callId: 'c2', isError: true })
  })

  it('R14: the limit is ten steps unless set, counting those before a crash', async () => {
    const model = fakeModel({ calls: [call('x', 'nothing')] }, { calls: [call('y', 'other')] }, { calls: [] })
    const spent = { steps: 9, usage: { input: 500, output: 50 } }
    const played = await play(agentWith(model)(turnRequest({ spent }), never()))
    expect(played.result).toMatchObject({ error: 'turn_limit', steps: 10, usage: { input: 510, output: 51 } })
    expect(played.result).toMatchObject({ text: 'I stopped here after 10 steps.' })
  })

  it('an empty answer without a marker fails as model_empty', async () => {
    const played = await play(agentWith(fakeModel({ deltas: [' \n'] }))(turnRequest(), never()))
    expect(played.result).toMatchObject({ kind: 'failed', code: 'model_empty', steps: 1, usage: { input: 10 } })
  })

  it('an answer that is a silence marker is final and raw', async () => {
    const played = await play(agentWith(fakeModel({ deltas: ['<NO_', 'REPLY>'] }))(turnRequest(), never()))
    expect(played.result).toMatchObject({ kind: 'final', text: '<NO_REPLY>' })
  })

  it('an answer cut at the token limit is delivered as it is', async () => {
    const model = fakeModel({ deltas: ['half an ans'], stop: 'length' })
    const played = await play(agentWith(model, [tool('clock')])(turnRequest(), never()))
    expect(played.result).toEqual({
      kind: 'final',
      text: 'half an ans',
      cut: true,
      model: 'fake/model-1',
      usage: { input: 10, output: 1 },
      steps: 1,
      context: { read: 10, shortened: false },
    })
    expect(played.journal).toEqual([])
  })

  it('a refusal fails as model_refused even if some text came', async () => {
    const played = await play(agentWith(fakeModel({ deltas: ['I'], stop: 'refused' }))(turnRequest(), never()))
    expect(failure(played.result)).toBe('model_refused')
  })

  it('C16: an unexpected failure ends as failed with a code; its text is only in the cause', async () => {
    const cause = new Error('secret detail of the machine')
    const played = await play(agentWith(fakeModel({ deltas: ['Well'], fail: cause }))(turnRequest(), never()))
    expect(played.result).toEqual({
      kind: 'failed',
      code: 'internal',
      cause,
      steps: 0,
      usage: { input: 0, output: 0 },
    })
  })

  it('a failure of the second step keeps what the first one used', async () => {
    const fail = new ParleyError('model_overloaded', 'busy')
    const model = fakeModel({ calls: [call('a', 'clock')] }, { fail })
    const played = await play(agentWith(model, [tool('clock')])(turnRequest(), never()))
    expect(played.result).toMatchObject({ kind: 'failed', code: 'model_overloaded', steps: 1, usage: { input: 10 } })
  })

  it('a model that cannot be made and a tool group nobody knows end as failed with their codes', async () => {
    const models = () => Promise.reject(new ParleyError('model_unconfigured', 'no key'))
    const noModel = await play(agentWith(fakeModel(), [], { models })(turnRequest(), never()))
    const tools = () => {
      throw new ParleyError('config', 'no such group')
    }
    const noTools = await play(agentWith(fakeModel(), [], { tools })(turnRequest(), never()))
    expect([noModel, noTools].map(({ result }) => failure(result))).toEqual(['model_unconfigured', 'config'])
  })

  it('a stream that ends without an end fails as model_failed', async () => {
    const played = await play(agentWith({ id: 'fake/torn', async *stream() {} })(turnRequest(), never()))
    expect(failure(played.result)).toBe('model_failed')
  })

  it('a model that fails before it gives anything at once fails with its code', async () => {
    const stream = () => {
      throw new ParleyError('model_auth', 'no')
    }
    const played = await play(agentWith({ id: 'fake/refused', stream })(turnRequest(), never()))
    expect(failure(played.result)).toBe('model_auth')
  })

  it('texts said meanwhile reach the next request, and are asked for only at step boundaries', async () => {
    const model = fakeModel({ calls: [call('a', 'clock')] }, { deltas: ['ok'] })
    const said = ['wait,', 'not that one'].map(textContent)
    const steer = async () => said.splice(0)
    await play(agentWith(model, [tool('clock')])(turnRequest({ steer }), never()))
    expect(model.requests[0]?.messages).toHaveLength(1)
    expect(model.requests[1]?.messages.slice(-2)).toEqual([
      { role: 'user', content: textContent('wait,') },
      { role: 'user', content: textContent('not that one') },
    ])
  })

  it('the request carries prompt, tool specs and the token limit', async () => {
    const model = fakeModel({ deltas: ['ok'] })
    await play(agentWith(model, [tool('clock')])(turnRequest({ agent: { ...agent, answerTokens: 77 } }), never()))
    expect(model.requests[0]).toMatchObject({ maxTokens: 77, tools: [{ name: 'clock' }] })
    expect(model.requests[0]?.system).toMatch(/^Be brief\..*local to UTC/s)
  })

  it('a damaged history is repaired for the request and the repair is logged with the trace id', async () => {
    const warned: unknown[] = []
    const logger = { ...silentLogger, warn: (_: string, fields?: object) => void warned.push(fields) }
    const model = fakeModel({ deltas: ['ok'] })
    const messages: ModelMessage[] = [
      { role: 'user', content: textContent('hello') },
      { role: 'assistant', text: '', calls: [call('lost', 'clock')] },
      { role: 'user', content: textContent('and?') },
    ]
    await play(agentWith(model, [], { logger })(turnRequest({ messages }), never()))
    expect(model.requests[0]?.messages[2]).toMatchObject({ role: 'tool', results: [{ id: 'lost', isError: true }] })
    expect(warned).toEqual([expect.objectContaining({ traceId: 'tr_1', repairs: 1 })])
  })

  it('each step is shown from its own beginning', async () => {
    const model = fakeModel({ deltas: ['Let me ', 'see.'], calls: [call('a', 'clock')] }, { deltas: ['One.'] })
    const shown: string[] = []
    const show = (text: string) => void shown.push(text)
    await play(agentWith(model, [tool('clock')])(turnRequest({ show }), never()))
    expect(shown).toEqual(['Let me ', 'Let me see.', 'One.'])
  })

  it('an abort stops the model call', async () => {
    const stop = new AbortController()
    let given: AbortSignal | undefined
    const model = {
      id: 'fake/endless',
      async *stream(_request: unknown, signal: AbortSignal) {
        given = signal
        while (!signal.aborted) yield { type: 'text', delta: '.' } as const
      },
    }
    const show = (text: string) => text.length === 3 && stop.abort()
    const { result } = await play(agentWith(model)(turnRequest({ show }), stop.signal))
    expect([result.kind, given?.aborted]).toEqual(['aborted', true])
  })

  it('the failpoints are reached in the order of the message path', async () => {
    const seen: string[] = []
    const note = (event: JournalDraft) => void seen.push(event.type)
    const clock = tool('clock', {
      run: async () => {
        seen.push('effect')
        return 'late'
      },
    })
    const model = fakeModel({ calls: [call('a', 'clock')] }, { deltas: ['a', 'b', 'c'] })
    armFailpoints((point) => seen.push(point))
    try {
      const { result } = await play(agentWith(model, [clock])(turnRequest(), never()), note)
      seen.push(result.kind)
    } finally {
      armFailpoints(() => {})
    }
    expect(seen).toEqual([
      'CP6-model-answer-uncommitted',
      'assistant_step',
      'tool_call',
      'CP7-tool-intent',
      'effect',
      'CP8-tool-running',
      'CP9-tool-done-uncommitted',
      'tool_result',
      'CP5-mid-stream',
      'CP6-model-answer-uncommitted',
      'final',
    ])
  })
})
