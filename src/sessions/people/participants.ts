import type { Channels } from '../../core/channel-traits.ts'
import type { Dispatch } from '../../core/dispatch.ts'
import type { SessionId } from '../../core/ids.ts'
import { identifiesNobody, platformIdOf } from '../../core/platform-id.ts'
import type { StoreWriter } from '../../store/store.ts'

/** What is remembered of whom; one more drops the one remembered longest. */
const REMEMBERED = 20_000

export interface Joining {
  readonly session: SessionId
  readonly participant: string
  readonly at: number
}

/**
 * Who took part in which session (S22, S45). The rows are the truth; what this process has written is remembered, so
 * that a message of somebody known asks and writes nothing.
 */
export interface Participants {
  /** Inside the transaction of the message. Undefined where the row is known to be there. */
  join(tx: StoreWriter, joining: Joining): Promise<void> | undefined
  /** The session is deleted. */
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
 * Whoever a dispatch makes a participant: the platform id, so that a link or its end is seen at the next look (S19); the
 * person behind it is asked for then. Nobody for a schedule, a bot, or a sender that stands for many people.
 */
export function participantOf(channels: Channels, { event, schedule, posted }: Dispatch): string | undefined {
  if (posted) return posted.participant
  const { sender, address } = event
  if (schedule || identifiesNobody(channels, address.channel, sender)) return undefined
  return platformIdOf(channels, address.channel, sender)
}
