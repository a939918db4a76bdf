import type { AccountId } from '../../../src/core/ids.ts'
import { isFields } from '../../shared/fields.ts'
import type { ChannelFacts } from '../address.ts'
import type { NameLookup } from './known-names.ts'

/** The facts that reading a message needs besides the message. */
export interface InboundContext {
  readonly account: AccountId
  readonly botId: string
  /** The channel it stands in. */
  readonly place: ChannelFacts
  /** The names that ids have for people; absent where nothing was said of them. */
  readonly names?: NameLookup
  /** Names that are commands of ours; undefined until they are known: then every word is taken for one. */
  readonly commands: ReadonlySet<string> | undefined
  /** A thread is read back, of which the bot's own messages are a part. */
  readonly readsOwn?: true
}

/**
 * Returns what others could read of a message: all of it in a place with several people in it, in a direct chat what
 * was forwarded there.
 */
export function readableByOthers(place: ChannelFacts | undefined, message: unknown): unknown {
  if (place?.kind !== 'direct') return message
  const snapshots = isFields(message) ? message.message_snapshots : undefined
  return Array.isArray(snapshots) && snapshots.length > 0 ? snapshots : undefined
}
