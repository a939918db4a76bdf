import { describe, expect, it } from 'vitest'
import { readEvents, type StreamReading } from '../../../src/agent/models/event-source.ts'

async function read(...pieces: readonly (string | Uint8Array)[]) {
  const reading: StreamReading = { inOrder: false }
  const objects: object[] = []
  const source = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const piece of pieces) controller.enqueue(typeof piece === 'string' ? Buffer.from(piece) : piece)
      controller.close()
    },
  })
  for await (const object of readEvents(source, reading)) objects.push(object)
  return { objects, inOrder: reading.inOrder }
}

describe('the end of a stream', () => {
  it.each([
    ['in one piece', ['data: {}\n\ndata: [DONE]\n\n']],
    ['without a space', ['data: {}\n\ndata:[DONE]\n\n']],
    ['in single letters', [...'data: {}\n\ndata: [DONE]\n\n']],
    ['with carriage returns', ['data: {}\r\n\r\nda', 'ta: [DO', 'NE]\r\n\r\n']],
    ['without the last line', ['data: {}\n\ndata: [DONE]']],
  ])('is seen %s', async (_name, pieces) => {
    expect(await read(...pieces)).toEqual({ objects: [{}], inOrder: true })
  })

  it.each([
    ['that is missing', ['data: {}\n\n']],
    ['that the model wrote', [`data: ${JSON.stringify({ content: '\ndata: [DONE]\n' })}\n\n`]],
    ['of a comment', [': data: [DONE]\n\n']],
  ])('is not one %s', async (_name, pieces) => {
    expect((await read(...pieces)).inOrder).toBe(false)
  })
})

describe('events', () => {
  it.each([
    ['with no data', 'event: ping\n\n'],
    ['with empty data', 'data:\n\n'],
    ['with a number only', 'id: 5\n\n'],
    ['with null', 'data: null\n\n'],
    ['with a text', 'data: "ping"\n\n'],
    ['with a list', 'data: []\n\n'],
    ['that are comments', ': OPENROUTER PROCESSING\n\n'],
  ])('%s are left out', async (_name, event) => {
    expect((await read(`${event}data: {"a":1}\n\n${event}`)).objects).toEqual([{ a: 1 }])
  })

  it('are read whatever their names, in several lines, and without the last empty line', async () => {
    expect((await read('event: x\ndata: {"a":\ndata: 1}\n\ndata: {"b":2}')).objects).toEqual([{ a: 1 }, { b: 2 }])
  })

  it('are read behind a byte order mark, and with characters that are cut between pieces', async () => {
    const bytes = Buffer.from('\uFEFFdata: {"a":"ü👍"}\n\n')
    expect((await read(...[...bytes].map((byte) => Uint8Array.of(byte)))).objects).toEqual([{ a: 'ü👍' }])
  })

  it('that are no JSON end the answer', async () => {
    await expect(read('data: {"torn\n\n')).rejects.toThrow(SyntaxError)
  })
})

describe('a stream of more than any answer has', () => {
  const MB = 1_000_000

  /** Returns what came of a stream of 256 MB: `read` are the megabytes that were asked for, `turns` those of others. */
  async function readFlood(begin: string, unit: string) {
    const piece = Buffer.from(unit.repeat(Math.floor(MB / unit.length)))
    let [read, turns] = [0, 0]
    const source = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (read === 0) controller.enqueue(Buffer.from(begin))
        if (++read > 256) controller.close()
        else controller.enqueue(piece)
      },
    })
    let next = setImmediate(function turn() {
      turns++
      next = setImmediate(turn)
    })
    try {
      for await (const _ of readEvents(source, { inOrder: false }));
    } catch (error) {
      return { read, turns, error }
    } finally {
      clearImmediate(next)
    }
    return { read, turns }
  }

  it.each([
    ['one line', 'data: ', 'x', 20],
    ['a comment without end', ':', 'x', 20],
    ['comments', '', ': x\n', 3],
    ['lines of one event', '', 'data: x\n', 3],
    ['empty lines', '', '\r', 3],
    ['events that say nothing', '', 'data: {}\n\n', 3],
    ['events without JSON', '', 'data:\n\n', 3],
    ['small events', '', 'data: {"a":1}\n\n', 10],
    ['long events', '', `data: {"a":"${'x'.repeat(900)}"}\n\n`, 70],
  ])(
    'of %s is left at its bound, not tried again, and everything else has its turn meanwhile',
    async (_name, begin, unit, most) => {
      const { read, turns, error } = await readFlood(begin, unit)
      expect(error).toMatchObject({ code: 'model_failed', advice: { retry: false } })
      expect(read).toBeLessThanOrEqual(most)
      expect(turns).toBeGreaterThanOrEqual((read - 3) * 50)
    },
  )

  it('is none of 128,000 tokens, each in an event of three lines', async () => {
    const event = `event: x\r\ndata: {"delta":"${'x'.repeat(250)}"}\r\n\r\n`
    expect((await read(...Array.from({ length: 128 }, () => event.repeat(1_000)))).objects).toHaveLength(128_000)
  })
})
