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
const MOST_PAGES = 10

/**
 * Reads what was said in a thread before a message: its root, and the newest of the rest. The platform shows a thread
 * from its root on, so a very long one ends before its newest messages; where a further page is refused, what came
 * before it is all.
 */
export async function readThread(ports: Ports, { address, before, most }: ThreadPlace): Promise<ThreadRead> {
  const { chat: channel, topic: ts } = address
  const args = { channel, ts, latest: before, limit: PAGE }
  const found: Fields[] = []
  let cursor: unknown = ''
  for (let page = 0; page < MOST_PAGES && typeof cursor === 'string'; page++) {
    const further = cursor === '' ? args : { ...args, cursor }
    const { client, signal } = ports
    const outcome = await client.call('conversations.replies', further, { signal, deadlineMs: DEADLINE_MS })
    if (outcome.kind !== 'answered') {
      if (found.length > 0) break
      return { kind: 'cannot_tell', reason: reasonOf(outcome) }
    }
    const { messages, has_more: more, response_metadata: metadata } = outcome.result
    found.push(...(Array.isArray(messages) ? messages.filter(isFields) : []))
    cursor = more === true && isFields(metadata) && metadata.next_cursor !== '' ? metadata.next_cursor : undefined
  }
  const said = inOrder(found)
  const shown = said.length <= most ? said : [...said.slice(0, 1), ...said.slice(1 - most)]
  // Side by side: each may have to ask who wrote it.
  const read = shown.map((message) =>
    ports.read({ type: 'event_callback', event: { ...message, type: 'message', channel } }),
  )
  const events = (await Promise.all(read)).filter((event) => event !== undefined)
  return { kind: 'read', events, left: cursor !== undefined || shown.length < said.length }
}

/** Stamps have equal length, so they compare as text; a page that comes twice adds nothing. */
function inOrder(messages: readonly Fields[]): readonly Fields[] {
  const byStamp = new Map(
    messages.flatMap((message) => (typeof message.ts === 'string' ? [[message.ts, message]] : [])),
  )
  return [...byStamp.values()].sort((a, b) => (String(a.ts) < String(b.ts) ? -1 : 1))
}
