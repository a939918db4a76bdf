import { createHash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import type { Identity } from '../core/dispatch.ts'
import { ParleyError } from '../core/errors.ts'
import { type ChannelId, toPersonId } from '../core/ids.ts'
import type { Sender } from '../core/message.ts'
import type { Store } from '../store/store.ts'

/** The people the store knows: whoever claimed ownership. People of the configuration are compiled into the routing. */
export interface Access {
  /** Somebody has the owner role, by configuration or by a claim. */
  readonly ownerKnown: boolean
  personOf(channel: ChannelId, senderId: string): Identity | undefined
  /** What `/start <code>` must carry; undefined once there is an owner. */
  readonly claimCode: string | undefined
  /**
   * Makes the sender the owner if nobody is yet and the code is right. `forbidden` for a wrong code, `conflict` if
   * there is an owner. Authority goes to the platform id, never to a name.
   */
  claim(channel: ChannelId, sender: Sender, code: string): Promise<void>
}

export interface AccessDeps {
  readonly store: Store
  readonly clock: Clock
  /** Fresh for each start, never stored: a link printed earlier stops working. */
  readonly code: string
  readonly configuredOwner: boolean
}

const CLAIMED_OWNER = toPersonId('owner')

export async function createAccess({ store, clock, code, configuredOwner }: AccessDeps): Promise<Access> {
  const identities = new Map<string, Identity>()
  let owned = configuredOwner
  const load = async (): Promise<void> => {
    for (const { id, role, ids } of await store.read.people.all()) {
      owned ||= role === 'owner'
      for (const platformId of ids) identities.set(platformId, { person: id, role })
    }
  }
  await load()
  return {
    get ownerKnown() {
      return owned
    },
    get claimCode() {
      return owned ? undefined : code
    },
    personOf: (channel, senderId) => identities.get(platformId(channel, senderId)),
    async claim(channel, sender, given) {
      if (owned) throw new ParleyError('conflict', 'This bot already has an owner.')
      if (sender.kind !== 'user' || !equal(given, code)) {
        throw new ParleyError(
          'forbidden',
          'That code is not right. Use the link that the daemon printed at its last start.',
        )
      }
      await store.write((tx) => tx.people.link(CLAIMED_OWNER, 'owner', [platformId(channel, sender.id)], clock.now()))
      await load()
    },
  }
}

function platformId(channel: ChannelId, senderId: string): string {
  return `${channel}:${senderId}`.toLowerCase()
}

function equal(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text.trim()).digest()
  return timingSafeEqual(digest(a), digest(b))
}
