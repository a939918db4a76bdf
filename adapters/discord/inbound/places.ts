import { isFields } from '../../shared/fields.ts'
import type { ChannelFacts } from '../address.ts'
import { readChannel, toKind } from '../address.ts'
import type { DiscordClient } from '../connection/client.ts'

interface PlacePorts {
  readonly client: DiscordClient
  readonly signal: AbortSignal
  /** Returns the gateway's data about a channel. */
  cached(id: string): ChannelFacts | undefined
  personOf(id: string): string | undefined
}

const DEADLINE_MS = 10_000

/**
 * The facts of a channel: from the gateway, from the dispatch itself (direct chats are in no list), or asked for.
 * Undefined where the platform does not say. Throws when it did not answer.
 */
export async function findPlace(ports: PlacePorts, id: string, hint: unknown): Promise<ChannelFacts | undefined> {
  const known = ports.cached(id) ?? fromDispatch(id, hint)
  if (known !== undefined) return known
  if (ports.personOf(id) !== undefined) return { id, kind: 'direct' }
  const { client, signal } = ports
  const outcome = await client.call({ verb: 'GET', path: `/channels/${id}` }, { signal, deadlineMs: DEADLINE_MS })
  if (outcome.kind === 'failed') throw new Error(`a channel could not be looked up: ${outcome.reason}`)
  return outcome.kind === 'answered' && isFields(outcome.result) ? readChannel({ ...outcome.result, id }) : undefined
}

/** `channel_type` alone says it for direct chats; a place in a guild needs its parent too. */
function fromDispatch(id: string, hint: unknown): ChannelFacts | undefined {
  if (!isFields(hint)) return undefined
  const kind = toKind(hint.channel_type)
  return kind === 'direct' || kind === 'group' ? { id, kind } : undefined
}
