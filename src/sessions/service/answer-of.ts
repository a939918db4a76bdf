import type { Session } from '../../core/session.ts'
import { stripSilence } from '../../core/silence.ts'
import type { InboxRow } from '../../store/inbox-port.ts'
import type { StoreReader } from '../../store/store.ts'
import { calmLine } from '../turns/turn-reply.ts'
import { newestFirst } from './read-messages.ts'

type Outcome = { readonly status: 'ok'; readonly reply: string } | { readonly status: 'error'; readonly error: string }

/**
 * Returns the outcome of a run from the store alone; undefined while it is owed. The reply is that of the turn that
 * took the message (T21), without markers: an empty one chose to say nothing (S48).
 */
export async function answerOf(
  read: Pick<StoreReader, 'events' | 'sessions' | 'turns'>,
  row: InboxRow,
): Promise<Outcome | undefined> {
  if (row.state !== 'done' || row.outcome === undefined) return undefined
  const { traceId, event } = row.dispatch
  switch (row.outcome) {
    case 'answered':
    case 'silent':
    // Whoever asked from elsewhere reads the answer, though the session's chat does not.
    case 'refused: parted':
      return { status: 'ok', reply: await replyOf(read, row) }
    case 'failed': {
      const turn = row.turnId && (await read.turns.get(row.turnId))
      return failure(calmLine(turn?.error ?? 'internal', traceId, event.address.channel))
    }
    case 'quarantined':
      return failure(calmLine('quarantined', traceId))
    case 'cancelled':
      return failure(`It was stopped before it was answered. (${traceId})`)
    case 'refused: send_policy':
      return failure(`Nothing may be sent there: the send policy says so, or somebody said /send off. (${traceId})`)
    case 'refused: unreadable':
      return failure(`The record of that session cannot be read; the log names the row. (${traceId})`)
    case 'refused: queue_full':
      return failure(`More messages wait there than it takes; try again later. (${traceId})`)
    case 'refused: public_full':
      return failure(`As many people whom nobody let in are being answered as may be; try again later. (${traceId})`)
    default:
      return failure(`There is no such session. (${traceId})`)
  }
}

function failure(error: string): Outcome {
  return { status: 'error', error }
}

/** The answer is near the end of the log; the turn's own start ends the search. */
async function replyOf(
  read: Pick<StoreReader, 'events' | 'sessions'>,
  { sessionId, turnId }: InboxRow,
): Promise<string> {
  const session: Session | undefined = sessionId && (await read.sessions.get(sessionId))
  if (!session) return ''
  for await (const event of newestFirst(read.events, session)) {
    if (event.turnId !== turnId) continue
    if (event.type === 'assistant_message') return stripSilence(event.data.text).text.trim()
    if (event.type === 'turn_started') break
  }
  return ''
}
