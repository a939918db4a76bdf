import { describe, expect, it } from 'vitest'
import { askModel } from '../../../src/agent/models/ask-model.ts'
import { ModelError } from '../../../src/agent/models/model-error.ts'
import { readAnswer } from '../../../src/agent/models/read-answer.ts'
import { retryModel } from '../../../src/agent/models/retry-model.ts'
import { createTraitBook, type ModelTraits } from '../../../src/agent/models/traits.ts'
import { silentLogger } from '../../../src/core/logger.ts'
import { type Model, type ModelEvent, type ModelRequest, NO_USAGE, type StopReason } from '../../../src/core/model.ts'
import { hastyClock } from '../moved-clock.ts'
import { call, never } from '../turns.ts'

const TOOL = { name: 'note', description: '', parameters: { type: 'object' } }
const OPAQUE = { model: 'a/b', tokens: 5, data: {} }

type Part = string | ModelEvent

const end = (stop: StopReason = 'end', opaque?: typeof OPAQUE): ModelEvent => ({
  ...{ type: 'end', stop, usage: NO_USAGE, model: 'a/b-1' },
  ...(opaque === undefined ? {} : { opaque }),
})

/** A model that says one list of parts after the other, the last again and again. */
function saying(id: string, ...answers: readonly (readonly Part[])[]): Model {
  let asked = 0
  return {
    id,
    async *stream() {
      const parts = answers[Math.min(asked++, answers.length - 1)] ?? []
      for (const part of parts) yield typeof part === 'string' ? { type: 'text', delta: part } : part
    },
  }
}

const asksFor = (id: string): ModelEvent => ({ type: 'tool_call', call: call(id, 'note') })

/** A model that says a text and breaks off. */
function breaking(text: string): Model {
  return {
    id: 'a/b',
    async *stream() {
      yield { type: 'text', delta: text }
      throw new Error('broken')
    },
  }
}

interface Asking {
  readonly id?: string
  readonly tools?: ModelRequest['tools']
  readonly traits?: ModelTraits
}

/** Known to send thoughts apart, so that it shows its first answer as it comes. */
const traitsOf = (): ModelTraits => createTraitBook().of('a/b', ['thoughts-apart'])
const requestWith = (tools: ModelRequest['tools'] = [TOOL]): ModelRequest => ({
  ...{ system: '', messages: [], tools, maxTokens: 100 },
})

async function eventsOf(model: Model, tools?: ModelRequest['tools']): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.stream(requestWith(tools), never())) events.push(event)
  return events
}

function read(parts: readonly Part[], { id = 'a/b', tools, traits = traitsOf() }: Asking = {}) {
  return eventsOf(readAnswer(saying(id, parts), traits), tools)
}

/** The whole answer, as the agent gets it, and every text that was shown. */
async function answerOf(parts: readonly Part[], { id = 'a/b', tools, traits = traitsOf() }: Asking = {}) {
  const shown: string[] = []
  const model = readAnswer(saying(id, parts), traits)
  const answer = await askModel(model, requestWith(tools), { signal: never(), show: (text) => shown.push(text) })
  return { ...answer, shown }
}

