import type { Address } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { ChatCommand } from '../core/command.ts'
import type { Identity } from '../core/dispatch.ts'
import type { ChannelId, ScopeKey } from '../core/ids.ts'
import type { RoutingPolicy } from '../core/policy.ts'
import type { SendOverride } from '../core/session.ts'
import type { Store } from '../store/store.ts'
import type { Access } from './access.ts'
import { type ChatWatch, createChatWatch } from './chat-watch.ts'
import type { Mutes } from './mutes.ts'

/** What routing has to know beside the configuration, looked up without waiting. */
export interface StoredFacts {
  readonly ownerKnown: boolean
  personOf(channel: ChannelId, senderId: string, team?: string): Identity | undefined
  sendOverride(scopeKey: ScopeKey): SendOverride | undefined
  mutedUntil(address: Address): number | undefined
  command(name: string): { readonly who: 'anyone' | 'owner'; readonly open: boolean } | undefined
  follows(thread: Address, at: number): boolean
  /** Must be told what is decided and what came of it. */
  readonly watch: ChatWatch
}

export interface FactSources {
  readonly store: Store
  readonly access: Access
  readonly mutes: Pick<Mutes, 'until'>
  readonly clock: Clock
  readonly policy: RoutingPolicy
  command(name: string): ChatCommand | undefined
}

/** Reads the few overrides there are; people come from `access`. */
export async function loadFacts({ store, clock, access, mutes, policy, command }: FactSources): Promise<StoredFacts> {
  const watch = await createChatWatch({ read: store.read, clock, policy })
  const overrides = new Map<ScopeKey, SendOverride>()
  for (const { scopeKey, override } of await store.read.sessions.overrides()) overrides.set(scopeKey, override)
  return {
    get ownerKnown() {
      return access.ownerKnown
    },
    personOf: access.personOf,
    follows: watch.follows,
    watch,
    sendOverride: (key) => overrides.get(key),
    mutedUntil: mutes.until,
    command(name) {
      const known = command(name)
      return known && { who: known.who, open: known.open === true }
    },
  }
}
