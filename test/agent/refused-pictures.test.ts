import { describe, expect, it } from 'vitest'
import { ModelError, type ModelRefusal } from '../../src/agent/models/model-error.ts'
import { createPictureRecord, imagesIn, type PictureRecord } from '../../src/agent/models/pictures.ts'
import { type Content, textContent } from '../../src/core/content.ts'
import type { ErrorCode } from '../../src/core/errors.ts'
import type { MediaId } from '../../src/core/ids.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Model, ModelEvent, ModelMessage, ModelRequest } from '../../src/core/model.ts'
import { agentWith, call, failure, fakeModel, never, play, tool, turnRequest } from './turns.ts'

const idOf = (name: string) => `media:${name}` as MediaId
const picture = (name: string): Content[number] => ({
  ...{ type: 'image', media: idOf(name), mime: 'image/png', size: 10, name: `${name}.png` },
})
const user = (text: string, ...names: readonly string[]): ModelMessage => ({
  role: 'user',
  content: [...textContent(text), ...names.map(picture)],
})
const said = (text: string): ModelMessage => ({ role: 'assistant', text, calls: [] })

interface Failing {
  readonly code: ErrorCode
  readonly refusal?: ModelRefusal
  readonly picture?: MediaId
  readonly begun?: boolean
}

function failing({ code, ...more }: Failing): ModelError {
  return new ModelError(code, 'no', { advice: { retry: false }, ...more })
}

interface Eyes extends Model {
  readonly requests: ModelRequest[]
}

/** A model that fails at each request with a picture for which `fails` returns a failure. */
function eyes(id: string, fails: (pictures: readonly string[]) => Failing | undefined): Eyes {
  const requests: ModelRequest[] = []
  return {
    id,
    requests,
    async *stream(request): AsyncGenerator<ModelEvent> {
      requests.push(request)
      const names = imagesIn(request.messages).map((media) => media.slice('media:'.length))
      const failed = fails(names)
      if (failed) throw failing(failed)
      yield { type: 'text', delta: 'seen' }
      yield { type: 'end', stop: 'end', usage: { input: 10, output: 1 }, model: id }
    },
  }
}

const shownIn = ({ requests }: Eyes) => requests.map(({ messages }) => imagesIn(messages).map((id) => id.slice(6)))

/** Plays turns of one session with these models, which keep their record. */
function session(models: Readonly<Record<string, Model>>, pictures: PictureRecord = createPictureRecord()) {
  const [first = ''] = Object.keys(models)
  const warned: unknown[] = []
  const logger = { ...silentLogger, warn: (_: string, fields?: object) => void warned.push(fields) }
  const run = agentWith(fakeModel(), [], {
    ...{ pictures, logger },
    models: async (id) => models[id] ?? Promise.reject(new Error(id)),
  })
  const turn = async (messages: readonly ModelMessage[], model = first, fallback: readonly string[] = []) => {
    const agent = { ...turnRequest().agent, model, fallback }
    return (await play(run(turnRequest({ agent, messages }), never()))).result
  }
  return { turn, warned }
}

const blind = (code: ErrorCode, refusal?: ModelRefusal) => (names: readonly string[]) =>
  names.length > 0 ? { code, ...(refusal ? { refusal } : {}) } : undefined

/** Real words, from the reports on the servers; the status in front. */
const NO_EYES: readonly (readonly [ErrorCode, number, string])[] = [
  ['model_unconfigured', 404, 'No endpoints found that support image input'],
  ['model_invalid_request', 400, 'message[0].content must be a string'],
  ['model_invalid_request', 422, "Input should be 'text'"],
  ['model_invalid_request', 400, 'Param Incorrect'],
  [
    'model_overloaded',
    500,
    'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
  ],
  ['model_overloaded', 503, 'vision is not enabled for this model'],
  ['model_failed', 415, 'Unsupported media: images'],
  ['model_auth', 403, 'multimodal requests are not available in your region'],
]

