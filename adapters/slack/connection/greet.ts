import type { BotIdentity } from '../../../src/channels/adapter.ts'
import { ChannelDown } from '../../../src/channels/adapter.ts'
import { type Fields, isFields } from '../../shared/fields.ts'
import type { OwnBot } from '../inbound/reading.ts'
import type { CallOutcome, SlackClient } from './client.ts'
import { HEARING, missingScopes, WRITING } from './scopes.ts'
import { botTrouble, toChannelDown } from './trouble.ts'

export interface BotProfile {
  readonly bot: OwnBot
  readonly identity: BotIdentity
  readonly hints: readonly string[]
}

const DEADLINE_MS = 15_000

/**
 * Asks who we are.
 * @throws ChannelDown, permanent when the token is refused, or the app may not write or receives nothing
 */
export async function greet(client: SlackClient, signal: AbortSignal): Promise<BotProfile> {
  const outcome = await askWho(client, signal)
  if (outcome.kind !== 'answered') throw toChannelDown(botTrouble(outcome))
  return readProfile(outcome.result)
}

/** The cheapest proof that the bot token is good. */
export function askWho(client: SlackClient, signal: AbortSignal): Promise<CallOutcome> {
  return client.call('auth.test', {}, { deadlineMs: DEADLINE_MS, signal })
}

function readProfile(answer: Fields): BotProfile {
  const bot = readBot(answer)
  const granted = grantedScopes(answer)
  const hints = granted ? hintsOf(granted) : []
  if (granted && !granted.includes(WRITING)) throw new ChannelDown(hints[0] ?? WRITING, { permanent: true })
  if (granted && !HEARING.some((scope) => granted.includes(scope))) {
    throw new ChannelDown(`the app hears nothing; ${hints.join('; ')}`, { permanent: true })
  }
  return { bot, identity: identityOf(bot), hints }
}

export function identityOf({ userId: id, username }: OwnBot): BotIdentity {
  return { id, username, displayName: username }
}

/** Reads who we are out of the answer to `auth.test`. @throws ChannelDown, permanent for the token of a person */
export function readBot(answer: Fields): OwnBot {
  const { user_id: userId, bot_id: botId, user: username, team_id: team, enterprise_id: enterprise } = answer
  if (typeof userId !== 'string' || typeof username !== 'string' || typeof team !== 'string') {
    throw new ChannelDown(
      'Slack: auth.test does not say who this bot is, which is not the Slack Web API: check apiRoot',
      { permanent: false },
    )
  }
  if (typeof botId !== 'string') {
    throw new ChannelDown('this token belongs to a person, not to a bot; use the Bot User OAuth Token', {
      permanent: true,
    })
  }
  const organisation = typeof enterprise === 'string' && enterprise !== '' ? { enterprise } : {}
  return { userId, botId, username, team, ...organisation }
}

/** The platform names them in a header; it does not say which events the app is subscribed to. */
export function grantedScopes({ response_metadata: metadata }: Fields): readonly unknown[] | undefined {
  const granted = isFields(metadata) ? metadata.scopes : undefined
  return Array.isArray(granted) ? granted : undefined
}

function hintsOf(granted: readonly unknown[]): readonly string[] {
  return missingScopes(granted).map(
    ({ scope, without }) => `the scope ${scope} is missing: ${without}; then install the app again`,
  )
}
