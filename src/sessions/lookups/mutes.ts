import { type Address, formatAddress } from '../../core/address.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Clock } from '../../core/clock.ts'
import type { Store } from '../../store/store.ts'

/** The places where the agent says nothing, and until when: few rows, in memory. */
export interface Mutes {
  /**
   * Returns ms since the epoch, infinite until ended; it may be in the past. A thread is silent as long as it or the
   * channel it belongs to is. Topics that are rooms are independent, General among them.
   */
  until(this: void, address: Address): number | undefined
  /** Mutes the address, on disk first; without `until`, until it is ended. */
  mute(address: Address, until?: number): Promise<void>
  /** Returns false if the address was not muted. */
  end(address: Address): Promise<boolean>
  /** Reads all rows again: called after a chat has moved, where many change at once (decision 0017). */
  reload(): Promise<void>
}

/** Reads the mutes. Expired ones stay on disk until they age out: the clock may be wrong today. */
export async function loadMutes({ read, write }: Store, clock: Clock, { traits }: Channels): Promise<Mutes> {
  /** `ends` is the same time by the clock that nobody sets, so that a clock that is set back prolongs no mute. */
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
