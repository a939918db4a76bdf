import type { Address } from '../core/address.ts'
import type { AdmissionFact } from '../core/admission.ts'
import type { BotSpending } from '../core/bot-budget.ts'
import type { Identity } from '../core/dispatch.ts'
import type { ChannelId, ScopeKey } from '../core/ids.ts'
import type { SendOverride } from '../core/session.ts'

/** What routing must know that is not configuration: rebuilt from the store, looked up without waiting. */
export interface RouteFacts {
  /** Somebody holds the owner role by a claim. An owner named in the configuration is known anyway. */
  readonly ownerKnown: boolean
  /**
   * People the store knows: a claimed owner, linked ids. Asked only for ids the configuration does not name; where the
   * answer is a person the configuration does name, the configured role holds.
   */
  personOf(channel: ChannelId, senderId: string, team?: string): Identity | undefined
  /** The id a chat had before it got this one; undefined for nearly all. */
  formerChat(channel: string, chat: string): string | undefined
  /** What `/send` set for the session of this key; undefined inherits (T26). */
  sendOverride(scopeKey: ScopeKey): SendOverride | undefined
  /**
   * Until when the agent says nothing at a place (`/mute`), ms since the epoch; infinite until it is ended. A time that
   * has passed may still be given.
   */
  mutedUntil(address: Address): number | undefined
  /** What an owner said about an applicant, by its key; undefined if it never asked. Must not depend on `this`. */
  readonly admission: (key: string) => AdmissionFact | undefined
  /** A control command by its name in lower case; undefined if there is none of that name. */
  command(name: string): KnownCommand | undefined
  /** We are part of this thread, and somebody spoke there not long before `at`. Asked only where a rule follows threads. */
  follows(thread: Address, at: number): boolean
  /** What other bots have used up in this chat. */
  botSpending(chat: Address, at: number): BotSpending
}

export interface KnownCommand {
  readonly who: 'anyone' | 'owner'
  /** Also for people we do not know. */
  readonly open: boolean
  /** Without an argument it is no command of those people once there is an owner: they ask to be let in. */
  readonly asks?: boolean
}
