import type { Address, ChatType } from '../core/address.ts'
import { type ChannelTraits, foldId, type IdTraits } from '../core/channel-traits.ts'
import type { PersonId } from '../core/ids.ts'
import type { Sender } from '../core/message.ts'

/**
 * The place of an event: ids are trimmed and, unless the platform's have a case, in lower case (K5); an empty one is
 * undefined.
 */
export interface PlaceFacts {
  readonly channel: string
  /** Those of the channel. */
  readonly traits: ChannelTraits
  readonly account: string
  readonly chatType: ChatType
  readonly chat: string | undefined
  /** The id the chat had before it moved: rules that name it mean this chat (F-C07). */
  readonly formerChat: string | undefined
  /** The platform's topic; never the forum suffix of a session key. */
  readonly topic: string | undefined
  readonly space: string | undefined
  readonly spaceType: string | undefined
}

/** The values that rules match and session keys are made from, computed once a dispatch. */
export interface MatchFacts extends PlaceFacts {
  readonly person: PersonId | undefined
  readonly senderId: string | undefined
  readonly senderTeam: string | undefined
  /** The bot is meant: a mention, a reply to it, a command, or a direct chat. */
  readonly mentioned: boolean
}

/** Trimmed and in lower case; what is then empty counts as absent. */
export function normalised(raw: string | undefined): string | undefined {
  return raw?.trim().toLowerCase() || undefined
}

/** An id as `foldId` compares it; an empty one counts as absent. */
export function foldedId(traits: IdTraits, raw: string | undefined): string | undefined {
  return raw === undefined ? undefined : foldId(traits, raw) || undefined
}

/** A sender's ids, folded. */
export interface SenderIds {
  readonly senderId: string | undefined
  readonly senderTeam: string | undefined
}

export function senderIds({ ids }: ChannelTraits, { id, team }: Sender): SenderIds {
  return { senderId: foldedId(ids, id), senderTeam: foldedId(ids, team) }
}

export const NO_SENDER: SenderIds = { senderId: undefined, senderTeam: undefined }

/** The values known beside the address and the ids. */
export interface KnownFacts {
  readonly person: PersonId | undefined
  readonly mentioned: boolean
  readonly formerChat?: string | undefined
}

export function matchFacts(
  { address, traits }: { readonly address: Address; readonly traits: ChannelTraits },
  { senderId, senderTeam }: SenderIds,
  { person, mentioned, formerChat }: KnownFacts,
): MatchFacts {
  const { space } = address
  const { ids } = traits
  return {
    channel: address.channel,
    traits,
    account: address.account,
    chatType: address.chatType,
    chat: foldedId(ids, address.chat),
    formerChat,
    topic: foldedId(ids, address.topic),
    space: foldedId(ids, space?.id),
    spaceType: normalised(space?.type),
    person,
    senderId,
    senderTeam,
    mentioned,
  }
}
