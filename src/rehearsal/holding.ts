import type { ServerResponse } from 'node:http'
import type { GateKeeper } from './deferred.ts'
import { deferred } from './deferred.ts'

/** An answer that may be held or broken off, and the signal that aborts when its server closes. */
export interface Breakable {
  readonly response: ServerResponse
  readonly closing: AbortSignal
}

/** Returns false when the connection was cut at the gate. */
export async function passGate({ response, closing }: Breakable, gate: GateKeeper): Promise<boolean> {
  const how = await orClosed(gate.pass(), closing)
  if (how === 'drop') response.socket?.destroy()
  return how === 'answer'
}

/** Destroys the connection once the pieces before the cut are on the wire. */
export async function cutOff({ response }: Breakable): Promise<void> {
  await new Promise<void>((resolve) => (response.headersSent ? response.write(':\n\n', () => resolve()) : resolve()))
  response.socket?.destroy()
}

/** Says nothing more until the client or the server closes. */
export async function stall({ response, closing }: Breakable): Promise<void> {
  if (!response.destroyed) await orClosed(closed(response), closing)
}

function closed(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => response.once('close', () => resolve()))
}

/** Settles with whichever comes first, without leaving a listener behind. */
async function orClosed<T>(work: Promise<T>, closing: AbortSignal): Promise<T | 'closed'> {
  if (closing.aborted) return 'closed'
  const { promise, resolve } = deferred<'closed'>()
  const close = () => resolve('closed')
  closing.addEventListener('abort', close, { once: true })
  const first = await Promise.race([work, promise])
  closing.removeEventListener('abort', close)
  return first
}
