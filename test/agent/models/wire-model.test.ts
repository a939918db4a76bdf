import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createAnthropic } from '../../../src/agent/models/anthropic.ts'
import { createOpenAi } from '../../../src/agent/models/openai.ts'
import { createTraitBook } from '../../../src/agent/models/traits.ts'
import type { WireOptions } from '../../../src/agent/models/wire-model.ts'
import { type MediaPart, textContent } from '../../../src/core/content.ts'
import type { MediaId } from '../../../src/core/ids.ts'
import type { Model, ModelEvent, ModelMessage, ModelRequest } from '../../../src/core/model.ts'
import { type MovedClock, movedClock } from '../moved-clock.ts'
import { call, never } from '../turns.ts'

const user = (text: string): ModelMessage => ({ role: 'user', content: textContent(text) })
const request: ModelRequest = { system: '', messages: [user('hello')], tools: [], maxTokens: 1_000, temperature: 0.3 }

interface Protocol {
  readonly name: string
  readonly create: (options: WireOptions) => Promise<Model>
  readonly model: string
  /** An answer without its end. */
  readonly begun: readonly object[]
  readonly end: readonly object[]
  readonly error: (words: string) => object
}

const OPENAI: Protocol = {
  name: 'openai',
  create: createOpenAi,
  model: 'm',
  begun: [{ choices: [{ delta: { content: 'Yes.' } }] }],
  end: [{ choices: [{ delta: {}, finish_reason: 'stop' }] }],
  error: (message) => ({ error: { message, type: 'invalid_request_error', code: 400 } }),
}
const ANTHROPIC: Protocol = {
  name: 'anthropic',
  create: createAnthropic,
  model: 'claude-haiku-4-5',
  begun: [
    { type: 'message_start', message: { model: 'm' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Yes.' } },
  ],
  end: [{ type: 'message_delta', delta: { stop_reason: 'end_turn' } }],
  error: (message) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
}
const PROTOCOLS = [OPENAI, ANTHROPIC]

/** A list of events is a stream, which ends unless it is open; `last`: the text behind its last event. */
type Answer =
  | { readonly events: readonly object[]; readonly open?: true; readonly last?: string }
  | { readonly refusal: object }

interface Rig {
  readonly model: Model
  readonly traits: ReturnType<ReturnType<typeof createTraitBook>['of']>
  readonly clock: MovedClock
  /** The requests that came. */
  readonly bodies: Record<string, unknown>[]
  /** Ends the connection of the last answer without a word. */
  breakOff(): void
}

/** A model of a server that gives these answers, the last of them again and again. */
async function rigOf(protocol: Protocol, answers: (nth: number) => Answer): Promise<Rig> {
  const bodies: Record<string, unknown>[] = []
  let last: ServerResponse | undefined
  const server = createServer(async (incoming, response) => {
    last = response
    bodies.push(JSON.parse((await incoming.toArray()).join('')))
    give(answers(bodies.length - 1), response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const book = createTraitBook()
  // Its answers are shown as they come.
  const traits = book.of(`${protocol.name}/${protocol.model}`, ['thoughts-apart'])
  const media = { read: async (id: MediaId) => Buffer.from(`content of ${id}`) }
  const clock = movedClock()
  const options = { apiKey: 'key', baseUrl, model: protocol.model, clock, media, traits: book }
  return { model: await protocol.create(options), traits, clock, bodies, breakOff: () => last?.socket?.destroy() }
}

function give(answer: Answer, response: ServerResponse): void {
  if ('refusal' in answer) {
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify(answer.refusal))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const { events, last = '\n\n' } = answer
  response.write(events.map((event) => `data: ${JSON.stringify(event)}`).join('\n\n') + last)
  if (answer.open !== true) response.end()
}

/** `onText` is called with the first text, while the answer still comes. */
async function ask(
  { model }: Rig,
  more: Partial<ModelRequest> = {},
  { signal = never(), onText = () => {} }: { signal?: AbortSignal; onText?: () => void } = {},
): Promise<ModelEvent[]> {
  const events: ModelEvent[] = []
  for await (const event of model.stream({ ...request, ...more }, signal)) {
    if (event.type === 'text' && events.length === 0) onText()
    events.push(event)
  }
  return events
}

const listed =
  (first: Answer, ...more: readonly Answer[]) =>
  (nth: number): Answer =>
    [first, ...more][Math.min(nth, more.length)] ?? first

describe.each(PROTOCOLS)('an answer of $name', (protocol) => {
  const { begun, end, error } = protocol
  const whole: Answer = { events: [...begun, ...end] }
  const noTemperature = error('`temperature` is deprecated for this model.')

  it('counts where the connection breaks behind its end, and not before', async () => {
    const rig = await rigOf(protocol, listed({ events: [...begun, ...end], open: true }, { events: begun, open: true }))
    const onText = () => rig.breakOff()
    expect(await ask(rig, {}, { onText })).toMatchObject([{ delta: 'Yes.' }, { type: 'end', stop: 'end' }])
    await expect(ask(rig, {}, { onText })).rejects.toMatchObject({ begun: true, advice: { retry: true } })
  })

  it('that has its reason is whole five seconds later, though its stream stays open and says nothing more', async () => {
    const pings = [{ type: 'ping' }, { choices: [] }]
    const rig = await rigOf(protocol, listed({ events: [...begun, ...end, ...pings], open: true }))
    const answer = ask(rig)
    await rig.clock.timerOf(5_000)
    rig.clock.advance(5_000)
    expect(await answer).toMatchObject([{ delta: 'Yes.' }, { type: 'end', stop: 'end' }])
    expect(rig.clock.pending()).toBe(0)
  })

  it.each([
    ['is still open', { ...whole, open: true }],
    ['has ended', whole],
    ['has ended in order', { ...whole, last: '\n\ndata: [DONE]\n\n' }],
    ['has ended behind its text', { events: begun, last: '' }],
  ] as const)('is `aborted` by whoever stops it, also where all of it has come: the stream %s', async (_is, answer) => {
    const rig = await rigOf(protocol, listed(answer))
    const stop = new AbortController()
    await expect(ask(rig, {}, { signal: stop.signal, onText: () => stop.abort() })).rejects.toMatchObject({
      code: 'aborted',
    })
  })

  it('that is an error from its first event on teaches, and the request is made again', async () => {
    const rig = await rigOf(protocol, listed({ events: [noTemperature] }, whole))
    expect(await ask(rig)).toMatchObject([{ delta: 'Yes.' }, { type: 'end' }])
    expect(rig.bodies.map(({ temperature }) => temperature)).toEqual([0.3, undefined])
    expect(rig.traits.has('no-temperature')).toBe(true)
  })

  it('that had begun before an error teaches nothing', async () => {
    const rig = await rigOf(protocol, listed({ events: [...begun, noTemperature] }, whole))
    await expect(ask(rig)).rejects.toMatchObject({ begun: true })
    expect(rig.bodies).toHaveLength(1)
    expect(rig.traits.has('no-temperature')).toBe(false)
  })

  it('says the window of its model, where the server has named it', async () => {
    const tooLong = error('prompt is too long: 9000 tokens > 8192 maximum')
    const rig = await rigOf(protocol, listed(whole, { refusal: tooLong }, whole))
    expect((await ask(rig)).at(-1)).not.toHaveProperty('window')
    await expect(ask(rig)).rejects.toMatchObject({ code: 'model_context_length', window: 8_192 })
    expect((await ask(rig)).at(-1)).toMatchObject({ type: 'end', window: 8_192 })
  })

  it('is asked for with a smaller number each time, but not for ever', async () => {
    const named = (nth: number) => 900 - nth
    const rig = await rigOf(protocol, (nth) => ({ refusal: error(`max_tokens must be at most ${named(nth)}`) }))
    await expect(ask(rig)).rejects.toMatchObject({ refusal: { status: 400 } })
    expect(rig.bodies.map(({ max_tokens }) => max_tokens)).toEqual([
      1_000,
      ...Array.from({ length: 12 }, (_, nth) => named(nth)),
    ])
  })

  it.each([800, 900])('has its longest only ever made smaller: %i after 800 changes nothing', async (later) => {
    const says = (most: number): Answer => ({ refusal: error(`max_tokens must be at most ${most}`) })
    const rig = await rigOf(protocol, listed(says(800), whole, says(later)))
    await ask(rig)
    expect(rig.traits.longestAnswer).toBe(800)
    await expect(ask(rig)).rejects.toMatchObject({ refusal: { status: 400 } })
    expect(rig.traits.longestAnswer).toBe(800)
    expect(rig.bodies).toHaveLength(3)
  })
})

describe('the picture for which a request is refused', () => {
  const picture = (name: string): MediaPart => ({
    ...{ type: 'image', media: `media:${name}` as MediaId, mime: 'image/png', size: 3 },
  })
  const messages: readonly ModelMessage[] = [
    { role: 'user', content: [picture('one'), picture('two')] },
    { role: 'assistant', text: '', calls: [call('a', 'look'), call('b', 'look')] },
    {
      role: 'tool',
      results: [
        { id: 'a', content: [picture('three'), picture('four')], isError: false },
        { id: 'b', content: [...textContent('Here.'), picture('five'), picture('six')], isError: false },
      ],
    },
  ]
  it.each([
    ['messages.0.content.0', 'media:one'],
    ['messages.0.content.1', 'media:two'],
    ['messages.[0].content.[1]', 'media:two'],
    ['messages[0].content[1]', 'media:two'],
    ['messages.2.content.0.tool_result.content.0', 'media:three'],
    ['messages.2.content.0.tool_result.content.1', 'media:four'],
    ['messages.2.content.1.tool_result.content.2', 'media:six'],
    ['messages.2.content.1.tool_result.content.0', undefined],
    ['messages.7.content.0', undefined],
    ['somewhere', undefined],
  ])('%s', async (place, media) => {
    const words = `${place}.image.source.base64.data: dimensions exceed 8000 pixels`
    const rig = await rigOf(ANTHROPIC, listed({ refusal: ANTHROPIC.error(words) }))
    const failure = await ask(rig, { messages }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ refusal: { words: expect.stringContaining(place) } })
    expect((failure as { picture?: MediaId }).picture).toBe(media)
  })
})
