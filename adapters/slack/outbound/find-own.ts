import type { FoundMessage, LostMessage, OwnMessage } from '../../../src/channels/capabilities.ts'
import type { OutboundFile, RenderedPart } from '../../../src/core/outbound.ts'
import { sendableName } from '../../../src/core/sendable-name.ts'
import { type Fields, isFields } from '../../shared/fields.ts'
import { stripNoReply } from '../../shared/no-reply.ts'
import { DELIVERY_EVENT, isStamp, timeOfStamp, toApiTarget, toStamp } from '../address.ts'
import type { CallOutcome, SlackClient } from '../connection/client.ts'
import { waitOf } from './receipts.ts'
import { content } from './send.ts'

const DEADLINE_MS = 15_000
/** The margin added to the age of the send, which may come from a clock that was set. */
const MARGIN_MS = 3_600_000
/** Everything since the send was read once this much more than its age was. */
const LEAST_MARGIN_MS = 30_000
const PAGE = 200
const LOOK_AGAIN_MS = 5000
/** A conversation busier than this since the send is not read to its end. */
const MOST_PAGES = 5

/**
 * Looks a message up by the key it carried, in the conversation or in its thread. `absent` is said only after
 * everything since the send was read. How far back is counted from the newest message Slack shows: no clock of ours is
 * compared with the platform's.
 */
export async function findOwnMessage(
  client: SlackClient,
  { address, key, rendered, ageMs }: LostMessage,
  signal: AbortSignal,
  bot?: string,
): Promise<FoundMessage> {
  const target = toApiTarget(address)
  if (target === null) return { kind: 'cannot_tell', reason: 'this address is no Slack conversation' }
  const ask = (method: Method, args: object): Promise<CallOutcome> =>
    client.call(method, { channel: target.channel, ...args }, { deadlineMs: DEADLINE_MS, signal })
  const place = await begin(ask, target.thread_ts, ageMs)
  if ('kind' in place) return place
  let cursor: string | undefined
  let newest = place.newest
  for (let page = 0; page < MOST_PAGES; page++) {
    const outcome = await ask(place.method, cursor === undefined ? place.args : { ...place.args, cursor })
    if (outcome.kind !== 'answered') return asUnknown(outcome)
    const messages = messagesOf(outcome.result)
    const { file } = rendered
    const found = messages.filter((message) => (file ? shares(message, file, bot) : carries(message, key)))
    const [first, ...others] = found.map((message) => ownMessage(message, rendered))
    if (first !== undefined) return { kind: 'found', messages: [first, ...others] }
    newest ??= timeOf(messages[0])
    const oldest = timeOf(messages.at(-1))
    // A thread is read from its oldest message on, a conversation from its newest back.
    const margin = page + 1 < MOST_PAGES ? MARGIN_MS : LEAST_MARGIN_MS
    const all = !place.forward && newest !== undefined && oldest !== undefined && oldest < newest - ageMs - margin
    cursor = nextCursor(outcome.result)
    if (all || cursor === undefined) return { kind: 'absent' }
  }
  return { kind: 'cannot_tell', reason: 'too much was written since to look through' }
}

type Method = 'conversations.history' | 'conversations.replies'

/** The position at which reading begins. */
interface Place {
  readonly method: Method
  readonly args: object
  readonly forward: boolean
  readonly newest?: number | undefined
}

/** A thread is read forward; its root says when the newest reply was written. */
async function begin(
  ask: (method: Method, args: object) => Promise<CallOutcome>,
  thread: string | undefined,
  ageMs: number,
): Promise<Place | FoundMessage> {
  const common = { limit: PAGE, include_all_metadata: true }
  if (thread === undefined) return { method: 'conversations.history', args: common, forward: false }
  const method = 'conversations.replies'
  const outcome = await ask(method, { ts: thread, limit: 1 })
  if (outcome.kind !== 'answered') return asUnknown(outcome)
  const latest = messagesOf(outcome.result)[0]?.latest_reply
  const oldest = isStamp(latest) ? { oldest: toStamp(Math.max(0, timeOfStamp(latest) - ageMs - MARGIN_MS)) } : {}
  return { method, args: { ...common, ts: thread, ...oldest }, forward: true }
}

function timeOf(message: Fields | undefined): number | undefined {
  return isStamp(message?.ts) ? timeOfStamp(message.ts) : undefined
}

function ownMessage({ ts, text }: Fields, rendered: RenderedPart): OwnMessage {
  const visible = stripNoReply(rendered)
  const messageId = String(ts)
  const same = rendered.file !== undefined || visible === null || text === content(visible).text
  return same ? { messageId } : { messageId, outdated: true }
}

/** A message that shares a file has no key of ours: it is known by its writer and by the name and size of the file. */
function shares({ user, ts, files }: Fields, { name, size }: OutboundFile, bot: string | undefined): boolean {
  if (typeof ts !== 'string' || !Array.isArray(files) || bot === undefined || user !== bot.split('/').at(-1))
    return false
  return files.filter(isFields).some((one) => one.size === size && one.name === sendableName(name))
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
function asUnknown(outcome: Exclude<CallOutcome, { kind: 'answered' }>): FoundMessage {
  if (outcome.kind === 'failed') return { kind: 'cannot_tell', reason: outcome.reason, retryAfterMs: LOOK_AGAIN_MS }
  if (outcome.needed !== undefined) {
    return { kind: 'cannot_tell', reason: `the scope ${outcome.needed} is missing` }
  }
  const retryAfterMs = waitOf(outcome)
  return { kind: 'cannot_tell', reason: outcome.error, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }
}
