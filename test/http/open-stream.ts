import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { type Frame, readFrames } from '../../src/client/events.ts'

/** A stream as its client reads it. */
export interface OpenStream {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  readonly response: IncomingMessage
  /** The next frame, whatever it is; undefined at the end. */
  next(): Promise<Frame | undefined>
  /** The next events of a log, by id and data. */
  events(count: number): Promise<readonly { readonly id: string | undefined; readonly data: unknown }[]>
  /** The body of an answer that is no stream. */
  text(): Promise<string>
  close(): void
}

export function streamOf(response: IncomingMessage): OpenStream {
  let frames: AsyncGenerator<Frame> | undefined
  const next = async (): Promise<Frame | undefined> => {
    frames ??= readFrames(Readable.toWeb(response) as ReadableStream<Uint8Array>, () => {})
    const { value, done } = await frames.next()
    return done ? undefined : value
  }
  return {
    ...{ status: response.statusCode ?? 0, headers: response.headers, response, next },
    async events(count) {
      const found: { id: string | undefined; data: unknown }[] = []
      while (found.length < count) {
        const frame = await next()
        if (frame === undefined) throw new Error(`The stream ended behind ${found.length} of ${count} events.`)
        if (frame.event === 'message') found.push({ id: frame.id, data: JSON.parse(frame.data) })
      }
      return found
    },
    async text() {
      let text = ''
      for await (const piece of response.setEncoding('utf8')) text += piece
      return text
    },
    close: () => void response.destroy(),
  }
}

/** Opens a stream on the local socket of a daemon. */
export async function openLocal(socketPath: string, path: string, headers: Record<string, string> = {}) {
  const [response] = (await once(get({ socketPath, path, headers, agent: false }), 'response')) as [IncomingMessage]
  return streamOf(response)
}
