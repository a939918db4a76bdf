import type { Channels } from '../../core/channel-traits.ts'
import type { Dispatch } from '../../core/dispatch.ts'
import type { SessionId } from '../../core/ids.ts'
import { identifiesNobody, platformIdOf } from '../../core/platform-id.ts'
import type { StoreWriter } from '../../store/store.ts'

/** The most entries remembered; one more drops the oldest. A set: an LRU cache would allocate room for all at once. */
const REMEMBERED = 20_000

export interface Joining {
  readonly session: SessionId
  readonly participant: string
  readonly at: number
}

/**
 * The participants of sessions (S22, S45). The rows are the truth; those this process has written are remembered, so
 * that a message of a known participant reads and writes nothing.
 */
export interface Participants {
  /** Adds a participant inside the transaction of the message. Returns undefined if the row is known to exist. */
  join(tx: StoreWriter, joining: Joining): Promise<void> | undefined
  /** Called when the session is deleted. */
  forget(session: SessionId): void
}

export function createParticipants(): Participants {
  const known = new Set<string>()
  const remember = (key: string): void => {
    known.add(key)
    const [oldest] = known
    if (known.size > REMEMBERED && oldest !== undefined) known.delete(oldest)
  }
  return {
    join(tx, { session, participant, at }) {
      const key = `${session}\n${participant}`
      if (known.has(key)) return undefined
      tx.afterUndo(() => known.delete(key))
      return tx.participants.add(session, participant, at).then(() => remember(key))
    },
    forget(session) {
      for (const key of known) if (key.startsWith(`${session}\n`)) known.delete(key)
    },
  }
}

/**
 * Returns the platform id that a dispatch makes a participant; its person is looked up on use, so that a link or its
 * end counts at once (S19). Returns undefined for a schedule, a bot, or a sender that stands for many people.
 */
export function participantOf(channels: Channels, { event, schedule, posted }: Dispatch): string | undefined {
  if (posted) return posted.participant
  const { sender, address } = event
  if (schedule || identifiesNobody(channels, address.channel, sender)) return undefined
  return platformIdOf(channels, address.channel, sender)
}
