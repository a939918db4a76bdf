import type { Address } from '../core/address.ts'
import type { AdmissionFact } from '../core/admission.ts'
import type { BotSpending } from '../core/bot-budget.ts'
import type { Identity } from '../core/dispatch.ts'
import type { ChannelId, PersonId, ScopeKey } from '../core/ids.ts'
import type { SendOverride } from '../core/session.ts'

/** The lookups of routing beside the configuration: rebuilt from the store, answered without waiting. */
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
  /** Returns the value set with `/send` for the session of this key; undefined inherits (T26). */
  sendOverride(scopeKey: ScopeKey): SendOverride | undefined
  /**
   * Until when the agent says nothing at a place (`/mute`), ms since the epoch; infinite until it is ended. A time that
   * has passed may still be given.
   */
  mutedUntil(address: Address): number | undefined
  /**
   * Returns an owner's decision about an applicant, by its key; undefined if it never asked. Must not depend on `this`.
   */
  readonly admission: (key: string) => AdmissionFact | undefined
  /** A control command by its name in lower case; undefined if there is none of that name, and none that is near. */
  command(name: string): KnownCommand | undefined
  /**
   * We are part of this thread, and somebody spoke there not long before `at`. Asked only where a rule follows threads.
   */
  follows(thread: Address, at: number): boolean
  /** Returns the spending of other bots in this chat. */
  botSpending(chat: Address, at: number): BotSpending
}

export interface KnownCommand {
  readonly who: 'anyone' | 'owner'
  /** People for whom an owner's command is too. */
  readonly also?: readonly PersonId[]
  /** Also for people we do not know. */
  readonly open: boolean
  /** Without an argument it is no command of those people once there is an owner: they ask to be let in. */
  readonly asks?: boolean
  /** There is none of that name: this is the one that was most likely meant. */
  readonly near?: string
}
