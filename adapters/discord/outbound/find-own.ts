import type { FoundMessage, LostMessage, OwnMessage } from '../../../src/channels/capabilities.ts'
import type { OutboundFile } from '../../../src/core/outbound.ts'
import { sendableName } from '../../../src/core/sendable-name.ts'
import { type Fields, isFields } from '../../shared/fields.ts'
import { stripNoReply } from '../../shared/no-reply.ts'
import { isNewer, isSnowflake, snowflakeAt, timeOfSnowflake, toApiTarget } from '../address.ts'
import { type CallOutcome, type DiscordClient, reasonOf } from '../connection/client.ts'
import type { DirectChannels } from './direct-channels.ts'
import { contentOf } from './send.ts'

/** The margin added to the age of the send, which may come from a clock that was set. */
const MARGIN_MS = 600_000
/** The least part of that margin that has to be read before a message counts as absent. */
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
 * Looks for a message of ours in the channel's history, by author and text: the platform keeps no key there. How far
 * back is counted from the newest message it shows, by the times in the ids: no clock of ours is compared with the
 * platform's.
 */
export async function findOwn(
  { client, directs, botId }: Ports,
  lost: LostMessage,
  signal: AbortSignal,
): Promise<FoundMessage> {
  const target = toApiTarget(lost.address)
  if (target === null || stripNoReply(lost.rendered) === null) {
    return { kind: 'cannot_tell', reason: 'there is nothing to look for' }
  }
  const options = { signal, deadlineMs: DEADLINE_MS }
  const located = await directs.locate(target, options)
  if (!('id' in located)) return asUnknown(located.outcome)
  const path = `/channels/${located.id}/messages` as const
  const read = await readBack((query) => client.call({ verb: 'GET', path, query }, options), lost.ageMs)
  if (!('messages' in read)) return asUnknown(read)
  if (read.messages.length === 0) return CLOSED
  const [first, ...others] = read.messages.flatMap(ownMessages(lost, botId))
  if (first !== undefined) return { kind: 'found', messages: [first, ...others] }
  return read.all ? { kind: 'absent' } : { kind: 'cannot_tell', reason: 'too much was written since' }
}

/** A bot that may not read a history is shown an empty one; what it answers has left a message there. */
const CLOSED: FoundMessage = {
  kind: 'cannot_tell',
  reason: 'the history is shown empty, as it is without the permission Read Message History',
}

interface ReadBack {
  /** The newest first. */
  readonly messages: readonly Message[]
  /** Nothing that was written since the send is missing. */
  readonly all: boolean
}

/** Reads from the newest message back to the age of the send and the margin, or to the bound of pages. */
async function readBack(
  ask: (query: Readonly<Record<string, string>>) => Promise<CallOutcome>,
  ageMs: number,
): Promise<ReadBack | CallOutcome> {
  const messages: Message[] = []
  for (let page = 0; page < MOST_PAGES; page++) {
    const oldest = messages.at(-1)
    const outcome = await ask({ limit: String(PAGE), ...(oldest === undefined ? {} : { before: oldest.id }) })
    if (outcome.kind !== 'answered' || !Array.isArray(outcome.result)) return outcome
    const more = outcome.result.filter(isMessage)
    messages.push(...more)
    const near = since(messages, ageMs + MARGIN_MS)
    if (more.length < PAGE || near.length < messages.length) return { messages: near, all: true }
  }
  return { messages, all: since(messages, ageMs + LEAST_MARGIN_MS).length < messages.length }
}

/** Returns the messages that are at most so much older than the newest. */
function since(messages: readonly Message[], ms: number): readonly Message[] {
  const [newest] = messages
  if (newest === undefined) return []
  const horizon = snowflakeAt(timeOfSnowflake(newest.id) - ms)
  return messages.filter(({ id }) => isNewer(id, horizon))
}

interface Message extends Fields {
  readonly id: string
}

function isMessage(value: unknown): value is Message {
  return isFields(value) && isSnowflake(value.id)
}

/** Returns a message as one of ours if it shows what was lost; one with a file by the name and the size of that. */
function ownMessages({ rendered, earlier }: LostMessage, botId: string): (message: Message) => readonly OwnMessage[] {
  const { file } = rendered
  if (file !== undefined)
    return (message) => (isOwn(message, botId) && hasFile(message, file) ? [{ messageId: message.id }] : [])
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

/** The platform may change the characters of a name, and keeps its size. */
function hasFile({ attachments }: Fields, { name, size }: OutboundFile): boolean {
  if (!Array.isArray(attachments)) return false
  const sent = wordsOf(sendableName(name))
  return attachments
    .filter(isFields)
    .some((one) => one.size === size && typeof one.filename === 'string' && wordsOf(one.filename) === sent)
}

function wordsOf(name: string): string {
  return name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
}

function isOwn({ author }: Fields, botId: string): boolean {
  return isFields(author) && author.id === botId
}

/** A platform that does not answer now may do so later; a refusal stays one. */
function asUnknown(outcome: CallOutcome): FoundMessage {
  if (outcome.kind === 'answered') return { kind: 'cannot_tell', reason: 'the history is no list' }
  if (outcome.kind === 'failed') return { kind: 'cannot_tell', reason: outcome.reason, retryAfterMs: ASK_AGAIN_MS }
  const wait = outcome.retryAfterMs ?? (outcome.status === 401 ? ASK_AGAIN_MS : undefined)
  const reason = reasonOf(outcome)
  return wait === undefined ? { kind: 'cannot_tell', reason } : { kind: 'cannot_tell', reason, retryAfterMs: wait }
}
