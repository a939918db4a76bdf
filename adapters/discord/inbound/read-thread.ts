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

/** Reads what was said in a thread before a message: the message at which it began, and the newest of the rest. */
export async function readThread(ports: Ports, { address, before, most }: ThreadPlace): Promise<ThreadRead> {
  const { topic = '' } = address
  // One place is for the message at which it began.
  const limit = Math.min(most - 1, LARGEST_PAGE)
  const newest = await ask(ports, topic, { before, limit: String(limit) })
  if ('kind' in newest) return newest
  const isFull = newest.length >= limit
  const first = isFull ? await ask(ports, topic, { after: '0', limit: '1' }) : []
  const messages = [...('kind' in first ? [] : first), ...newest].map(starterOf)
  const events: InboundEvent[] = []
  for (const message of inOrder(messages, before)) {
    const event = await ports.read(topic, message)
    if (event !== undefined) events.push(event)
  }
  return { kind: 'read', events, left: isFull }
}

type Refused = Extract<ThreadRead, { kind: 'cannot_tell' }>

async function ask({ client, signal }: Ports, id: string, query: Readonly<Record<string, string>>) {
  const path = `/channels/${id}/messages` as const
  const outcome = await client.call({ verb: 'GET', path, query }, { signal, deadlineMs: DEADLINE_MS })
  if (outcome.kind === 'answered') {
    const messages: readonly unknown[] = Array.isArray(outcome.result) ? outcome.result : []
    return messages.slice(0, LARGEST_PAGE)
  }
  const reason = outcome.kind === 'refused' ? reasonOf(outcome) : outcome.reason
  const refused: Refused = { kind: 'cannot_tell', reason }
  return refused
}

function starterOf(message: unknown): unknown {
  return isFields(message) && message.type === THREAD_STARTER ? message.referenced_message : message
}

/** Ids contain the time. */
function inOrder(messages: readonly unknown[], before: string): readonly unknown[] {
  const known = messages.flatMap((message) => {
    const ids = idsOf(message)
    return ids === undefined || !isNewer(before, ids.id) ? [] : [{ id: ids.id, message }]
  })
  const once = new Map(known.map((one) => [one.id, one]))
  return [...once.values()].sort((a, b) => (isNewer(a.id, b.id) ? 1 : -1)).map(({ message }) => message)
}
