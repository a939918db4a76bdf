import type { AccountId } from '../../../src/core/ids.ts'
import type { InboundEvent } from '../../../src/core/message.ts'
import type { ChannelFacts } from '../address.ts'
import { isFields } from './fields.ts'

/** What reading a message needs to know besides the message. */
export interface InboundContext {
  readonly account: AccountId
  readonly botId: string
  /** The channel it stands in. */
  readonly place: ChannelFacts
  /** Names that are commands of ours; undefined until they are known: then every word is taken for one. */
  readonly commands: ReadonlySet<string> | undefined
}

/** `dropped`: nothing for the pipeline; `why` is a short word to count it under, never text of a person. */
export type InboundReading =
  | { readonly kind: 'event'; readonly event: InboundEvent }
  | { readonly kind: 'dropped'; readonly why: string }

export function dropped(why: string): InboundReading {
  return { kind: 'dropped', why }
}

/**
 * Returns what others could read of a message: all of it in a place with several people in it, in a direct chat what was
 * forwarded there.
 */
export function readableByOthers(place: ChannelFacts | undefined, message: unknown): unknown {
  if (place?.kind !== 'direct') return message
  const snapshots = isFields(message) ? message.message_snapshots : undefined
  return Array.isArray(snapshots) && snapshots.length > 0 ? snapshots : undefined
}
