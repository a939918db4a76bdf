import type { APIGatewayBotInfo } from 'discord.js'
import { ChannelDown } from '../../../src/channels/adapter.ts'
import { parseUrl } from '../../../src/core/parse-url.ts'
import { isFields } from '../../shared/fields.ts'
import { type DiscordClient, reasonOf } from './client.ts'

/**
 * Sessions a day that are reserved for a person's repairs: when none is left, the platform revokes the token. A bot
 * with fewer than the usual thousand reserves a tenth.
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

/**
 * Asks the platform where its gateway is and how many sessions may still be begun.
 * @throws SessionsSpent when one more would be taken from the reserve
 * @throws ChannelDown when the platform does not say
 */
export async function askForSession(client: DiscordClient, signal: AbortSignal): Promise<APIGatewayBotInfo> {
  const outcome = await client.call({ verb: 'GET', path: '/gateway/bot' }, { deadlineMs: DEADLINE_MS, signal })
  if (outcome.kind === 'failed') throw new ChannelDown(`Discord: ${outcome.reason}`, { permanent: false })
  if (outcome.kind === 'refused') throw new ChannelDown(`Discord refused: ${reasonOf(outcome)}`, { permanent: false })
  const information = readInformation(outcome.result)
  if (information === undefined)
    throw new ChannelDown(
      'Discord: GET /gateway/bot does not say where the gateway is, which is not the Discord API: check apiRoot',
      {
        permanent: false,
      },
    )
  const { total, remaining, reset_after: resetAfterMs } = information.session_start_limit
  if (remaining > Math.min(RESERVE, Math.floor(total * RESERVE_SHARE))) return information
  const hours = Math.max(1, Math.ceil(resetAfterMs / 3_600_000))
  throw new SessionsSpent(
    `Discord lets this bot begin only ${remaining} of ${total} sessions more for ${hours} h, and these are kept in reserve: ` +
      'see what breaks the connection (parley status, the log) and that nothing else uses this token',
    resetAfterMs,
  )
}

function readInformation(result: unknown): APIGatewayBotInfo | undefined {
  const { url, session_start_limit: limit } = isFields(result) ? result : {}
  const { total, remaining, reset_after } = isFields(limit) ? limit : {}
  if (!isSocketUrl(url) || !isCount(total) || !isCount(remaining) || !isCount(reset_after)) return undefined
  return { url, shards: 1, session_start_limit: { total, remaining, reset_after, max_concurrency: 1 } }
}

/** True for what a connection can be opened to: at anything else, a fragment too, the client library throws. */
export function isSocketUrl(value: unknown): value is string {
  return typeof value === 'string' && /^wss?:[^#]+$/i.test(value) && parseUrl(value) !== undefined
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
