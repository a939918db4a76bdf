import type { Address } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { IdSource } from '../core/ids.ts'
import { joinsPeople } from '../core/joins-people.ts'
import { placeSession } from '../routing/place-session.ts'
import type { Lookups } from './lookups.ts'
import type { CurrentRouting } from './reload.ts'

export interface SharedChatDeps {
  readonly policies: CurrentRouting
  readonly lookups: Pick<Lookups, 'facts'>
  readonly ids: Pick<IdSource, 'trace'>
  readonly clock: Pick<Clock, 'now'>
}

/** Answers, by the policy in force, if people of different chats share a session. */
export interface SharedChats {
  /** Returns true if everybody's direct chats are the main session. */
  mainIsShared(this: void): boolean
  /** Returns true if what is posted at an address is on record in a session that people of other chats share. */
  joins(this: void, address: Address): boolean
}

export function sharedChats({ policies, lookups, ids, clock }: SharedChatDeps): SharedChats {
  const mainIsShared = (): boolean => policies.routing().sessions.scope === 'global'
  return {
    mainIsShared,
    joins(address) {
      const at = { address, traceId: ids.trace(), receivedAt: clock.now() }
      const { route } = placeSession(policies.routing(), lookups.facts, at)
      return route.kind === 'main' ? mainIsShared() : joinsPeople(policies.routing().channels, route)
    },
  }
}
