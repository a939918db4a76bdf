import type { FoundMessage, LostMessage, OwnMessage } from '../../../src/channels/capabilities.ts'
import { stripNoReply } from '../../shared/no-reply.ts'
import { isNewer, isSnowflake, snowflakeAt, timeOfSnowflake, toApiTarget } from '../address.ts'
import type { CallOutcome, DiscordClient } from '../connection/client.ts'
import { type Fields, isFields } from '../inbound/fields.ts'
import type { DirectChannels } from './direct-channels.ts'
import { reasonOf } from './receipts.ts'
import { contentOf } from './send.ts'

/** How much further than the age of the send is looked back: the age may be known only by a clock that was set. */
const MARGIN_MS = 600_000
/** Everything since the send was read once this much more than its age was. */
const LEAST_MARGIN_MS = 30_000
const PAGE = 100
/** 500 messages in one channel; where the send is older than they are, nobody can say. */
const MOST_PAGES = 5
const DEADLINE_MS = 15_000
const ASK_AGAIN_MS = 10_000

interface Ports {
  readonly client: DiscordClient
  readonly directs: DirectChannels
  readonly botId: string
}

/**
 * Looks for a message of ours in the channel's history, by author and text: the platform keeps no key there. How far back
 * is counted from the newest message it shows, by the times in the ids: no clock of ours is compared with the platform's.
 */
export async function findOwn(
  { client, directs, botId }: Ports,
  lost: LostMessage,
  signal: AbortSignal,
): Promise<FoundMessage> {
  const target = toApiTarget(lost.address)
  const visible = stripNoReply(lost.rendered)
  if (target === null || visible === null) return { kind: 'cannot_tell', reason: 'there is nothing to look for' }
  const options = { signal, deadlineMs: DEADLINE_MS }
  const located = await directs.locate(target, options)
  if (!('id' in located)) return cannotTell(located.outcome)
  const asOwn = ownMessages(lost, botId)
  const found: OwnMessage[] = []
  let newest: string | undefined
  let oldest: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const query = { limit: String(PAGE), ...(oldest === undefined ? {} : { before: oldest }) }
    const outcome = await client.call({ verb: 'GET', path: `/channels/${located.id}/messages`, query }, options)
    if (outcome.kind !== 'answered' || !Array.isArray(outcome.result)) return cannotTell(outcome)
    const messages = outcome.result.filter(isMessage)
    newest ??= messages[0]?.id
    if (newest === undefined) return foundOf(found)
    const near = since(messages, newest, lost.ageMs + MARGIN_MS)
    found.push(...near.flatMap(asOwn))
    oldest = near.at(-1)?.id
    if (near.length < PAGE || oldest === undefined) return foundOf(found)
    const last = page + 1 === MOST_PAGES && since([{ id: oldest }], newest, lost.ageMs + LEAST_MARGIN_MS).length === 0
    if (last) return foundOf(found)
  }
  return found.length > 0 ? foundOf(found) : { kind: 'cannot_tell', reason: 'too much was written since' }
}

/** Returns the messages that are at most so much older than the newest. */
function since<One extends { readonly id: string }>(messages: readonly One[], newest: string, ms: number): One[] {
  const horizon = snowflakeAt(timeOfSnowflake(newest) - ms)
  return messages.filter(({ id }) => isNewer(id, horizon))
}

interface Message extends Fields {
  readonly id: string
}

function isMessage(value: unknown): value is Message {
  return isFields(value) && isSnowflake(value.id)
}

function foundOf([first, ...others]: readonly OwnMessage[]): FoundMessage {
  return first === undefined ? { kind: 'absent' } : { kind: 'found', messages: [first, ...others] }
}

/** Returns a message as one of ours if it shows what was lost. */
function ownMessages({ rendered, earlier }: LostMessage, botId: string): (message: Message) => readonly OwnMessage[] {
  const [whole, first] = [rendered, earlier].map((part) => {
    const visible = part && stripNoReply(part)
    return visible ? contentOf(visible).trim() : undefined
  })
  return (message) => {
    if (!isOwn(message, botId) || typeof message.content !== 'string') return []
    if (message.content === whole) return [{ messageId: message.id }]
    return message.content === first ? [{ messageId: message.id, outdated: true }] : []
  }
}

function isOwn({ author }: Fields, botId: string): boolean {
  return isFields(author) && author.id === botId
}

/** A platform that does not answer now may do so later; a refusal stays one. */
function cannotTell(outcome: CallOutcome): FoundMessage {
  if (outcome.kind === 'answered') return { kind: 'cannot_tell', reason: 'the history is no list' }
  if (outcome.kind === 'failed') return { kind: 'cannot_tell', reason: outcome.reason, retryAfterMs: ASK_AGAIN_MS }
  const wait = outcome.retryAfterMs ?? (outcome.status === 401 ? ASK_AGAIN_MS : undefined)
  const reason = reasonOf(outcome)
  return wait === undefined ? { kind: 'cannot_tell', reason } : { kind: 'cannot_tell', reason, retryAfterMs: wait }
}
