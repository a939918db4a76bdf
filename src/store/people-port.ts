import type { Address } from '../core/address.ts'
import type { InboxId, PersonId } from '../core/ids.ts'
import type { Role } from '../core/session.ts'

/**
 * People: a part of the store port, apart only for its size. Platform ids are `core/platform-id.ts` text. A person of
 * the configuration is stored only with the ids it linked, as a guest: its role is the configuration's to say.
 */
export interface StoredPerson {
  readonly id: PersonId
  readonly role: Role
  readonly ids: readonly string[]
}

/** One change of who is who, for the audit. */
export interface IdentityChange {
  readonly at: number
  readonly kind: 'claimed' | 'linked' | 'unlinked'
  readonly person: PersonId
  readonly platformId: string
  /** The one who made the change: a platform id, or `operator`. */
  readonly by: string
}

/** A code that joins another id to a person. Only its hash is kept. */
export interface LinkCode {
  readonly hash: string
  readonly person: PersonId
  /** The platform id that asked for it. */
  readonly maker: string
  /** The place where it was shown; its result is reported there. */
  readonly shownAt: Address
  readonly expiresAt: number
  /** The command that used it up; a code works once. */
  readonly usedBy?: InboxId
}

/** A place where somebody wrote to us in private. */
export interface DirectChat {
  readonly platformId: string
  readonly address: Address
  readonly at: number
}

export interface PeopleReader {
  all(): Promise<readonly StoredPerson[]>
  linkCode(hash: string): Promise<LinkCode | undefined>
  /** Newest first. */
  changes(limit: number): Promise<readonly IdentityChange[]>
  /** Returns the platform ids that became the owner by the claim code. */
  claimed(): Promise<readonly string[]>
  /** Those of owners, the oldest first. */
  directChats(): Promise<readonly DirectChat[]>
}

export interface PeopleWriter {
  /** Adds the person or the further ids; an id another person holds: `conflict` (K16). */
  link(id: PersonId, role: Role, platformIds: readonly string[], at: number): Promise<void>
  /** Adds one id to a person, who becomes a stored guest if there is none of that name. `conflict` as `link`. */
  join(id: PersonId, platformId: string, at: number): Promise<void>
  /** Takes an id from whoever holds it and withdraws the codes it made. Returns the person, if one held it. */
  unlink(platformId: string): Promise<PersonId | undefined>
  /** Withdraws earlier codes of the same maker, and all that ran out. */
  addLinkCode(code: LinkCode, at: number): Promise<void>
  /** False if it was used already. */
  useLinkCode(hash: string, by: InboxId): Promise<boolean>
  /** Nobody can use it any more. */
  withdrawLinkCode(hash: string): Promise<void>
  /** One for each id and account: the last one counts. */
  metAt(chat: DirectChat): Promise<void>
  recordChange(change: IdentityChange): Promise<void>
}
