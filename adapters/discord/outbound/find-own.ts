import type { FoundMessage, LostMessage } from '../../../src/channels/capabilities.ts'
import { stripNoReply } from '../../shared/no-reply.ts'
import { snowflakeAt, toApiTarget } from '../address.ts'
import type { CallOutcome, DiscordClient } from '../connection/client.ts'
import { type Fields, isFields } from '../inbound/fields.ts'
import type { DirectChannels } from './direct-channels.ts'
import { reasonOf } from './receipts.ts'
import { contentOf } from './send.ts'

/** Our clock may run ahead of the platform's by as much (RELIABILITY 3.3). */
const CLOCK_SLACK_MS = 30_000
const PAGE = 100
/** 500 messages after the send in one channel; beyond them nobody can say. */
const MOST_PAGES = 5
const DEADLINE_MS = 15_000
const ASK_AGAIN_MS = 10_000

interface Ports {
  readonly client: DiscordClient
  readonly directs: DirectChannels
  readonly botId: string
}

/** Looks for a message of ours in the channel's history, by author and text: the platform keeps no key there. */
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
  const content = contentOf(visible).trim()
  let after = snowflakeAt(lost.startedAt - CLOCK_SLACK_MS)
  for (let page = 0; page < MOST_PAGES; page++) {
    const query = { after, limit: String(PAGE) }
    const outcome = await client.call({ verb: 'GET', path: `/channels/${located.id}/messages`, query }, options)
    if (outcome.kind !== 'answered' || !Array.isArray(outcome.result)) return cannotTell(outcome)
    const messages = outcome.result.filter(isFields)
    const own = messages.find((message) => isOwn(message, botId) && message.content === content)
    if (own !== undefined) return { kind: 'found', messageId: String(own.id) }
    const newest = messages[0]?.id
    if (messages.length < PAGE || typeof newest !== 'string') return { kind: 'absent' }
    after = newest
  }
  return { kind: 'cannot_tell', reason: 'too much was written since' }
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
