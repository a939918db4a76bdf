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
