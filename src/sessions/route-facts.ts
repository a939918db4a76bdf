import type { Address } from '../core/address.ts'
import type { Clock } from '../core/clock.ts'
import type { ChatCommand } from '../core/command.ts'
import type { Identity } from '../core/dispatch.ts'
import type { ChannelId, ScopeKey } from '../core/ids.ts'
import type { RoutingPolicy } from '../core/policy.ts'
import type { SendOverride } from '../core/session.ts'
import type { Store } from '../store/store.ts'
import type { Access } from './access.ts'
import type { ChatMoves } from './chat-moves.ts'
import { type ChatWatch, createChatWatch } from './chat-watch.ts'
import type { Mutes } from './mutes.ts'

/** What routing has to know beside the configuration, looked up without waiting. */
export interface StoredFacts {
  readonly ownerKnown: boolean
  personOf(channel: ChannelId, senderId: string, team?: string): Identity | undefined
  sendOverride(scopeKey: ScopeKey): SendOverride | undefined
  formerChat(channel: string, chat: string): string | undefined
  mutedUntil(address: Address): number | undefined
  command(name: string): { readonly who: 'anyone' | 'owner'; readonly open: boolean } | undefined
  /** Reads again what is kept by scope key: a chat got a new id. */
  reload(): Promise<void>
  follows(thread: Address, at: number): boolean
  /** Must be told what is decided and what came of it. */
  readonly watch: ChatWatch
}

export interface FactSources {
  readonly store: Store
  readonly access: Access
  readonly mutes: Pick<Mutes, 'until'>
  readonly moves: Pick<ChatMoves, 'formerChat'>
  readonly clock: Clock
  readonly policy: RoutingPolicy
  command(name: string): ChatCommand | undefined
}

/** Reads the few overrides there are; people come from `access`. */
export async function loadFacts(sources: FactSources): Promise<StoredFacts> {
  const { store, clock, access, mutes, moves, policy, command } = sources
  const watch = await createChatWatch({ read: store.read, clock, policy })
  const overrides = new Map<ScopeKey, SendOverride>()
  async function reload(): Promise<void> {
    const rows = await store.read.sessions.overrides()
    overrides.clear()
    for (const { scopeKey, override } of rows) overrides.set(scopeKey, override)
  }
  await reload()
  return {
    reload,
    formerChat: moves.formerChat,
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