describe('read-answer', () => {
  it('a text in pieces that end between the halves of a character, or are long: the same text', async () => {
    const long = `${'x'.repeat(16_383)}😀${'y'.repeat(40_000)}`
    for (const whole of ['a 😀 and 👨‍💻 b', '😀', long]) {
      const pieces = whole === long ? [long] : [...whole].flatMap((one) => one.split(''))
      const said = (await eventsOf(readAnswer(saying('a/b', [...pieces, end()]), traitsOf())))
        .map((event) => (event.type === 'text' ? event.delta : ''))
        .join('')
      expect(said).toBe(whole)
    }
  })

  it('an ordinary answer passes event by event', async () => {
    const parts = [
      'Hello',
      ' <b>',
      ' you',
      { type: 'tool_call', call: call('c', 'note') },
      end('tools', OPAQUE),
    ] as const
    expect(await read(parts)).toEqual([
      ...[
        { type: 'text', delta: 'Hello' },
        { type: 'text', delta: ' <b>' },
        { type: 'text', delta: ' you' },
      ],
      ...parts.slice(3),
    ])
    expect(readAnswer(saying('x/y'), traitsOf()).id).toBe('x/y')
  })

  it('failed and again pass, a retract where something was said, and what follows is read from its start', async () => {
    const events: ModelEvent[] = [{ type: 'failed', failure: 1 }, { type: 'again' }, { type: 'retract' }]
    expect(await read(['<think>x', ...events, '<think>a</think>Hi.', end()])).toEqual([
      ...events.slice(0, 2),
      { type: 'text', delta: 'Hi.' },
      end(),
    ])
    expect((await read(['So', { type: 'retract' }, 'Hi.', end()])).map(({ type }) => type)).toEqual([
      'text',
      'retract',
      'text',
      'end',
    ])
  })

  it('whatever came before a retract is no part of the answer: neither an open thought nor a call', async () => {
    const parts: readonly Part[] = ['<think>x', asksFor('c'), { type: 'retract' }, 'Hi.', end()]
    expect(await read(parts)).toMatchObject([
      { type: 'text', delta: 'Hi.' },
      { type: 'end', stop: 'end' },
    ])
  })

  it('a thought at the end of an answer that was cut is not said', async () => {
    const events = await read(['One.\n<think>hm', end('length')])
    expect(events.map((event) => (event.type === 'text' ? event.delta : '')).join('')).toBe('One.\n')
  })

  it('fields of a server without thoughts are no thoughts', async () => {
    const traits = traitsOf()
    const fields = end('length', { ...OPAQUE, tokens: 0 })
    expect(await read([fields], { traits })).toEqual([fields])
    expect(traits.has('thinks')).toBe(false)
  })

  describe('the first answer of a model whose ways nobody knows', () => {
    it('waits until it is whole, later ones come as they are written', async () => {
      const answers = [saying('a/b', ['Hello.', end()]), breaking('Hello')]
      const sayingBoth: Model = {
        id: 'a/b',
        stream: (request, signal) => (answers.shift() ?? breaking('Again')).stream(request, signal),
      }
      const model = readAnswer(sayingBoth, createTraitBook().of('a/b'))
      await eventsOf(model)
      const shown: ModelEvent[] = []
      const asked = async () => {
        for await (const event of model.stream(requestWith(), never())) shown.push(event)
      }
      await expect(asked()).rejects.toThrow('broken')
      expect(shown).toEqual([{ type: 'text', delta: 'Hello' }])
      const first = readAnswer(breaking('Hello'), createTraitBook().of('a/b'))
      const unseen: ModelEvent[] = []
      const broken = async () => {
        for await (const event of first.stream(requestWith(), never())) unseen.push(event)
      }
      await expect(broken()).rejects.toThrow('broken')
      expect(unseen).toEqual([])
    })

    const unknown = () => createTraitBook().of('a/b')
    const shownBy = async (model: Model) => {
      const shown: string[] = []
      await askModel(model, requestWith(), { signal: never(), show: (text) => shown.push(text) })
      return shown
    }

    it('is shown when it is whole, the next ones as they come', async () => {
      const model = readAnswer(saying('a/b', ['Hel', 'lo.', end()]), unknown())
      await shownBy(model)
      const events = await read(['Hel', 'lo.', asksFor('c'), end('tools')], { traits: unknown() })
      expect(events.map(({ type }) => type)).toEqual(['text', 'text', 'tool_call', 'end'])
      expect(await shownBy(model)).toEqual(['Hel', 'Hello.'])
    })

    it('shows nothing of a thought that ends without having begun', async () => {
      const parts = ['I should', ' greet.', '</think>', '\n\nHello.', end()]
      expect((await answerOf(parts, { traits: unknown() })).shown).toEqual(['Hello.'])
    })

    it('shows nothing of a thought in which it breaks off', async () => {
      const model = readAnswer(breaking('I should greet'), unknown())
      const shown: string[] = []
      const asked = askModel(model, requestWith(), { signal: never(), show: (text) => shown.push(text) })
      await expect(asked).rejects.toThrow('broken')
      expect(shown).toEqual([])
    })

    it('is shown as it comes behind a thought that is marked', async () => {
      expect((await answerOf(['<think>a</think>', 'Hi', ' you', end()], { traits: unknown() })).shown).toEqual([
        'Hi',
        'Hi you',
      ])
    })
  })

  it('text that was a thought is taken back, and the next answer waits for its mark', async () => {
    const traits = traitsOf()
    const parts = ['I should', ' greet.', '</think>', '\n\nHello.', end()]
    expect(await answerOf(parts, { traits })).toMatchObject({
      text: 'Hello.',
      shown: ['I should', 'I should greet.', '', 'Hello.'],
    })
    expect([traits.has('thinks'), traits.has('thinks-unopened')]).toEqual([true, true])
    expect(await answerOf(parts, { traits })).toMatchObject({ text: 'Hello.', shown: ['Hello.'] })
  })

  it.each([
    ...['ollama/deepseek-r1:8b', 'a/DeepSeek-R1-Distill-Qwen-7B', 'a/qwq', 'a/QwQ-32B', 'a/qwen3-vl-30b-a3b-thinking'],
    ...['a/Qwen3-4B-Thinking-2507', 'a/olmo-3-7b-think', 'or/deepseek/deepseek-r1-0528:free', 'a/MiniMax-M2'],
  ])('%s shows nothing before its mark from the first answer on', async (id) => {
    expect(await answerOf(['I greet', '</think>', 'Hi', ' you', end()], { id })).toMatchObject({
      shown: ['Hi', 'Hi you'],
    })
  })

  it.each(['a/gpt-4o', 'a/claude-3.7-sonnet:thinking', 'a/gemini-2.5-flash-thinking', 'a/qwen3-32b', 'a/deepr1ver'])(
    '%s shows what it says at once',
    async (id) => {
      expect(await answerOf(['Hi', ' you', end()], { id })).toMatchObject({ shown: ['Hi', 'Hi you'] })
    },
  )

  it('a model whose thoughts came apart once is not waited for by its name', async () => {
    const model = readAnswer(saying('a/deepseek-r1', ['Hi', ' you', end('end', OPAQUE)]), traitsOf())
    expect((await eventsOf(model)).length).toBe(2)
    expect((await eventsOf(model)).length).toBe(3)
  })

  it('a call that is written as text is a call with an id that every provider takes', async () => {
    const text = 'I note it.\n<tool_call>{"name":"functions.note","arguments":"{\\"a\\":1}"}</tool_call>'
    for (const deltas of [[text], text.split('')]) {
      const { calls, stop, text: said, shown } = await answerOf([...deltas, end()])
      expect(calls).toMatchObject([{ name: 'note', args: { a: 1 } }])
      expect(calls[0]?.id).toMatch(/^call_[0-9a-f]{32}$/)
      expect({ stop, said }).toEqual({ stop: 'tools', said: 'I note it.\n' })
      expect(shown.join('')).not.toContain('<')
    }
  })

  it('without tools it is hidden and no call', async () => {
    const text = 'I note it.\n<tool_call>{"name":"note","arguments":{}}</tool_call>'
    expect(await answerOf([text, end()], { tools: [] })).toMatchObject({ calls: [], stop: 'end', text: 'I note it.\n' })
    expect(await answerOf(['{"name":"note","arguments":{}}', end()], { tools: [] })).toMatchObject({
      ...{ calls: [], text: '{"name":"note","arguments":{}}' },
    })
  })

  it.each(['length', 'refused'] as const)('an answer that ended by %s stays so', async (stop) => {
    const text = '<tool_call>{"name":"note","argum'
    expect(await answerOf([text, end(stop)])).toMatchObject({ calls: [{ name: 'note' }], stop })
  })

  it('a thought without an end has its call, where nothing else was said', async () => {
    const text = '<think>I note it. <tool_call>{"name":"note","arguments":{"a":1}}</tool_call>'
    expect(await answerOf([text, end()])).toMatchObject({ calls: [{ name: 'note', args: { a: 1 } }], text: '' })
    const closed = '<think>Not <tool_call>{"name":"note","arguments":{}}</tool_call> yet.</think>Hi.'
    expect(await answerOf([closed, end()])).toMatchObject({ calls: [], text: 'Hi.' })
  })

  it('calls that came apart get the names of the tools that they mean', async () => {
    const args = { tool_uses: [{ recipient_name: 'functions.note', parameters: { a: 1 } }] }
    const parts: Part[] = [
      { type: 'tool_call', call: call('1', 'note<|channel|>commentary', '{"b":2}') },
      { type: 'tool_call', call: call('2', 'multi_tool_use.parallel', args) },
      { type: 'tool_call', call: call('3', '') },
      end('tools'),
    ]
    const { calls } = await answerOf(parts)
    expect(calls).toMatchObject([
      { id: '1', name: 'note', args: { b: 2 } },
      { name: 'note', args: { a: 1 } },
      { id: '3', name: '' },
    ])
  })

  it.each([
    ['its thought is cut', ['<think>I should', end('length')]],
    ['its thoughts came apart', [end('length', OPAQUE)]],
    ['only white space came', ['<think>a</think>\n', end('length')]],
  ] as const)(
    'tokens used up by thoughts are told once, so that the call is made again with more: %s',
    async (_, parts) => {
      const traits = traitsOf()
      const failure = await read(parts, { traits }).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(ModelError)
      expect(failure).toMatchObject({ code: 'model_empty', advice: { retry: true }, begun: true })
      expect(failure).toMatchObject({ message: 'The tokens of the answer of a/b were used up by its thoughts.' })
      expect(traits.has('thinks')).toBe(true)
      expect((await read(parts, { traits })).at(-1)).toMatchObject({ stop: 'length' })
    },
  )

  it('the call is made again by retry-model', async () => {
    const model = readAnswer(
      saying('a/b', ['<think>I', end('length')], ['<think>I greet.</think>Hi.', end()]),
      traitsOf(),
    )
    const services = { clock: hastyClock(), random: () => 0.5, logger: silentLogger }
    const asked = askModel(retryModel(model, services), requestWith(), { signal: never(), show() {} })
    await expect(asked).resolves.toMatchObject({ text: 'Hi.' })
  })

  it.each([
    ['something was said', ['<think>a</think>Hi', end('length')]],
    ['a call came', ['<think>a</think>', { type: 'tool_call', call: call('c', 'note') }, end('length')]],
    ['nobody thought', [end('length')]],
  ] as const)('other answers are given as they are: %s', async (_, parts) => {
    expect((await read(parts)).at(-1)?.type).toBe('end')
  })

  it('thoughts that came apart of an answer that was whole teach nothing', async () => {
    const traits = traitsOf()
    await read(['Hi.', end('end', OPAQUE)], { traits })
    expect(traits.has('thinks')).toBe(false)
    await read(['<think>a</think>Hi.', end()], { traits })
    expect([traits.has('thinks'), traits.has('thinks-unopened')]).toEqual([true, false])
  })
})