describe('a picture that a model does not take', () => {
  it.each(NO_EYES)('%s (%i %j) is named in its place and the turn goes on', async (code, status, words) => {
    const model = eyes('b/blind', blind(code, { status, words }))
    const { turn, warned } = session({ 'b/blind': model })
    expect(await turn([user('look', 'a')])).toMatchObject({ kind: 'final', text: 'seen', steps: 1 })
    expect(shownIn(model)).toEqual([['a'], []])
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('a.png, image/png, 10 B] (you cannot be shown this')
    expect(warned).toMatchObject([{ leftOut: 'pictures', traceId: 'tr_1' }])
  })

  it.each(NO_EYES)(
    '%s (%i %j): a model without eyes continues where another has seen one, and is not shown it again',
    async (code, status, words) => {
      const [one, two] = [eyes('a/eyes', () => undefined), eyes('b/blind', blind(code, { status, words }))]
      const { turn } = session({ 'a/eyes': one, 'b/blind': two })
      const first = [user('look', 'a')]
      expect(await turn(first)).toMatchObject({ text: 'seen' })
      const second = [...first, said('seen'), user('and now?')]
      expect(await turn(second, 'b/blind')).toMatchObject({ kind: 'final', text: 'seen' })
      expect(await turn([...second, said('seen'), user('still there?')], 'b/blind')).toMatchObject({ kind: 'final' })
      expect(shownIn(two)).toEqual([['a'], [], []])
      expect(await turn([...second, said('seen'), user('you again?')], 'a/eyes')).toMatchObject({ kind: 'final' })
      expect(shownIn(one)).toEqual([['a'], ['a']])
    },
  )

  it('is shown to the model that answers in place of one without eyes that fails otherwise', async () => {
    const one = eyes('b/blind', (names) =>
      names.length > 0 ? { code: 'model_invalid_request' } : { code: 'model_overloaded' },
    )
    const two = eyes('a/eyes', () => undefined)
    const { turn } = session({ 'b/blind': one, 'a/eyes': two })
    expect(await turn([user('look', 'a')], 'b/blind', ['a/eyes'])).toMatchObject({ text: 'seen' })
    expect([shownIn(one), shownIn(two)]).toEqual([[['a'], []], [['a']]])
  })

  it('stays left out in the later steps of the turn', async () => {
    const requests: ModelRequest[] = []
    const model: Model = {
      id: 'b/blind',
      async *stream(request): AsyncGenerator<ModelEvent> {
        requests.push(request)
        if (imagesIn(request.messages).length > 0) throw failing({ code: 'model_invalid_request' })
        const id = `c${requests.length}`
        const calls = requests.length < 4
        if (calls) yield { type: 'tool_call', call: call(id, 'clock', { id }) }
        else yield { type: 'text', delta: 'done' }
        yield { type: 'end', stop: calls ? 'tools' : 'end', usage: { input: 1, output: 1 }, model: 'b/blind' }
      },
    }
    const run = agentWith(model, [tool('clock')])
    const { result } = await play(run(turnRequest({ messages: [user('look', 'a')] }), never()))
    expect(result).toMatchObject({ kind: 'final', text: 'done', steps: 3 })
    expect(requests.map(({ messages }) => imagesIn(messages).length)).toEqual([1, 0, 0, 0])
  })

  it('the pictures that the model has taken before stay where a new one is refused', async () => {
    const model = eyes('a/eyes', (names) => (names.includes('torn') ? { code: 'model_invalid_request' } : undefined))
    const { turn } = session({ 'a/eyes': model })
    await turn([user('look', 'good')])
    expect(await turn([user('look', 'good'), said('seen'), user('this', 'torn')])).toMatchObject({ text: 'seen' })
    expect(shownIn(model)).toEqual([['good'], ['good', 'torn'], ['good']])
  })

  it('the picture that the server names is left out, and neither the new one nor another', async () => {
    const model = eyes('a/eyes', (names) =>
      names.length > 1 && names.includes('large')
        ? { code: 'model_invalid_request', picture: idOf('large') }
        : undefined,
    )
    const { turn } = session({ 'a/eyes': model })
    const first = [user('look', 'large')]
    await turn(first)
    expect(await turn([...first, said('seen'), user('and this', 'new')])).toMatchObject({ text: 'seen' })
    expect(shownIn(model)).toEqual([['large'], ['large', 'new'], ['new']])
  })

  it('of many that the server names one after the other three are tried, then none is shown', async () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f']
    const model = eyes('a/eyes', ([first]) =>
      first === undefined ? undefined : { code: 'model_invalid_request', picture: idOf(first) },
    )
    expect(await session({ 'a/eyes': model }).turn([user('look', ...names)])).toMatchObject({ text: 'seen' })
    expect(shownIn(model)).toEqual([names, names.slice(1), names.slice(2), names.slice(3), []])
  })

  it('one that the server names and that the request does not show is not believed', async () => {
    const model = eyes('a/eyes', (names) =>
      names.length > 0 ? { code: 'model_invalid_request', picture: idOf('other') } : undefined,
    )
    expect(await session({ 'a/eyes': model }).turn([user('look', 'a')])).toMatchObject({ text: 'seen' })
    expect(shownIn(model)).toEqual([['a'], []])
  })
})

