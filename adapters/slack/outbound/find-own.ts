import type { FoundMessage, LostMessage } from '../../../src/channels/capabilities.ts'
import type { RenderedPart } from '../../../src/core/outbound.ts'
import { stripNoReply } from '../../shared/no-reply.ts'
import { toApiTarget, toStamp } from '../address.ts'
import type { CallOutcome, SlackClient } from '../connection/client.ts'
import { type Fields, isFields } from '../inbound/fields.ts'
import { waitOf } from './receipts.ts'
import { content, DELIVERY_EVENT } from './send.ts'

const DEADLINE_MS = 15_000
/** Clocks differ. */
const MARGIN_MS = 30_000
const PAGE = 200
const LOOK_AGAIN_MS = 5000
/** A conversation busier than this since the send is not read to its end. */
const MOST_PAGES = 5

/**
 * Looks a message up by the key it carried, in the conversation or in its thread (RELIABILITY 3.3). `absent` is said
 * only after everything since the send was read.
 */
export async function findOwnMessage(
  client: SlackClient,
  { address, key, rendered, startedAt }: LostMessage,
  signal: AbortSignal,
): Promise<FoundMessage> {
  const target = toApiTarget(address)
  if (target === null) return { kind: 'cannot_tell', reason: 'this address is no Slack conversation' }
  const { channel, thread_ts: ts } = target
  const method = ts === undefined ? 'conversations.history' : 'conversations.replies'
  const oldest = toStamp(Math.max(0, startedAt - MARGIN_MS))
  const args = { channel, ...(ts === undefined ? {} : { ts }), oldest, limit: PAGE, include_all_metadata: true }
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const outcome = await client.call(method, cursor === undefined ? args : { ...args, cursor }, {
      deadlineMs: DEADLINE_MS,
      signal,
    })
    if (outcome.kind !== 'answered') return cannotTell(outcome)
    const found = messagesOf(outcome.result).find((message) => carries(message, key))
    if (found !== undefined) return foundAs(found, rendered)
    cursor = nextCursor(outcome.result)
    if (cursor === undefined) return { kind: 'absent' }
  }
  return { kind: 'cannot_tell', reason: 'too much was written since to look through' }
}

function foundAs({ ts, text }: Fields, rendered: RenderedPart): FoundMessage {
  const visible = stripNoReply(rendered)
  const found = { kind: 'found', messageId: String(ts) } as const
  return visible === null || text === content(visible).text ? found : { ...found, outdated: true }
}

function messagesOf({ messages }: Fields): readonly Fields[] {
  return Array.isArray(messages) ? messages.filter(isFields) : []
}

function carries({ metadata, ts }: Fields, key: string): boolean {
  if (typeof ts !== 'string' || !isFields(metadata) || metadata.event_type !== DELIVERY_EVENT) return false
  return isFields(metadata.event_payload) && metadata.event_payload.id === key
}

function nextCursor({ response_metadata: metadata }: Fields): string | undefined {
  const cursor = isFields(metadata) ? metadata.next_cursor : undefined
  return typeof cursor === 'string' && cursor !== '' ? cursor : undefined
}

/** A refusal that will not change by waiting says so by having no time to come back at. */
function cannotTell(outcome: Exclude<CallOutcome, { kind: 'answered' }>): FoundMessage {
  if (outcome.kind === 'failed') return { kind: 'cannot_tell', reason: outcome.reason, retryAfterMs: LOOK_AGAIN_MS }
  if (outcome.needed !== undefined) {
    return { kind: 'cannot_tell', reason: `the scope ${outcome.needed} is missing` }
  }
  const retryAfterMs = waitOf(outcome)
  return { kind: 'cannot_tell', reason: outcome.error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}
