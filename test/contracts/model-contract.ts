import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Content, MediaPart } from '../../src/core/content.ts'
import { textContent } from '../../src/core/content.ts'
import type { MediaId } from '../../src/core/ids.ts'
import {
  type Model,
  type ModelEvent,
  type ModelMessage,
  type ModelRequest,
  type ModelToolCall,
  tokensRead,
} from '../../src/core/model.ts'
import type { MovedClock } from '../agent/moved-clock.ts'
import { DOT } from '../fakes/pictures.ts'

/** One thing a model does when it is called. */
export type Behaviour =
  /** The texts, all of one length, come one after the other; then the calls. Thoughts come in front of all. */
  | {
      readonly texts: readonly string[]
      readonly thoughts?: string
      readonly calls?: readonly AskedCall[]
      readonly stop?: 'length' | 'refused'
    }
  /** After the texts nothing comes any more, or the connection breaks. */
  | { readonly texts: readonly string[]; readonly after: 'silence' | 'break' }
  | { readonly fails: 'model_context_length' }

export interface AskedCall {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

/** One model and whatever stands behind it. */
export interface ModelRig {
  readonly model: Model
  readonly clock: MovedClock
  /** Sets what every call meets from now on. */
  behave(behaviour: Behaviour): void
  /** Returns what the newest call was shown, as it came to the provider; a model that no picture reaches has none. */
  readonly shown?: () => string
  /** Takes calls of the history whatever their ids are; absent: those that every provider takes. */
  readonly anyIds?: true
  close(): Promise<void>
}

/** The media store of a rig: whatever is asked for is the same picture. */
export const pictureStore = { read: async (): Promise<Uint8Array> => DOT }

const picture: MediaPart = {
  ...{ type: 'image', media: `media:${'a'.repeat(64)}` as MediaId, mime: 'image/png' },
  ...{ size: DOT.length, name: 'garden.png' },
}
const look = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: {} } }
const user = (content: Content): ModelMessage => ({ role: 'user', content })
const hello: ModelRequest = { system: 'Be brief.', messages: [user(textContent('hello'))], tools: [], maxTokens: 4096 }

/** Ids as other models make them: of Anthropic, DeepSeek and Mistral, one longer than OpenAI takes, Kimi's. */
const FOREIGN_IDS = [
  ...['toolu_01ABCDEFGHJKLMNPQRSTUVWX', 'call_00_9nLfpIQ6VO1JCaEsJcU8WZnS', 'gSIMJiOkT'],
  ...['chatcmpl-tool-0123456789abcdef0123456789abcdef', 'functions.look:0'],
]

