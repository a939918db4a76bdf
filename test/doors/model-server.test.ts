import { describe, expect, it } from 'vitest'
import { readErrorBody } from '../../src/agent/models/error-body.ts'
import { readEvents } from '../../src/agent/models/event-source.ts'
import { createModelFetch } from '../../src/agent/models/model-fetch.ts'
import { readAnswer } from '../../src/agent/models/read-answer.ts'
import { parseArguments } from '../../src/agent/models/tool-arguments.ts'
import { createTraitBook } from '../../src/agent/models/traits.ts'
import { DOORS } from '../../src/core/doors.ts'
import type { Model, ModelEvent, ModelRequest } from '../../src/core/model.ts'

const { bytes, values } = DOORS.modelEvent
const PIECE = 65_536

function streamOf(text: string): ReadableStream<Uint8Array> {
  const whole = Buffer.from(text)
  let at = 0
  return new ReadableStream({
    pull(controller) {
      if (at >= whole.length) return controller.close()
      controller.enqueue(whole.subarray(at, at + PIECE))
      at += PIECE
    },
  })
}

async function objectsIn(text: string): Promise<object[]> {
  const objects: object[] = []
  for await (const object of readEvents(streamOf(text), { inOrder: false })) objects.push(object)
  return objects
}

describe('door modelEvent: an event of a stream', () => {
  it.each([
    ['values', `data: {"choices":[${'{},'.repeat(values)}{}]}\n\n`],
    ['levels', `data: ${'['.repeat(200_000)}\n\n`],
    ['bytes', `data: {"x":"${'x'.repeat(bytes)}"}\n\n`],
  ])('of too many %s ends the answer, and no event of it is handed on', async (_name, text) => {
    await expect(objectsIn(text)).rejects.toMatchObject({ code: 'model_failed' })
  })

  it('with a picture of 12 MB in it is read', async () => {
    const url = `data:image/png;base64,${'A'.repeat(12_000_000)}`
    expect(
      await objectsIn(`data: ${JSON.stringify({ choices: [{ delta: { images: [{ url }] } }] })}\n\n`),
    ).toHaveLength(1)
  })
})

describe('door modelAnswer: a whole answer', () => {
  const server = { name: 'one', kind: 'openai', apiKey: '', baseUrl: 'http://one.test' } as const
  const asked = async (body: string): Promise<string> => {
    const fetched = globalThis.fetch
    globalThis.fetch = async () => new Response(body, { headers: { 'content-type': 'application/json' } })
    try {
      return await (await createModelFetch(server)('http://one.test/')).text()
    } finally {
      globalThis.fetch = fetched
    }
  }

  it('of 3 MB in place of a stream becomes the events of one', async () => {
    const content = 'x'.repeat(3_000_000)
    expect(await asked(JSON.stringify({ choices: [{ message: { content } }] }))).toMatch(
      /^data: .*x{100}.*\[DONE\]\s+$/s,
    )
  })

  it('with the end of a stream behind it, or a million spaces in it, is read', async () => {
    const answer = JSON.stringify({ choices: [{ message: { content: 'a' } }] })
    for (const body of [`${answer}\n\ndata: [DONE]\n\n`, `${answer.slice(0, -1)}${' '.repeat(1_000_000)}}`])
      expect(await asked(body)).toMatch(/^data: .*"content":"a"/)
  })

  it('of too many values is none of the protocol', async () => {
    const body = `{"choices":[${'{"message":{}},'.repeat(DOORS.modelAnswer.values)}{}]}`
    expect(await asked(body)).toBe(body)
  })

  it('of an error of too many values has no words', () => {
    expect(readErrorBody(`{"error":[${'{},'.repeat(DOORS.modelAnswer.values)}{}]}`, 'application/json')).toBeUndefined()
  })

  it('with arguments of too many values leaves them as text', () => {
    const json = `{"a":[${'0,'.repeat(DOORS.modelAnswer.values)}0]}`
    expect(parseArguments(json)).toBe(json)
  })
})

describe('door modelAnswer: the text of an answer', () => {
  const request: ModelRequest = { system: '', tools: [], maxTokens: 1, messages: [] }
  const end = {
    type: 'end',
    stop: 'end',
    usage: { input: 0, output: 1, cacheRead: 0, cacheWrite: 0 },
    model: 'one/m',
  } as const
  const model = (deltas: readonly string[]): Model => ({
    id: 'one/m',
    async *stream() {
      for (const delta of deltas) yield { type: 'text', delta }
      yield end
    },
  })
  async function said(deltas: readonly string[]) {
    let turns = 0
    let next = setImmediate(function turn() {
      turns++
      next = setImmediate(turn)
    })
    const events: ModelEvent[] = []
    const traits = createTraitBook().of('one/m')
    for await (const event of readAnswer(model(deltas), traits).stream(request, new AbortController().signal))
      events.push(event)
    clearImmediate(next)
    return { text: events.map((event) => (event.type === 'text' ? event.delta : '')).join(''), turns }
  }

  it.each(['"<think>" ', 'hello. <think>\n', 'the </think> tag. ', '😀'])(
    'of a megabyte of %j at once lets everything else have its turn',
    async (mark) => {
      const { text, turns } = await said(['x ', mark.repeat(1_000_000 / mark.length)])
      expect(text.length).toBeGreaterThan(990_000)
      expect(turns).toBeGreaterThanOrEqual(60)
    },
  )

  it('that is longer than any answer ends it', async () => {
    await expect(said(Array.from({ length: 17 }, () => 'word '.repeat(200_000)))).rejects.toMatchObject({
      code: 'model_failed',
    })
  })
})
