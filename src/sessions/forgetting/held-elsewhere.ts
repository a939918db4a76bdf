import type { Channels } from '../../core/channel-traits.ts'
import type { ForgetPlan, ForgetReceipt } from '../../core/forgetting.ts'
import type { ChannelId } from '../../core/ids.ts'
import type { Store } from '../../store/store.ts'
import { addressOf } from '../service/address-of.ts'
import { joins } from './origin.ts'

interface HeldPorts {
  readonly store: Pick<Store, 'read'>
  readonly channels: Channels
}

const MOST_EXPORTS = 20
const HELD = 'the messages of people, and answers of mine that are older than two days or could not be deleted'

/** Returns what others still hold: it is named, since nobody here can remove it. */
export async function heldElsewhere(
  { store, channels }: HeldPorts,
  plan: ForgetPlan,
): Promise<Pick<ForgetReceipt, 'platforms' | 'exports'>> {
  const { read } = store
  // A session that joins chats has the address of its last word alone: what was said where, the messages know.
  const found = new Set<ChannelId>(plan.channels)
  const last = new Set<ChannelId>()
  const exports: string[] = []
  for (const { id } of plan.sessions) {
    const session = await read.sessions.get(id)
    if (session === undefined) continue
    const among = joins(session) ? last : found
    among.add(addressOf(session).channel)
    for (const event of await read.events.latestOf(id, ['session_exported'], MOST_EXPORTS))
      if (event.type === 'session_exported' && event.data.path !== undefined) exports.push(event.data.path)
  }
  const named = [...(found.size === 0 ? last : found)].filter((channel) => channels.platforms.includes(channel))
  const platforms = Object.fromEntries(named.map((channel) => [channels.traits(channel).name, HELD]))
  return { platforms, exports: [...new Set(exports)] }
}
