import { waitFor } from '../answering.ts'
import { type Breakable, cutOff, passGate, stall } from '../holding.ts'
import { sendBody } from '../http-server.ts'
import { type Chunk, type Streaming, streamChunks, writeChunk } from './chunks.ts'
import type { EndedEntry } from './ledger-entries.ts'
import type { AnswerReply, Interrupt } from './script.ts'

export interface Playing extends Breakable, Streaming {
  readonly requestId: string
}

export type Ending = Pick<EndedEntry, 'how' | 'deltas'>

/** Answers in one piece of JSON, after the delays and interruptions of the reply. */
export async function playWhole(playing: Playing): Promise<Ending> {
  const { response, completion, reply, requestId } = playing
  for (const { gate } of reply.holds ?? []) if (!(await passGate(playing, gate))) return { how: 'cut', deltas: 0 }
  if (reply.delayMs !== undefined) await waitFor(reply.delayMs, playing.closing)
  const { interrupt } = reply
  if (interrupt?.kind === 'error') {
    sendBody(response, { status: 200, body: JSON.stringify(interrupt.data) })
    return { how: 'error', deltas: 0 }
  }
  if (interrupt !== undefined && interrupt.kind !== 'end') return breakOff(playing, interrupt, 0)
  if (response.destroyed) return { how: 'gone', deltas: 0 }
  const { usage, ...rest } = completion
  const body = JSON.stringify(playing.quirks.noUsage ? rest : { ...rest, usage })
  sendBody(response, { status: 200, body, headers: { 'x-request-id': requestId } })
  return { how: 'complete', deltas: 0 }
}

/** Answers as a stream of server-sent events. Chunks between two waits go out in one write. */
export async function playStream(playing: Playing): Promise<Ending> {
  const { response, reply, requestId } = playing
  response.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-cache',
    'x-request-id': requestId,
  })
  let waiting = ''
  let deltas = 0
  for (const chunk of streamChunks(playing)) {
    const stop = stopBefore(chunk, reply, deltas)
    if (stop !== undefined) {
      response.write(waiting)
      waiting = ''
      const ending = await stop(playing, deltas)
      if (ending !== null) return ending
    }
    waiting += writeChunk(chunk.data)
    if (chunk.kind === 'delta') deltas++
  }
  response.end(waiting)
  return { how: 'complete', deltas }
}

/** Waits or ends; returns null if the stream continues. */
type Stop = (playing: Playing, deltas: number) => Promise<Ending | null>

function stopBefore({ kind }: Chunk, reply: AnswerReply, deltas: number): Stop | undefined {
  const { interrupt, delayMs, holds } = reply
  const inContent = kind === 'delta' || kind === 'finish'
  if (interrupt !== undefined && inContent && deltas >= interrupt.afterDelta) {
    return (playing) => breakOff(playing, interrupt, deltas)
  }
  if (kind !== 'delta') return undefined
  const held = holds?.filter((hold) => hold.beforeDelta === deltas) ?? []
  if (held.length === 0 && delayMs === undefined) return undefined
  return async (playing) => {
    for (const { gate } of held) if (!(await passGate(playing, gate))) return { how: 'cut', deltas }
    if (delayMs !== undefined) await waitFor(delayMs, playing.closing)
    return playing.response.destroyed ? { how: 'gone', deltas } : null
  }
}

async function breakOff(playing: Playing, interrupt: Interrupt, deltas: number): Promise<Ending> {
  switch (interrupt.kind) {
    case 'cut':
      await cutOff(playing)
      return { how: 'cut', deltas }
    case 'stall':
      await stall(playing)
      return { how: 'stalled', deltas }
    case 'end':
      playing.response.end()
      return { how: 'cut', deltas }
    case 'error':
      playing.response.end(writeChunk(interrupt.data, interrupt.event))
      return { how: 'error', deltas }
  }
}
