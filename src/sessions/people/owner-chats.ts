import { type Address, formatAddress } from '../../core/address.ts'
import type { Channels } from '../../core/channel-traits.ts'
import type { Identity } from '../../core/dispatch.ts'
import type { InboundEvent } from '../../core/message.ts'
import { identifiesNobody, platformIdOf } from '../../core/platform-id.ts'
import type { DirectChat } from '../../store/people-port.ts'

/** Where owners can be told something in private: their direct chats, the one used last at the end. In memory. */
export interface OwnerChats {
  /** An owner wrote there. Returns the chat if it is a new one and has to be stored. */
  saw(event: InboundEvent, at: number): DirectChat | undefined
  /** One chat for each owner there is: on the account where it happened if they use it, else the one they used last. */
  nearest(where: Pick<Address, 'channel' | 'account'>): readonly OwnerChat[]
  /** Returns what `nearest` does, but of other accounts where there are any: for troubles of this account itself. */
  beside(where: Pick<Address, 'channel' | 'account'>): readonly OwnerChat[]
}

export interface OwnerChat {
  readonly person: string
  readonly address: Address
}

export interface OwnerChatDeps {
  readonly channels: Channels
  readonly stored: readonly DirectChat[]
  whoIs(platformId: string): Identity
  /** The account is configured, so that something can leave by it. */
  reaches(address: Address): boolean
}

export function createOwnerChats({ stored, channels, whoIs, reaches }: OwnerChatDeps): OwnerChats {
  const chats = new Map<string, DirectChat>(stored.map((chat) => [keyOf(chat), chat]))
  /** The last of an owner's chats wins. */
  function bestOf(ranked: readonly DirectChat[]): readonly OwnerChat[] {
    const best = new Map<string, OwnerChat>()
    for (const chat of ranked) {
      const { role, person } = whoIs(chat.platformId)
      if (role === 'owner' && person !== undefined) best.set(person, { person, address: chat.address })
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
      const chat: DirectChat = { platformId: platformIdOf(channels, address.channel, sender), address, at }
      const key = keyOf(chat)
      const known = chats.get(key)
      // A command of a platform's menu may be typed in a direct chat with somebody else, where we cannot write.
      if (known && event.kind === 'command' && event.answerBy !== undefined) return undefined
      chats.delete(key)
      chats.set(key, chat)
      return known && formatAddress(known.address) === formatAddress(address) ? undefined : chat
    },
    nearest(where) {
      const { here, elsewhere } = split(where)
      return bestOf([...elsewhere, ...here])
    },
    beside(where) {
      const { here, elsewhere } = split(where)
      return bestOf([...here, ...elsewhere])
    },
  }
}

function keyOf({ platformId, address }: DirectChat): string {
  return `${platformId}@${address.account}`
}
