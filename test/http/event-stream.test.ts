import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { expect, it } from 'vitest'
import type { LiveEvent } from '../../src/core/operate-events.ts'
import { EventStream, MOST_WAITING, STREAM_HEADERS } from '../../src/http/event-stream.ts'

const KB = 1_024

/** A reader that takes nothing: all that is written waits. */
function stalled() {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const stream = new EventStream(response, { all: false, named: false })
  stream.open(new Headers(STREAM_HEADERS), { session: 'api:x', after: 0, place: '0-0@api:x' } as never)
  let seq = 0
  const event = (size: number): void =>
    stream.event({ session: 'api:x', event: { seq: ++seq, at: 1, type: 'user', text: 'x'.repeat(size) } } as LiveEvent)
  return { response, stream, event }
}

it('F-D03: a reader is cut off once more than 256 KB wait for it, and not before', () => {
  const { response, event } = stalled()
  expect(MOST_WAITING).toBe(256 * KB)
  // More than 256 KB with the 26th of these.
  for (let sent = 0; sent < 26; sent++) {
    event(10 * KB)
    expect(response.destroyed).toBe(false)
  }
  event(1)
  expect(response.destroyed).toBe(true)
})

it('a stream that is cut off or ended says no more', () => {
  const { response, stream, event } = stalled()
  stream.end({ reason: 'stopping' })
  const length = response.writableLength
  expect(response.writableEnded).toBe(true)
  event(1)
  stream.beat()
  stream.end({ reason: 'stopping' })
  expect(response.writableLength).toBe(length)
})

it('whoever does not read is cut off at the end, since nothing waits for them', () => {
  const { response, stream, event } = stalled()
  event(80 * KB)
  stream.end({ reason: 'stopping' })
  expect([response.destroyed, response.writableEnded]).toEqual([true, false])
})

it('whoever reads has two seconds to take the end', () => {
  const response = new ServerResponse(new IncomingMessage(new Socket()))
  const socket = new Socket()
  response.assignSocket(socket)
  const stream = new EventStream(response, { all: false, named: false })
  stream.open(new Headers(STREAM_HEADERS), { session: 'api:x', after: 0 } as never)
  expect(socket.timeout).toBe(0)
  stream.end({ reason: 'stopping' })
  expect(socket.timeout).toBe(2_000)
  socket.emit('timeout')
  expect(response.destroyed).toBe(true)
})
