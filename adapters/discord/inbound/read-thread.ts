import type { InboundEvent } from '../../../src/core/message.ts'
import type { ThreadPlace, ThreadRead } from '../../../src/core/thread.ts'
import { isFields } from '../../shared/fields.ts'
import { isNewer } from '../address.ts'
import { type DiscordClient, reasonOf } from '../connection/client.ts'
import { idsOf } from './read-event.ts'

interface Ports {
  readonly client: DiscordClient
  readonly signal: AbortSignal
  /** Returns what a message says; undefined for one that is none of ours to read. Nothing is stored. */
  read(channelId: string, message: unknown): Promise<InboundEvent | undefined>
}

const DEADLINE_MS = 5_000
const LARGEST_PAGE = 100
/** Stands first in a thread that began at a message, and holds that message. */
const THREAD_STARTER = 21

/** Reads what was said in a thread before a message, with the message at which it began. */
export async function readThread(ports: Ports, { address, before, most }: ThreadPlace): Promise<ThreadRead> {
  const { client, signal, read } = ports
  const { topic = '' } = address
  const limit = Math.min(most, LARGEST_PAGE)
  const query = { before, limit: String(limit) }
  const path = `/channels/${topic}/messages` as const
  const outcome = await client.call({ verb: 'GET', path, query }, { signal, deadlineMs: DEADLINE_MS })
  if (outcome.kind !== 'answered')
    return { kind: 'cannot_tell', reason: outcome.kind === 'refused' ? reasonOf(outcome) : outcome.reason }
  const messages = Array.isArray(outcome.result) ? outcome.result : []
  const events: InboundEvent[] = []
  for (const message of inOrder(messages.map(starterOf))) {
    const event = await read(topic, message)
    if (event !== undefined) events.push(event)
  }
  return { kind: 'read', events, left: messages.length >= limit }
}

function starterOf(message: unknown): unknown {
  return isFields(message) && message.type === THREAD_STARTER ? message.referenced_message : message
}

/** Ids contain the time. */
function inOrder(messages: readonly unknown[]): readonly unknown[] {
  const known = messages.flatMap((message) => {
    const ids = idsOf(message)
    return ids === undefined ? [] : [{ id: ids.id, message }]
  })
  return known.sort((a, b) => (isNewer(a.id, b.id) ? 1 : -1)).map(({ message }) => message)
}
