import type { ChannelId, PersonId } from './ids.ts'
import type { Sender } from './message.ts'

/**
 * Ids that stand for many people on Telegram: the anonymous admin of any group, its service account, and the
 * "channel" bot. Whatever a list says, they identify nobody (RELIABILITY S25).
 */
const SHARED_IDS: ReadonlySet<string> = new Set(['1087968824', '777000', '136817688'])

/**
 * A sender as people are written everywhere: `telegram:111`, `slack:t01/u333`, in lower case. The team is part of it
 * where ids are only unique inside one: the same id elsewhere is somebody else (H04).
 */
export function platformIdOf(channel: ChannelId, { id, team }: Pick<Sender, 'id' | 'team'>): string {
  return `${channel}:${team ? `${team}/` : ''}${id}`.toLowerCase()
}

/** The sender is no single person: it never holds authority, claims nothing and is linked to nobody. */
export function identifiesNobody(channel: ChannelId, { id, kind }: Pick<Sender, 'id' | 'kind'>): boolean {
  return kind !== 'user' || id.trim() === '' || isShared(channel, id)
}

/** How the ids of people and bots are written; a channel that is not here has no form of its own. */
const FORMS: Readonly<Partial<Record<ChannelId, RegExp>>> = {
  telegram: /^-?[1-9]\d*$/,
  discord: /^[1-9]\d*$/,
  slack: /^(?:[te][a-z0-9]*\/)?[uwb][a-z0-9]*$/i,
}

/** Whether a sender on that channel could have this id, on Slack `<team>/<user>` too; any other matches nobody, ever. */
export function isWellFormedId(channel: ChannelId, id: string): boolean {
  return FORMS[channel]?.test(id) !== false
}

export function isShared(channel: ChannelId, senderId: string): boolean {
  return channel === 'telegram' && SHARED_IDS.has(senderId)
}

/**
 * Names whoever wrote something that a model is shown: a platform id (`telegram:111`), `person:<id>` for somebody who
 * came by the API, `operator`, or `nobody`. The names are resolved to people when they are asked about, so that a link
 * or its end counts at once.
 */
export type AuthorId = string

/** Stands for text that has no known person behind it: bots, hooks, digests, anonymous admins. It may do nothing. */
export const NOBODY: AuthorId = 'nobody'
/** Stands for whoever can reach the local socket. */
export const OPERATOR: AuthorId = 'operator'

export function personAuthor(person: PersonId): AuthorId {
  return `person:${person}`
}

const PERSON = 'person:'

/** Returns the person that `personAuthor` named, undefined for every other author. */
export function personOfAuthor(author: AuthorId): PersonId | undefined {
  return author.startsWith(PERSON) ? (author.slice(PERSON.length) as PersonId) : undefined
}
