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
export async function readThread(ports: Ports, place: ThreadPlace): Promise<ThreadRead> {
  const pages = await readPages(ports, place)
  if ('kind' in pages) return pages
  const { most } = place
  const said = inOrder(pages.found, place.before)
  const shown = said.length <= most ? said : [...said.slice(0, 1), ...said.slice(1 - most)]
  // Side by side: each may have to ask who wrote it.
  const { chat: channel } = place.address
  const read = shown.map((message) =>
    ports.read({ type: 'event_callback', event: { ...message, type: 'message', channel } }),
  )
  const events = (await Promise.all(read)).filter((event) => event !== undefined)
  return { kind: 'read', events, left: pages.more || shown.length < said.length }
}

interface Pages {
  readonly found: readonly Fields[]
  readonly more: boolean
}

type Refused = Extract<ThreadRead, { kind: 'cannot_tell' }>

async function readPages({ client, signal }: Ports, { address, before }: ThreadPlace): Promise<Pages | Refused> {
  const args = { channel: address.chat, ts: address.topic, latest: before, limit: PAGE }
  const found: Fields[] = []
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const further = cursor === undefined ? args : { ...args, cursor }
    const outcome = await client.call('conversations.replies', further, { signal, deadlineMs: DEADLINE_MS })
    if (outcome.kind !== 'answered')
      return found.length > 0 ? { found, more: true } : { kind: 'cannot_tell', reason: reasonOf(outcome) }
    const { messages } = outcome.result
    found.push(...(Array.isArray(messages) ? messages.filter(isFields) : []))
    cursor = nextOf(outcome.result)
    if (cursor === undefined) return { found, more: false }
  }
  return { found, more: true }
}

function nextOf({ has_more: more, response_metadata: metadata }: Fields): string | undefined {
  const next = more === true && isFields(metadata) ? metadata.next_cursor : undefined
  return typeof next === 'string' && next !== '' ? next : undefined
}

/** Stamps have equal length, so they compare as text; a page that comes twice adds nothing. */
function inOrder(messages: readonly Fields[], before: string): readonly Fields[] {
  const byStamp = new Map(messages.flatMap((message) => (isBefore(message.ts, before) ? [[message.ts, message]] : [])))
  return [...byStamp.values()].sort((a, b) => (String(a.ts) < String(b.ts) ? -1 : 1))
}

function isBefore(ts: unknown, before: string): ts is string {
  return typeof ts === 'string' && ts < before
}
