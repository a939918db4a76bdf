import type { Address } from '../../core/address.ts'
import type { BotSpending } from '../../core/bot-budget.ts'
import type { Clock } from '../../core/clock.ts'
import { type ChatCommand, nearCommand } from '../../core/command.ts'
import type { Identity } from '../../core/dispatch.ts'
import type { ChannelId, ScopeKey } from '../../core/ids.ts'
import type { Logger } from '../../core/logger.ts'
import type { RoutingPolicy } from '../../core/policy.ts'
import type { SendOverride } from '../../core/session.ts'
import type { StoreReader } from '../../store/store.ts'
import type { Access } from '../people/access.ts'
import type { AdmissionFacts } from '../people/admission-facts.ts'
import type { ChatMoves } from './chat-moves.ts'
import { type ChatWatch, createChatWatch } from './chat-watch.ts'
import type { Mutes } from './mutes.ts'
import type { OverridesCache } from './overrides-cache.ts'

/** The facts that routing needs besides the configuration, looked up without waiting. */
export interface StoredFacts {
  readonly ownerKnown: boolean
  personOf(channel: ChannelId, senderId: string, team?: string): Identity | undefined
  sendOverride(scopeKey: ScopeKey): SendOverride | undefined
  formerChat(channel: string, chat: string): string | undefined
  mutedUntil(address: Address): number | undefined
  readonly admission: AdmissionFacts['fact']
  command(
    name: string,
  ):
    | (Pick<ChatCommand, 'who' | 'also'> & { readonly open: boolean; readonly asks?: boolean; readonly near?: string })
    | undefined
  follows(thread: Address, at: number): boolean
  botSpending(chat: Address, at: number): BotSpending
  /** Receives every decision and the end of every turn. */
  readonly watch: ChatWatch
}

export interface FactSources {
  readonly read: StoreReader
  readonly overrides: OverridesCache
  readonly access: Access
  readonly mutes: Pick<Mutes, 'until'>
  readonly moves: Pick<ChatMoves, 'formerChat'>
  readonly admissions: Pick<AdmissionFacts, 'fact'>
  readonly clock: Clock
  /** The holder of the policy in force, which may change. */
  readonly policies: { readonly policy: RoutingPolicy }
  readonly logger: Logger
  readonly commands: ReadonlyMap<string, ChatCommand>
}

/** Loads the facts; people come from `access`, overrides from their cache. */
export async function loadFacts(sources: FactSources): Promise<StoredFacts> {
  const { read, overrides, clock, access, admissions, mutes, moves, policies, logger, commands } = sources
  const watch = await createChatWatch({ read, clock, policies, logger })
  return {
    formerChat: moves.formerChat,
    get ownerKnown() {
      return access.ownerKnown
    },
    personOf: access.personOf,
    follows: watch.follows,
    botSpending: watch.botSpending,
    watch,
    sendOverride: overrides.send,
    mutedUntil: mutes.until,
    admission: admissions.fact,
    command(name) {
      const known = commands.get(name)
      if (known === undefined) return nearFact(name, commands)
      const { who, open = false, asks = false, also = [] } = known
      return { who, open, asks, also }
    },
  }
}

/** A mistyped name lets nobody in, and asks for nothing. */
function nearFact(name: string, commands: FactSources['commands']): ReturnType<StoredFacts['command']> {
  const near = nearCommand(name, commands)
  return near && { who: near.who, also: near.also ?? [], open: false, near: near.name }
}
