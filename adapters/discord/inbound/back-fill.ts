import type { Budget, PageMessage, PageReader } from '../../shared/read-back.ts'
import { TryLater } from '../../shared/until-done.ts'
import { before, isNewer, snowflakeAt } from '../address.ts'
import { type CallOutcome, type DiscordClient, reasonOf } from '../connection/client.ts'
import type { VisibleChannel } from '../connection/visible-channels.ts'
import { idsOf } from './read-event.ts'

/** Messages read back after one interruption, over all channels (a bound in total). */
const MOST_IN_TOTAL = 2000

export function newBudget(): Budget {
  return { left: MOST_IN_TOTAL }
}

const PAGE = 100
export const MOST_PER_CHANNEL = 200
const DEADLINE_MS = 15_000

/** Reads what a channel says, page by page, oldest first. */
export function pagesOf(
  { client, signal }: { readonly client: DiscordClient; readonly signal: AbortSignal },
  channelId: string,
): PageReader<unknown> {
  const path = `/channels/${channelId}/messages` as const
  return {
    async read(after, most) {
      const limit = Math.min(PAGE, most)
      const query = { after, limit: String(limit) }
      const outcome = await client.call({ verb: 'GET', path, query }, { signal, deadlineMs: DEADLINE_MS })
      // A page that is larger than is read of one: the half of it is. A message alone is never that large.
      if (outcome.kind === 'failed' && outcome.tooLong && limit > 1) return this.read(after, Math.floor(limit / 2))
      raiseUnlessTold(outcome, 'a channel could not be read back')
      if (outcome.kind !== 'answered') return 'refused'
      const messages = readPage(outcome.result, after)
      return { messages, further: messages.length < limit ? 'none' : 'more' }
    },
  }
}

/** Throws where the platform did not answer, or asks to wait: what was asked is to be asked again. */
export function raiseUnlessTold(outcome: CallOutcome, what: string): void {
  if (outcome.kind === 'failed') throw new Error(`${what}: ${outcome.reason}`)
  if (outcome.kind === 'refused' && outcome.retryAfterMs !== undefined)
    throw new TryLater(`${what} yet: ${reasonOf(outcome)}`, outcome.retryAfterMs)
}

/** Returns what came after `from`, oldest first: no order of the answer is relied upon, for ids contain the time. */
function readPage(result: unknown, from: string): PageMessage<unknown>[] {
  if (!Array.isArray(result)) return []
  const messages = result.flatMap((message: unknown) => {
    const ids = idsOf(message)
    return ids !== undefined && isNewer(ids.id, from) ? [{ id: ids.id, message }] : []
  })
  return messages.sort((a, b) => (isNewer(a.id, b.id) ? 1 : -1))
}

/** More than a clock that is kept differs from the platform's. */
const CLOCKS_DIFFER_MS = 60_000

/** Returns the id at which reading back begins after a moment of our clock, because ids hold the platform's time. */
export function sinceMoment(ms: number): string {
  return snowflakeAt(ms - CLOCKS_DIFFER_MS)
}

/**
 * Returns where reading a channel begins that was never read: at its newest message the very first time, so that
 * nothing old is answered. Later it is new to us because it began, or was shown to us, while something was missed: then
 * it is read from that time on, but from nothing that was said before the bot joined.
 */
export function startOf({ id, joinedAt = 0, lastMessageId }: VisibleChannel, missedSince: number | undefined): string {
  if (missedSince === undefined) return lastMessageId ?? '0'
  const starts = [before(id), sinceMoment(missedSince), snowflakeAt(joinedAt)]
  return starts.reduce((latest, start) => (isNewer(start, latest) ? start : latest))
}

/**
 * Returns where reading a direct chat begins that is asked for while a session runs. The very first time that is where
 * the session began: what was said since may be missing, and nothing older is answered. By the messages there,
 * where our clock is ahead of the platform's.
 */
export function startOfDirect(
  { lastMessageId = '0' }: { readonly lastMessageId?: string },
  { missedSince, begunAt }: { readonly missedSince: number | undefined; readonly begunAt: number },
): string {
  if (missedSince !== undefined) return sinceMoment(missedSince)
  const begun = before(snowflakeAt(begunAt))
  return isNewer(begun, lastMessageId) ? lastMessageId : begun
}
