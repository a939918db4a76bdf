import type { ChannelId } from './ids.ts'
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

export function isShared(channel: ChannelId, senderId: string): boolean {
  return channel === 'telegram' && SHARED_IDS.has(senderId)
}