/** What every model keeps to. Called once for each with its rig. */
export function modelContract(name: string, openRig: () => Promise<ModelRig>): void {
  describe(`${name} keeps the model contract`, () => {
    let rig: ModelRig
    beforeEach(async () => {
      rig = await openRig()
    })
    afterEach(() => rig.close())

    const streamOf = (more: Partial<ModelRequest> = {}, signal = new AbortController().signal) =>
      rig.model.stream({ ...hello, ...more }, signal)[Symbol.asyncIterator]()

    async function answer(more: Partial<ModelRequest> = {}): Promise<ModelEvent[]> {
      const events: ModelEvent[] = []
      for await (const event of rig.model.stream({ ...hello, ...more }, new AbortController().signal)) {
        events.push(event)
      }
      return events
    }

    const failsWith = (code: string) => expect.objectContaining({ name: 'ParleyError', code })

    test('half of a character, wherever it came from, does not make the provider refuse the request', async () => {
      rig.behave({ texts: ['yes'] })
      await answer({ messages: [user(textContent('half \ud83d, whole 👍, words \\ud83d'))] })
      const shown = rig.shown?.()
      if (shown !== undefined) expect(shown).toContain('half \ufffd, whole 👍, words ')
    })

    test('an answer comes in its texts; the end is last, with usage and the model', async () => {
      rig.behave({ texts: ['one ', 'two ', 'six.'] })
      const events = await answer()
      expect(events.slice(0, -1)).toEqual(['one ', 'two ', 'six.'].map((delta) => ({ type: 'text', delta })))
      const end = events.at(-1)
      expect(end).toMatchObject({ type: 'end', stop: 'end', model: rig.model.id })
      if (end?.type === 'end') expect([tokensRead(end.usage) > 0, end.usage.output > 0]).toEqual([true, true])
      expect(rig.clock.pending()).toBe(0)
    })

    test('each tool call comes once, complete, behind the text; ids differ', async () => {
      const calls = [
        { name: 'look', args: { at: ['ü', 2], deep: { x: null } } },
        { name: 'look', args: {} },
      ]
      rig.behave({ texts: ['Wait.'], calls })
      const events = await answer({ tools: [look] })
      expect(events.map(({ type }) => type)).toEqual(['text', 'tool_call', 'tool_call', 'end'])
      const called = callsIn(events)
      expect(called.map(({ name: tool, args }) => ({ name: tool, args }))).toEqual(calls)
      expect(new Set(called.map(({ id }) => id)).size).toBe(2)
      expect(events.at(-1)).toMatchObject({ stop: 'tools' })
    })

    test('its own calls are taken back with their results, torn arguments and pictures among them', async () => {
      rig.behave({
        texts: ['Wait.'],
        calls: [
          { name: 'look', args: {} },
          { name: 'look', args: {} },
        ],
      })
      const [first, second] = callsIn(await answer({ tools: [look] }))
      if (first === undefined || second === undefined) return expect.unreachable('There were no calls.')
      rig.behave({ texts: ['Seen.'] })
      const messages: ModelMessage[] = [
        user(textContent('look')),
        { role: 'assistant', text: '', calls: [first, { ...second, args: '{"torn' }] },
        {
          role: 'tool',
          results: [
            { id: first.id, content: [...textContent('Here.'), picture], isError: false },
            { id: second.id, content: textContent('no JSON'), isError: true },
          ],
        },
        user(textContent('and now?')),
      ]
      for (const tools of [[look], []]) {
        expect((await answer({ messages, tools })).at(-1)).toMatchObject({ type: 'end', stop: 'end' })
      }
    })

    const thoughts = 'They mean the garden. I look twice.'
    const twoCalls = [
      { name: 'look', args: { at: 'gate' } },
      { name: 'look', args: { at: 'pond' } },
    ]

    /** Plays a step with thoughts and two calls; returns its message and the results, the first with `shown`. */
    async function stepOf(messages: readonly ModelMessage[], shown: Content = textContent('Seen.')) {
      rig.behave({ thoughts, texts: ['Wait.'], calls: twoCalls })
      const events = await answer({ tools: [look], messages })
      const calls = callsIn(events)
      const end = events.at(-1)
      const opaque = end?.type === 'end' ? end.opaque : undefined
      expect(calls).toMatchObject(twoCalls)
      const results = calls.map(({ id }, nth) => ({
        ...{ id, isError: false },
        content: nth === 0 ? shown : textContent('Nothing.'),
      }))
      const step: ModelMessage = { role: 'assistant', text: saidIn(events), calls, ...(opaque && { opaque }) }
      return { said: saidIn(events), messages: [...messages, step, { role: 'tool' as const, results }] }
    }

    test('a turn goes on with its thoughts over two steps, and over a message that joins it', async () => {
      const first = await stepOf([user(textContent('look'))])
      expect(first.said.trim()).toBe('Wait.')
      const second = await stepOf(first.messages)
      rig.behave({ thoughts, texts: ['Seen.'] })
      const joined = [...second.messages, user(textContent('and the roof?'))]
      for (const messages of [second.messages, joined]) {
        const events = await answer({ tools: [look], messages })
        expect(events.at(-1)).toMatchObject({ type: 'end', stop: 'end' })
        expect(saidIn(events).trim()).toBe('Seen.')
      }
    })

    test('a later turn goes on behind one that called tools, without its thoughts', async () => {
      const { messages } = await stepOf([user(textContent('look'))])
      const bare = messages.map((message): ModelMessage => {
        if (message.role !== 'assistant') return message
        const { opaque: _, ...rest } = message
        return rest
      })
      const later = [...bare, { role: 'assistant' as const, text: 'Seen.', calls: [] }, user(textContent('thanks'))]
      rig.behave({ thoughts, texts: ['Bye.'] })
      const events = await answer({ tools: [look], messages: later })
      expect([saidIn(events).trim(), events.at(-1)]).toMatchObject(['Bye.', { type: 'end', stop: 'end' }])
    })

    test('a picture that a tool returned is shown with its result, and named where there are no eyes', async () => {
      const { messages } = await stepOf([user(textContent('look'))], [...textContent('Here.'), picture])
      rig.behave({ thoughts, texts: ['Seen.'] })
      expect((await answer({ tools: [look], messages })).at(-1)).toMatchObject({ type: 'end', stop: 'end' })
      const shown = rig.shown?.()
      if (shown !== undefined) expect(shown).toContain(Buffer.from(DOT).toString('base64'))
    })

    test.each(FOREIGN_IDS)('a turn goes on behind a call of another model, %s, whose thoughts stay out', async (id) => {
      if (!rig.anyIds && !/^[\w-]{1,40}$/.test(id)) return
      const opaque = { model: 'other/model', tokens: 7, data: { secret: 'thoughts of another' } }
      const foreign: ModelMessage[] = [
        user(textContent('look')),
        { role: 'assistant', text: 'I look.', calls: [{ id, name: 'look', args: { at: 'roof' } }], opaque },
        { role: 'tool', results: [{ id, content: textContent('Tiles.'), isError: false }] },
      ]
      const { messages } = await stepOf(foreign)
      rig.behave({ thoughts, texts: ['Seen.'] })
      expect((await answer({ tools: [look], messages })).at(-1)).toMatchObject({ type: 'end', stop: 'end' })
      expect(rig.shown?.() ?? '').not.toContain('thoughts of another')
    })

    test('a picture is shown where the model can see, a file that is none is named', async () => {
      rig.behave({ texts: ['Seen.'] })
      const content: Content = [...textContent('See'), picture, { ...picture, type: 'file', name: 'plan.pdf' }]
      expect((await answer({ messages: [user(content)] })).at(-1)).toMatchObject({ stop: 'end' })
      if (rig.shown === undefined) return
      expect(rig.shown()).toContain(Buffer.from(DOT).toString('base64'))
    })

    test('an abort before the call, and one while nothing comes, is aborted', async () => {
      rig.behave({ texts: ['one.'], after: 'silence' })
      await expect(streamOf({}, AbortSignal.abort()).next()).rejects.toThrow(failsWith('aborted'))
      const stop = new AbortController()
      const stream = streamOf({}, stop.signal)
      expect(await stream.next()).toMatchObject({ value: { type: 'text', delta: 'one.' } })
      const next = stream.next()
      stop.abort()
      await expect(next).rejects.toThrow(failsWith('aborted'))
      expect(rig.clock.pending()).toBe(0)
    })

    test('silence after some text is model_stalled after a minute', async () => {
      rig.behave({ texts: ['one.'], after: 'silence' })
      const stream = streamOf()
      expect(await stream.next()).toMatchObject({ value: { delta: 'one.' } })
      const next = stream.next()
      await rig.clock.timerOf(60_000)
      rig.clock.advance(60_000)
      await expect(next).rejects.toThrow(failsWith('model_stalled'))
    })

    test('a stream that breaks is model_failed after the text so far, and the next call is answered', async () => {
      rig.behave({ texts: ['one.'], after: 'break' })
      const stream = streamOf()
      expect(await stream.next()).toMatchObject({ value: { delta: 'one.' } })
      await expect(stream.next()).rejects.toThrow(failsWith('model_failed'))
      rig.behave({ texts: ['two.'] })
      expect((await answer()).at(-1)).toMatchObject({ type: 'end' })
    })

    test.each(['length', 'refused'] as const)('an answer that is cut or declined says so: %s', async (stop) => {
      rig.behave({ texts: ['one.'], stop })
      expect((await answer()).at(-1)).toMatchObject({ type: 'end', stop })
    })

    test('a conversation that does not fit is model_context_length', async () => {
      rig.behave({ fails: 'model_context_length' })
      await expect(answer()).rejects.toThrow(failsWith('model_context_length'))
    })
  })
}

function callsIn(events: readonly ModelEvent[]): ModelToolCall[] {
  return events.flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))
}

/** Returns the text of an answer, without what turned out to be a thought. */
function saidIn(events: readonly ModelEvent[]): string {
  return events.reduce((said, event) => {
    if (event.type === 'retract') return ''
    return event.type === 'text' ? said + event.delta : said
  }, '')
}
