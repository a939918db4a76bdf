import { type Address, formatAddress } from '../../core/address.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import type { Store } from '../../store/store.ts'

/** Where the agent says nothing, and until when: the few rows there are, in memory. */
export interface Mutes {
  /**
   * Ms since the epoch, infinite until ended; a time that has passed may still be given. A thread is silent as long as
   * it or the channel it hangs in is. Topics that are rooms stand beside each other, General among them.
   */
  until(this: void, address: Address): number | undefined
  /** On disk first. Without `until`: until it is ended. */
  mute(address: Address, until?: number): Promise<void>
  /** False: it was not muted. */
  end(address: Address): Promise<boolean>
  /** Reads all again: a chat got a new id. */
  reload(): Promise<void>
}

/** Reads what is muted. What has run out meanwhile stays on disk until it ages out: the clock may be wrong today. */
export async function loadMutes({ read, write }: Store, clock: Clock, { traits }: Channels): Promise<Mutes> {
  /** `ends`: the same time by the clock that nobody sets, so that one that was set back prolongs no mute. */
  const muted = new Map<string, { readonly until: number; readonly ends: number }>()
  const keep = (conversation: string, until: number): void => {
    muted.set(conversation, { until, ends: clock.elapsed() + until - clock.now() })
  }
  const of = (address: Address): number | undefined => {
    const mute = muted.get(formatAddress(address))
    return mute && clock.elapsed() < mute.ends ? mute.until : undefined
  }
  async function reload(): Promise<void> {
    const rows = await read.mutes.all()
    muted.clear()
    for (const { conversation, until = Number.POSITIVE_INFINITY } of rows) {
      if (until > clock.now()) keep(conversation, until)
    }
  }
  await reload()
  return {
    reload,
    until(address) {
      if (muted.size === 0) return undefined
      const own = of(address)
      if (address.topic === undefined || traits(address.channel).topics === 'rooms') return own
      const root = of(rootOf(address))
      return own === undefined || root === undefined ? (own ?? root) : Math.max(own, root)
    },
    async mute(address, until) {
      const conversation = formatAddress(address)
      const mute = until === undefined ? { conversation } : { conversation, until }
      await write((tx) => tx.mutes.set(mute, clock.now()))
      keep(conversation, until ?? Number.POSITIVE_INFINITY)
    },
    async end(address) {
      const conversation = formatAddress(address)
      const until = of(address)
      await write((tx) => tx.mutes.clear(conversation))
      muted.delete(conversation)
      return until !== undefined && until > clock.now()
    },
  }
}

function rootOf({ topic: _, ...root }: Address): Address {
  return root
}
