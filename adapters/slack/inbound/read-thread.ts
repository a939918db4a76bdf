import type { InboundEvent } from '../../../src/core/message.ts'
import type { ThreadPlace, ThreadRead } from '../../../src/core/thread.ts'
import { type Fields, isFields } from '../../shared/fields.ts'
import type { CallOutcome, SlackClient } from '../connection/client.ts'

interface Ports {
  readonly client: SlackClient
  readonly signal: AbortSignal
  /** Returns what an event says; undefined for one that is none of ours to read. Nothing is stored. */
  read(body: Fields): Promise<InboundEvent | undefined>
}

function reasonOf(outcome: Exclude<CallOutcome, { kind: 'answered' }>): string {
  return outcome.kind === 'refused' ? [outcome.error, outcome.needed].filter(Boolean).join(': ') : outcome.reason
}

const DEADLINE_MS = 5_000
/** Apps outside of the marketplace may get 15 messages of a page at most, whatever they ask for. */
const PAGE = 200
const MOST_PAGES = 3

/** Reads what was said in a thread before a message; the platform shows a thread from its root on. */
export async function readThread(ports: Ports, { address, before, most }: ThreadPlace): Promise<ThreadRead> {
  const { chat: channel, topic: ts } = address
  const found: Fields[] = []
  let cursor: unknown = ''
  for (let page = 0; page < MOST_PAGES && typeof cursor === 'string'; page++) {
    const args = { channel, ts, latest: before, limit: PAGE, ...(cursor === '' ? {} : { cursor }) }
    const { client, signal } = ports
    const outcome = await client.call('conversations.replies', args, { signal, deadlineMs: DEADLINE_MS })
    if (outcome.kind !== 'answered') return { kind: 'cannot_tell', reason: reasonOf(outcome) }
    const { messages, has_more: more, response_metadata: metadata } = outcome.result
    found.push(...(Array.isArray(messages) ? messages.filter(isFields) : []))
    cursor = more === true && isFields(metadata) && metadata.next_cursor !== '' ? metadata.next_cursor : undefined
  }
  const newest = found.slice(-most)
  const events: InboundEvent[] = []
  for (const message of newest) {
    const event = await ports.read({ type: 'event_callback', event: { ...message, type: 'message', channel } })
    if (event !== undefined) events.push(event)
  }
  return { kind: 'read', events, left: cursor !== undefined || newest.length < found.length }
}
