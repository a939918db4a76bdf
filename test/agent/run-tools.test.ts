import { describe, expect, it, onTestFinished } from 'vitest'
import { inWords } from '../../src/core/content-words.ts'
import { ParleyError } from '../../src/core/errors.ts'
import type { MediaId } from '../../src/core/ids.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'
import { movedClock } from './moved-clock.ts'
import { agentWith, call, fakeModel, never, play, results, story, tool, turnRequest } from './turns.ts'

describe('run-tools', () => {
  it('pure calls of one step: all intents first, then side by side, results as they end', async () => {
    const slow = deferred<void>()
    const first = tool('first', { run: async () => slow.promise.then(() => '1') })
    const second = tool('second', { run: async () => '2' })
    const model = fakeModel({ calls: [call('a', 'first'), call('b', 'second')] }, { deltas: ['done'] })
    const played = await play(agentWith(model, [first, second])(turnRequest(), never()), (event) => {
      if (event.type === 'tool_result') slow.resolve()
    })
    expect(story(played.journal)).toEqual([
      'assistant_step',
      'tool_call a',
      'tool_call b',
      'tool_result b',
      'tool_result a',
    ])
    const answered = model.requests[1]?.messages.at(-1)
    expect(answered?.role === 'tool' && answered.results.map(({ content }) => inWords(content))).toEqual(['1', '2'])
  })

  it('of many pure calls of one step five run at a time', async () => {
    let [running, most] = [0, 0]
    const look = tool('look', {
      run: async () => {
        most = Math.max(most, ++running)
        await new Promise(setImmediate)
        running--
        return 'seen'
      },
    })
    const calls = Array.from({ length: 23 }, (_, nth) => call(`c${nth}`, 'look'))
    const played = await play(agentWith(fakeModel({ calls }, { deltas: ['done'] }), [look])(turnRequest(), never()))
    expect(results(played.journal).map(({ content }) => content)).toEqual(Array(23).fill('seen'))
    expect([running, most]).toEqual([0, 5])
  })

  it('a part of the program that is gone is no result of a tool: the turn is left for the next start', async () => {
    const { href: url } = new URL('../../src/core/gone.ts', import.meta.url)
    const cause = Object.assign(new Error('Cannot find module'), { code: 'ERR_MODULE_NOT_FOUND', url })
    const broken = tool('broken', { run: () => Promise.reject(cause) })
    const model = fakeModel({ calls: [call('a', 'broken')] }, { deltas: ['done'] })
    const { journal, result } = await play(agentWith(model, [broken])(turnRequest(), never()))
    expect([results(journal), result]).toMatchObject([[], { kind: 'failed', cause }])
  })

  it('a turn that ends leaves no timer of its tools behind', async () => {
    const clock = movedClock()
    const model = fakeModel({ calls: [call('a', 'look')] }, { deltas: ['done'] })
    await play(agentWith(model, [tool('look')], { clock })(turnRequest(), never()))
    await new Promise(setImmediate)
    expect(clock.pending()).toBe(0)
  })

  it('a caller that leaves stops the tools that still run', async () => {
    const stopped = deferred<void>()
    const endless = tool('endless', {
      run: (_, { signal }) => new Promise(() => signal.addEventListener('abort', () => stopped.resolve())),
    })
    const model = fakeModel({ calls: [call('a', 'quick'), call('b', 'endless')] })
    for await (const event of agentWith(model, [tool('quick'), endless])(turnRequest(), never())) {
      if (event.type === 'tool_result') break
    }
    await stopped.promise
    expect(model.requests).toHaveLength(1)
  })

  it('calls of which one is not pure run in order, each intent just before its run', async () => {
    const running: string[] = []
    const noted = (name: string, kind: 'pure' | 'once') =>
      tool(name, {
        class: kind,
        run: async () => {
          running.push(name)
          return name
        },
      })
    const model = fakeModel({ calls: [call('a', 'send'), call('b', 'read')] }, { deltas: ['done'] })
    const tools = [noted('send', 'once'), noted('read', 'pure')]
    const played = await play(agentWith(model, tools)(turnRequest(), never()))
    expect(story(played.journal)).toEqual([
      'assistant_step',
      'tool_call a',
      'tool_result a',
      'tool_call b',
      'tool_result b',
    ])
    expect(running).toEqual(['send', 'read'])
  })

  it('an unknown tool is answered with the names of the known ones, without an intent', async () => {
    const model = fakeModel({ calls: [call('a', 'tme')] }, { deltas: ['sorry'] })
    const played = await play(agentWith(model, [tool('time'), tool('send')])(turnRequest(), never()))
    expect(story(played.journal)).toEqual(['assistant_step', 'tool_result a'])
    expect(results(played.journal)[0]).toEqual({
      callId: 'a',
      tool: 'tme',
      content: 'There is no tool "tme". Known tools: time, send.',
      isError: true,
    })
  })

  it.each([
    ['text', 'not json'],
    ['null', null],
    ['a list', []],
    ['an object without a required field', { other: 1 }],
  ])('arguments that are %s never reach the tool', async (_, args) => {
    const strict = tool('strict', { required: ['to'], run: () => Promise.reject(new Error('was run')) })
    const model = fakeModel({ calls: [call('a', 'strict', args)] }, { deltas: ['sorry'] })
    const played = await play(agentWith(model, [strict])(turnRequest(), never()))
    expect(results(played.journal)[0]?.content).toMatch(/JSON object|Missing arguments of strict: to/)
  })

  it('a tool that throws, even at once, is an error result with its message', async () => {
    const late = tool('late', { run: () => Promise.reject(new Error('no such chat')) })
    const early = tool('early', {
      run: () => {
        throw new Error('bad zone')
      },
    })
    const model = fakeModel({ calls: [call('a', 'late'), call('b', 'early')] }, { deltas: ['sorry'] })
    const played = await play(agentWith(model, [late, early])(turnRequest(), never()))
    expect(results(played.journal)).toEqual(
      expect.arrayContaining([
        { callId: 'a', tool: 'late', content: 'no such chat', isError: true },
        { callId: 'b', tool: 'early', content: 'bad zone', isError: true },
      ]),
    )
  })

  it('a result is cut at 200,000 characters with a visible mark, never inside a character', async () => {
    const big = tool('big', { run: async () => `${'x'.repeat(199_999)}😀${'y'.repeat(99)}` })
    const whole = tool('whole', { run: async () => 'z'.repeat(200_000) })
    const model = fakeModel({ calls: [call('a', 'big'), call('b', 'whole')] }, { deltas: ['ok'] })
    const played = await play(agentWith(model, [big, whole])(turnRequest(), never()))
    const byId = new Map(results(played.journal).map(({ callId, content }) => [callId, content]))
    expect(byId.get('a')?.startsWith(`${'x'.repeat(199_999)}\n[cut: 101 more characters]\n[file: big.txt, `)).toBe(true)
    expect(byId.get('b')).toHaveLength(200_000)
  })

  it('a result above the limit is kept whole, without secrets, as a file that is named behind it', async () => {
    const kept: string[] = []
    const keep = async (bytes: Uint8Array, name = '') => {
      kept.push(Buffer.from(bytes).toString())
      return { type: 'file', media: 'media_1' as MediaId, mime: 'text/plain', size: bytes.length, name } as const
    }
    const redact = (text: string) => text.replaceAll('canary', '[secret]')
    const big = tool('big', { run: async () => `${'x'.repeat(2_000)} canary` })
    const small = tool('small', { run: async () => 'y'.repeat(1_000) })
    const model = fakeModel({ calls: [call('a', 'big'), call('b', 'small')] }, { deltas: ['ok'] })
    const options = { media: { keep }, redact, results: { maxCharacters: 1_000, pruneFrom: 1_000 } }
    const played = await play(agentWith(model, [big, small], options)(turnRequest(), never()))
    expect(kept).toEqual([`${'x'.repeat(2_000)} [secret]`])
    const byId = new Map(results(played.journal).map(({ callId, content }) => [callId, content]))
    expect(byId.get('a')).toBe(`${'x'.repeat(1_000)}\n[cut: 1009 more characters]\n[file: big.txt, text/plain, 2 KB]`)
    expect(byId.get('b')).toHaveLength(1_000)
  })

  it('a step of many calls side by side prints no warning', async () => {
    const warnings: string[] = []
    const note = (warning: Error) => void warnings.push(warning.name)
    process.on('warning', note)
    onTestFinished(() => void process.off('warning', note))
    const calls = Array.from({ length: 30 }, (_, no) => call(`c${no}`, 'look'))
    const played = await play(
      agentWith(fakeModel({ calls }, { deltas: ['ok'] }), [tool('look')])(turnRequest(), never()),
    )
    expect(results(played.journal)).toHaveLength(30)
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
  })

  it('R31: an abort while a tool runs waits for its result and answers the calls that had not begun', async () => {
    const stop = new AbortController()
    const sending = tool('send', {
      class: 'once',
      run: async (_, { signal }) => {
        stop.abort()
        return signal.aborted ? 'stopped in time' : 'sent'
      },
    })
    const model = fakeModel({ calls: [call('a', 'send'), call('b', 'send')] })
    const played = await play(agentWith(model, [sending])(turnRequest(), stop.signal))
    expect(story(played.journal)).toEqual(['assistant_step', 'tool_call a', 'tool_result a', 'tool_result b'])
    expect(results(played.journal).map(({ content }) => content)).toEqual([
      'stopped in time',
      'not run: the turn was stopped',
    ])
    expect(played.result).toEqual({ kind: 'aborted', steps: 1, usage: { input: 10, output: 1 } })
  })

  it.each([
    ['once', 'interrupted, outcome unknown, check before repeating'],
    ['pure', 'not wanted'],
  ] as const)('R31: the outcome of a %s tool that ends with the abort is "%s"', async (kind, words) => {
    const stop = new AbortController()
    const sending = tool('send', {
      class: kind,
      run: async () => {
        stop.abort()
        throw new ParleyError('aborted', 'not wanted')
      },
    })
    const turn = agentWith(fakeModel({ calls: [call('a', 'send')] }), [sending])(turnRequest(), stop.signal)
    expect(results((await play(turn)).journal)[0]).toMatchObject({ content: words, isError: true })
  })

  it('R31: a tool that ignores the abort is given up after a grace, its outcome unknown', async () => {
    const clock = movedClock()
    const stop = new AbortController()
    const deaf = tool('deaf', { run: () => new Promise(() => {}) })
    const turn = agentWith(fakeModel({ calls: [call('a', 'deaf')] }), [deaf], { clock })(turnRequest(), stop.signal)
    const playing = play(turn, (event) => {
      if (event.type === 'tool_call') setImmediate(() => stop.abort())
    })
    await clock.timerOf(2_000)
    clock.advance(2_000)
    const played = await playing
    expect(results(played.journal)[0]).toMatchObject({ isError: true, content: expect.stringMatching(/unknown/) })
    expect(played.result.kind).toBe('aborted')
    expect(clock.pending()).toBe(0)
  })

  it('R31: an abort while the model streams leaves no tool call behind', async () => {
    const stop = new AbortController()
    const model = fakeModel({ deltas: ['Well'], calls: [call('a', 'send')], hold: new Promise(() => {}) })
    const request = turnRequest({ show: () => stop.abort() })
    const played = await play(agentWith(model, [tool('send')])(request, stop.signal))
    expect(played.journal).toEqual([])
    expect(played.result).toEqual({ kind: 'aborted', steps: 0, usage: { input: 0, output: 0 } })
  })

  it('R31: an abort just before the answer is whole journals none of its calls', async () => {
    const stop = new AbortController()
    const model = fakeModel({ deltas: ['Well'], calls: [call('a', 'send')] })
    const request = turnRequest({ show: () => stop.abort() })
    const played = await play(agentWith(model, [tool('send')])(request, stop.signal))
    expect(played.journal).toEqual([])
    expect(played.result).toEqual({ kind: 'aborted', steps: 1, usage: { input: 10, output: 1 } })
  })

  it('R31: an abort between the step and its tools answers every call without running it', async () => {
    const stop = new AbortController()
    const model = fakeModel({ calls: [call('a', 'send'), call('b', 'nothing')] })
    const sending = tool('send', { run: () => Promise.reject(new Error('was run')) })
    const played = await play(agentWith(model, [sending])(turnRequest(), stop.signal), (event) => {
      if (event.type === 'assistant_step') stop.abort()
    })
    expect(new Set(results(played.journal).map(({ callId }) => callId))).toEqual(new Set(['a', 'b']))
    expect(results(played.journal).map(({ content }) => content)).toContain('not run: the turn was stopped')
    expect(played.result.kind).toBe('aborted')
  })
})
