import { type Address, formatAddress } from '../../core/address.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Identity } from '../../core/dispatch.ts'
import type { PersonId } from '../../core/ids.ts'
import type { InboundEvent } from '../../core/message.ts'
import type { Reader } from '../../core/outbound.ts'
import { identifiesNobody, platformIdOf } from '../../core/platform-id.ts'
import type { DirectChat } from '../../store/people-port.ts'

/** The direct chats in which owners and approvers can be notified, in memory, the one used last at the end. */
export interface OwnerChats {
  /** Called when one of them wrote there. Returns the chat if it is new and has to be stored. */
  saw(event: InboundEvent, at: number): DirectChat | undefined
  /**
   * Returns one chat for each owner, and for each of these people: on the given account if they use it, else the one
   * they used last.
   */
  nearest(where: Pick<Address, 'channel' | 'account'>, also?: readonly PersonId[]): readonly OwnerChat[]
  /** Returns what `nearest` does, but of other accounts if there are any; used for problems of this account itself. */
  beside(where: Pick<Address, 'channel' | 'account'>): readonly OwnerChat[]
  /** Returns whose direct chat an address is, if it is one of these. */
  personOf(address: Address): string | undefined
}

export interface OwnerChat {
  readonly person: string
  /** By whom, and as what, that chat may be read. */
  readonly reader: Reader
  readonly address: Address
}

export interface OwnerChatDeps {
  readonly channels: Channels
  readonly stored: readonly DirectChat[]
  whoIs(platformId: string): Identity
  /** Returns true if the account is configured, so that a message can leave by it. */
  reaches(address: Address): boolean
}

export function createOwnerChats({ stored, channels, whoIs, reaches }: OwnerChatDeps): OwnerChats {
  const chats = new Map<string, DirectChat>(stored.map((chat) => [keyOf(chat), chat]))
  /** The last of somebody's chats wins. */
  function bestOf(ranked: readonly DirectChat[], also: readonly PersonId[] = []): readonly OwnerChat[] {
    const best = new Map<string, OwnerChat>()
    for (const chat of ranked) {
      const { role, person } = whoIs(chat.platformId)
      if (person === undefined || (role !== 'owner' && !also.includes(person))) continue
      const reader = { platformId: chat.platformId, person, ...(role === 'owner' ? { owner: true as const } : {}) }
      best.set(person, { person, address: chat.address, reader })
    }
    return [...best.values()]
  }

  function split({ channel, account }: Pick<Address, 'channel' | 'account'>) {
    const near = ({ address }: DirectChat): boolean => address.channel === channel && address.account === account
    const all = [...chats.values()].filter(({ address }) => reaches(address))
    return { here: all.filter(near), elsewhere: all.filter((one) => !near(one)) }
  }

  return {
    saw(event, at) {
      const { sender } = event
      const { topic: _topic, ...address } = event.address
      if (address.chatType !== 'direct' || identifiesNobody(channels, address.channel, sender)) return undefined
      // A command of a platform's menu may be typed in a direct chat with somebody else, where the bot cannot write.
      const isWritten = event.kind !== 'command' || event.answerBy === undefined
      if (!isWritten && !channels.traits(address.channel).ids.directChatIsPerson) return undefined
      const chat: DirectChat = { platformId: platformIdOf(channels, address.channel, sender), address, at }
      const key = keyOf(chat)
      const known = chats.get(key)
      chats.delete(key)
      chats.set(key, chat)
      return known && formatAddress(known.address) === formatAddress(address) ? undefined : chat
    },
    nearest(where, also) {
      const { here, elsewhere } = split(where)
      return bestOf([...elsewhere, ...here], also)
    },
    beside(where) {
      const { here, elsewhere } = split(where)
      return bestOf([...here, ...elsewhere])
    },
    personOf({ topic: _topic, ...address }) {
      const name = formatAddress(address)
      const chat = [...chats.values()].find((one) => formatAddress(one.address) === name)
      return chat && whoIs(chat.platformId).person
    },
  }
}

function keyOf({ platformId, address }: DirectChat): string {
  return `${platformId}@${address.account}`
}
