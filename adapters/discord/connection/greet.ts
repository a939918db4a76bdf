import type { BotIdentity } from '../../../src/channels/adapter.ts'
import { ChannelDown } from '../../../src/channels/adapter.ts'
import { isFields } from '../../shared/fields.ts'
import { isSnowflake } from '../address.ts'
import { type DiscordClient, reasonOf } from './client.ts'
import { TOKEN_REFUSED } from './close-codes.ts'

const DEADLINE_MS = 15_000

/**
 * Asks who we are.
 * @throws ChannelDown, permanent when the token is refused
 */
export async function greet(client: DiscordClient, signal: AbortSignal): Promise<BotIdentity> {
  const outcome = await client.call({ verb: 'GET', path: '/users/@me' }, { deadlineMs: DEADLINE_MS, signal })
  if (outcome.kind === 'failed') {
    throw new ChannelDown(`Discord: ${outcome.reason}`, { permanent: false })
  }
  if (outcome.kind === 'refused') {
    if (outcome.status === 401) throw new ChannelDown(TOKEN_REFUSED, { permanent: true })
    // Every Discord API knows this call: at that address there is another, such as one with the version in its path.
    const remedy = outcome.status === 404 ? ', which the Discord API never answers to it: check apiRoot' : ''
    throw new ChannelDown(`Discord refused GET /users/@me: ${reasonOf(outcome)}${remedy}`, { permanent: false })
  }
  const { id, username, global_name: name } = isFields(outcome.result) ? outcome.result : {}
  if (!isSnowflake(id) || typeof username !== 'string') {
    throw new ChannelDown(
      'Discord: GET /users/@me does not say who this bot is, which is not the Discord API: check apiRoot',
      { permanent: false },
    )
  }
  return { id, username, displayName: typeof name === 'string' ? name : username }
}
