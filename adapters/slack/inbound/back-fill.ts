import { type Fields, isFields } from '../../shared/fields.ts'
import type { MessagePage as MissedPage } from '../../shared/read-back.ts'
import { TryLater } from '../../shared/until-done.ts'
import { timeOfStamp, toStamp } from '../address.ts'
import type { CallOutcome, SlackClient } from '../connection/client.ts'
import type { SlackMethod } from '../connection/scopes.ts'
import { waitOf } from '../outbound/receipts.ts'

interface Ports {
  readonly client: SlackClient
  readonly signal: AbortSignal
}

const PAGE = 200
export const MOST_PER_CHAT = 200
const MOST_THREADS = 20
/** Threads that began before are not looked through. */
const THREADS_GO_BACK_MS = 7 * 86_400_000
const DEADLINE_MS = 15_000
const TRY_AGAIN_MS = 5000

/**
 * Reads what was said in a conversation after a message, in its threads too: beyond five minutes the platform repeats
 * nothing. A thread is found by its root, which names its latest reply or else how many there are. The newest are read,
 * for the platform lists them first and a thread's are found by looking through them: what lies before cannot be asked
 * for in order.
 * @throws TryLater when the platform did not answer, or asks to wait
 */
export async function backFill(ports: Ports, channel: string, after: string): Promise<MissedPage<Fields> | 'refused'> {
  const oldest = toStamp(Math.max(0, timeOfStamp(after) - THREADS_GO_BACK_MS))
  const history = await read(ports, 'conversations.history', { channel, oldest })
  if (history === undefined) return 'refused'
  const active = history.messages.filter((root) => mayHaveRepliesAfter(root, after))
  const found = [...history.messages]
  let more = history.more || active.length > MOST_THREADS
  for (const { ts } of active.slice(0, MOST_THREADS)) {
    const thread = await read(ports, 'conversations.replies', { channel, ts, oldest: after })
    found.push(...(thread?.messages ?? []).filter((message) => message.ts !== ts))
    more ||= thread?.more === true
  }
  const missed = found.flatMap((message) => {
    const id = message.ts
    return isAfter(id, after) ? [{ id, message }] : []
  })
  const messages = missed.sort((a, b) => (a.id < b.id ? -1 : 1))
  const isCut = messages.length > MOST_PER_CHAT || more
  return { messages: messages.slice(-MOST_PER_CHAT), further: isCut ? 'cut' : 'none' }
}

interface Page {
  readonly messages: readonly Fields[]
  /** The platform has more than it gave; some apps get no more than 15 messages at a time. */
  readonly more: boolean
}

/**
 * Reads the first page; a smaller one where the answer is larger than is read. Undefined: the history may not be read.
 */
async function read(ports: Ports, method: SlackMethod, args: Fields, limit = PAGE): Promise<Page | undefined> {
  const { client, signal } = ports
  const asked = { ...args, limit, include_all_metadata: true }
  const outcome = await client.call(method, asked, { signal, deadlineMs: DEADLINE_MS })
  if (outcome.kind === 'answered') {
    const { messages, has_more: more } = outcome.result
    return { messages: Array.isArray(messages) ? messages.filter(isFields) : [], more: more === true }
  }
  if (outcome.kind === 'failed' && outcome.tooLong)
    return limit > 1 ? read(ports, method, args, Math.floor(limit / 4) || 1) : { messages: [], more: true }
  const wait = waitFor(outcome)
  if (wait === undefined) return undefined
  throw new TryLater('the conversation may not be read yet', wait)
}

function waitFor(outcome: Exclude<CallOutcome, { kind: 'answered' }>): number | undefined {
  if (outcome.kind === 'failed') return TRY_AGAIN_MS
  // A scope that is missing stays missing until somebody installs the app again.
  return outcome.needed === undefined ? waitOf(outcome) : undefined
}

/** A root that has replies and does not say when the latest was written is looked through. */
function mayHaveRepliesAfter({ latest_reply: latest, reply_count: count }: Fields, after: string): boolean {
  return typeof latest === 'string' ? isAfter(latest, after) : typeof count === 'number' && count > 0
}

function isAfter(ts: unknown, after: string): ts is string {
  return typeof ts === 'string' && ts > after
}