describe('a server that fails at a picture without a word', () => {
  it.each(['model_failed', 'model_overloaded'] as const)(
    '%s: it is asked once without those that are new to the model',
    async (code) => {
      const model = eyes('a/eyes', (names) => (names.includes('new') ? { code } : undefined))
      const { turn } = session({ 'a/eyes': model })
      await turn([user('look', 'old')])
      expect(await turn([user('look', 'old'), said('seen'), user('this', 'new')])).toMatchObject({ text: 'seen' })
      expect(shownIn(model)).toEqual([['old'], ['old', 'new'], ['old']])
    },
  )

  it('the first failure counts where it fails without them too, and no picture is to blame', async () => {
    let down: Failing[] = [{ code: 'model_overloaded' }, { code: 'model_failed' }]
    const model = eyes('a/eyes', () => {
      const [next, ...rest] = down
      down = rest
      return next
    })
    const { turn } = session({ 'a/eyes': model })
    expect(failure(await turn([user('look', 'a')]))).toBe('model_overloaded')
    expect(await turn([user('look', 'a')])).toMatchObject({ text: 'seen' })
    expect(shownIn(model)).toEqual([['a'], [], ['a']])
  })

  it.each<[string, Failing, readonly string[]]>([
    ['has taken it before', { code: 'model_overloaded' }, ['known']],
    [
      'is asked too much',
      { code: 'model_overloaded', refusal: { status: 429, words: 'image tokens per minute' } },
      ['a'],
    ],
    ['has no credit', { code: 'model_overloaded', refusal: { status: 402, words: 'image credit' } }, ['a']],
    ['is overloaded and says so', { code: 'model_overloaded', refusal: { status: 529, words: '' } }, ['a']],
    ['had begun to answer', { code: 'model_failed', begun: true }, ['a']],
    ['stalls', { code: 'model_stalled' }, ['a']],
    ['declines', { code: 'model_refused' }, ['a']],
    [
      'does not know the model',
      { code: 'model_unconfigured', refusal: { status: 404, words: 'no such model' } },
      ['a'],
    ],
    ['was shown none', { code: 'model_overloaded' }, []],
  ])('is asked once alone where it %s', async (_, failed, names) => {
    const pictures = createPictureRecord()
    pictures.took('a/eyes', [user('', 'known')], new Set())
    const model = eyes('a/eyes', () => failed)
    const result = await session({ 'a/eyes': model }, pictures).turn([user('look', ...names)])
    expect(failure(result)).toBe(failed.code)
    expect(model.requests).toHaveLength(1)
  })

  it('an answer that broke off after its first words is not asked for again', async () => {
    const model = fakeModel({ deltas: ['I see'], fail: failing({ code: 'model_failed' }) })
    const { result } = await play(agentWith(model)(turnRequest({ messages: [user('look', 'a')] }), never()))
    expect(failure(result)).toBe('model_failed')
    expect(model.requests).toHaveLength(1)
  })
})
