import { type Namespace, parseNamespace } from './caller.ts'
import { type Channels, type ChannelTraits, foldId, type IdTraits } from './channel-traits.ts'
import type { ChannelId, PersonId } from './ids.ts'
import type { Sender } from './message.ts'

/**
 * A sender as people are written everywhere: `telegram:111`, `slack:t01/u333`, in lower case unless the platform's ids
 * have a case. The team is part of it where ids are only unique inside one: the same id elsewhere is somebody else
 * (F-H04).
 */
export function platformIdOf(
  { traits }: Pick<Channels, 'traits'>,
  channel: ChannelId,
  { id, team }: Pick<Sender, 'id' | 'team'>,
): string {
  const own = `${team ? `${team}/` : ''}${id}`
  return `${channel}:${traits(channel).ids.caseSensitive ? own : own.toLowerCase()}`
}

/**
 * Separates one sender from others as the platform names them, in memory alone: nobody writes it and no row holds it.
 */
export function senderKey(channel: ChannelId, { id, team }: Pick<Sender, 'id' | 'team'>): string {
  return `${channel}:${team ? `${team}/` : ''}${id}`
}

/** The sender is no single person: it never holds authority, claims nothing and is linked to nobody. */
export function identifiesNobody(
  { traits }: Pick<Channels, 'traits'>,
  channel: ChannelId,
  { id, kind }: Pick<Sender, 'id' | 'kind'>,
): boolean {
  return kind !== 'user' || id.trim() === '' || isShared(traits(channel).ids, id)
}

/** Returns true if a sender there could have this id, with its team where ids have one; any other id never matches. */
export function isWellFormedId({ form }: IdTraits, id: string): boolean {
  return form?.test(id) !== false
}

/** Says that no sender of these channels can have an id, and the form of those that there are. */
export function nobodysId(channels: readonly ChannelTraits[], id: string): string {
  const forms = channels.flatMap(({ name, ids: { formInWords } }) =>
    formInWords ? `on ${name} an id ${formInWords}` : [],
  )
  return [`${id} can be nobody's id`, ...(forms.length === 0 ? [] : [forms.join(', ')])].join(': ')
}

/** The id stands for many people: whatever a list says, it identifies nobody. */
export function isShared({ shared }: IdTraits, senderId: string): boolean {
  return shared.includes(senderId)
}

/** A platform id as it was typed, `<channel>:<id>`, written as `platformIdOf` does. */
export function foldPlatformId({ traits }: Pick<Channels, 'traits'>, typed: string): string {
  const whole = typed.trim()
  const end = whole.indexOf(':') + 1
  const channel = whole.slice(0, end).toLowerCase()
  return `${channel}${foldId(traits(channel.slice(0, -1)).ids, whole.slice(end))}`
}

/**
 * Names whoever wrote something that a model is shown: a platform id (`telegram:111`), `person:<id>` for somebody who
 * came by the API, `holder:<namespace>` and `listener:<namespace>` for whoever reads by a token, `operator`, or
 * `nobody`. The names are resolved to people when they are asked about, so that a link or its end counts at once.
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

const HOLDER = 'holder:'
const LISTENER = 'listener:'

/** Whoever holds a token of a namespace, as a reader of the sessions in it. */
export interface Holder {
  readonly namespace: Namespace
  /** The token can have the agent answer people of the namespace; without, it reads what is there and nothing else. */
  readonly speaks: boolean
}

/** Names a holder among readers. */
export function holderOf({ namespace, speaks }: Holder): AuthorId {
  return `${speaks ? HOLDER : LISTENER}${namespace}`
}

/** Returns the holder that `holderOf` named, undefined for every other author. */
export function holderIn(author: AuthorId): Holder | undefined {
  const speaks = author.startsWith(HOLDER)
  if (!speaks && !author.startsWith(LISTENER)) return undefined
  const namespace = parseNamespace(author.slice(author.indexOf(':') + 1))
  return namespace && { namespace, speaks }
}
