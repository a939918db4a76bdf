import type { ServerResponse } from 'node:http'
import { waitFor } from '../answering.ts'
import { cutOff, passGate, stall } from '../holding.ts'
import { sendBody } from '../http-server.ts'
import { errorJson } from './api-error.ts'
import type { EndedEntry } from './ledger-entries.ts'
import type { ReplyMessage } from './reply-message.ts'
import type { AnswerReply, Interrupt, Quirks } from './script.ts'
import type { StreamEvent } from './sse.ts'
import { streamEvents, writeEvent } from './sse.ts'

export interface Playing {
  readonly response: ServerResponse
  readonly message: ReplyMessage
  readonly reply: AnswerReply
  /** The quirks of the server and of the reply. */
  readonly quirks: Quirks
  readonly requestId: string
  /** Called before the first byte of a good answer. */
  readonly begin: () => void
  /** Aborts when the server closes. */
  readonly closing: AbortSignal
}

export type Ending = Pick<EndedEntry, 'how' | 'deltas'>

const statusOf: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  rate_limit_error: 429,
  overloaded_error: 529,
  timeout_error: 504,
}

/** Answers in one piece of JSON, after the delays and interruptions of the reply. */
export async function playWhole(playing: Playing): Promise<Ending> {
  const { response, message, reply, requestId } = playing
  for (const { gate } of reply.holds ?? []) if (!(await passGate(playing, gate))) return { how: 'cut', deltas: 0 }
  if (reply.delayMs !== undefined) await waitFor(reply.delayMs, playing.closing)
  const { interrupt } = reply
  if (interrupt?.kind === 'error') {
    const status = statusOf[interrupt.type] ?? 500
    sendBody(response, { status, body: errorJson(interrupt.type, interrupt.message, requestId) })
    return { how: 'error', deltas: 0 }
  }
  if (interrupt !== undefined) return breakOff(playing, { interrupt, deltas: 0 })
  if (response.destroyed) return { how: 'gone', deltas: 0 }
  playing.begin()
  sendBody(response, { status: 200, body: JSON.stringify(message), headers: { 'request-id': requestId } })
  return { how: 'complete', deltas: 0 }
}

/** Answers as a stream of server-sent events. Events between two waits go out in one write. */
export async function playStream(playing: Playing): Promise<Ending> {
  const { response, message, reply, requestId } = playing
  playing.begin()
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'request-id': requestId,
  })
  let waiting = ''
  let deltas = 0
  for (const event of streamEvents({ message, split: reply.split, quirks: playing.quirks })) {
    const stop = stopBefore(event, reply, deltas)
    if (stop !== undefined) {
      response.write(waiting)
      waiting = ''
      const ending = await stop(playing, deltas)
      if (ending !== null) return ending
    }
    waiting += writeEvent(event.data)
    if (event.delta) deltas++
  }
  response.end(waiting)
  return { how: 'complete', deltas }
}

/** Waits or ends; returns null if the stream continues. */
type Stop = (playing: Playing, deltas: number) => Promise<Ending | null>

function stopBefore(event: StreamEvent, reply: AnswerReply, deltas: number): Stop | undefined {
  const { interrupt, delayMs, holds } = reply
  const inContent = event.delta || event.data.type === 'content_block_stop'
  if (interrupt !== undefined && inContent && deltas >= interrupt.afterDelta) {
    return (playing) => breakOff(playing, { interrupt, deltas })
  }
  if (!event.delta) return undefined
  const held = holds?.filter((hold) => hold.beforeDelta === deltas) ?? []
  if (held.length === 0 && delayMs === undefined) return undefined
  return async (playing) => {
    for (const { gate } of held) if (!(await passGate(playing, gate))) return { how: 'cut', deltas }
    if (delayMs !== undefined) await waitFor(delayMs, playing.closing)
    return playing.response.destroyed ? { how: 'gone', deltas } : null
  }
}

async function breakOff(
  playing: Playing,
  { interrupt, deltas }: { interrupt: Interrupt; deltas: number },
): Promise<Ending> {
  switch (interrupt.kind) {
    case 'cut':
      await cutOff(playing)
      return { how: 'cut', deltas }
    case 'stall':
      await stall(playing)
      return { how: 'stalled', deltas }
    case 'error': {
      const error = { type: interrupt.type, message: interrupt.message }
      playing.response.end(writeEvent({ type: 'error', error, request_id: playing.requestId } as { type: string }))
      return { how: 'error', deltas }
    }
  }
}
