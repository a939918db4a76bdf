import { ChannelDown } from '../../../src/channels/adapter.ts'
import { isFields } from '../../shared/fields.ts'
import { reasonOf } from '../outbound/receipts.ts'
import type { DiscordClient } from './client.ts'

/**
 * Sessions a day that are left for a person to mend something with: when none is left, the platform takes the token away.
 * Of a bot that is granted fewer than the usual thousand it is a tenth.
 */
const RESERVE = 100
const RESERVE_SHARE = 0.1
const DEADLINE_MS = 15_000

/** Thrown instead of beginning a session that would be taken from the reserve. */
export class SessionsSpent extends ChannelDown {
  /** Ms until the platform counts anew. */
  readonly resetAfterMs: number

  constructor(message: string, resetAfterMs: number) {
    super(message, { permanent: false })
    this.resetAfterMs = resetAfterMs
  }
}

interface SessionLimit {
  readonly total: number
  readonly remaining: number
  readonly resetAfterMs: number
}

/**
 * Asks the platform how many sessions may still be begun, and returns if one more leaves the reserve untouched.
 * @throws SessionsSpent when it does not
 * @throws ChannelDown when the platform does not tell
 */
export async function checkSessionLimit(client: DiscordClient, signal: AbortSignal): Promise<void> {
  const outcome = await client.call({ verb: 'GET', path: '/gateway/bot' }, { deadlineMs: DEADLINE_MS, signal })
  if (outcome.kind === 'failed') throw new ChannelDown(`Discord: ${outcome.reason}`, { permanent: false })
  if (outcome.kind === 'refused') throw new ChannelDown(`Discord refused: ${reasonOf(outcome)}`, { permanent: false })
  const limit = readLimit(outcome.result)
  if (limit === undefined)
    throw new ChannelDown(
      'Discord: GET /gateway/bot does not say where the gateway is, which is not the Discord API: check apiRoot',
      {
        permanent: false,
      },
    )
  const { total, remaining, resetAfterMs } = limit
  if (remaining > Math.min(RESERVE, Math.floor(total * RESERVE_SHARE))) return
  const hours = Math.max(1, Math.ceil(resetAfterMs / 3_600_000))
  throw new SessionsSpent(
    `Discord lets this bot begin only ${remaining} of ${total} sessions more for ${hours} h, and these are kept in reserve: ` +
      'see what breaks the connection (parley status, the log) and that nothing else uses this token',
    resetAfterMs,
  )
}

function readLimit(result: unknown): SessionLimit | undefined {
  const { url, session_start_limit: limit } = isFields(result) ? result : {}
  const { total, remaining, reset_after: resetAfterMs } = isFields(limit) ? limit : {}
  if (!isSocketUrl(url) || !isCount(total) || !isCount(remaining) || !isCount(resetAfterMs)) return undefined
  return { total, remaining, resetAfterMs }
}

/** True for what a connection can be opened to; the client library throws at anything else, outside of any call of ours. */
export function isSocketUrl(value: unknown): value is string {
  return typeof value === 'string' && URL.canParse(value) && /^wss?:$/.test(new URL(value).protocol)
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
