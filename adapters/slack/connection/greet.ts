import type { BotIdentity } from '../../../src/channels/adapter.ts'
import { ChannelDown } from '../../../src/channels/adapter.ts'
import { type Fields, isFields } from '../../shared/fields.ts'
import type { OwnBot } from '../inbound/reading.ts'
import type { CallOutcome, SlackClient } from './client.ts'
import { botTrouble, toChannelDown } from './trouble.ts'

export interface BotProfile {
  readonly bot: OwnBot
  readonly identity: BotIdentity
  readonly hints: readonly string[]
}

const DEADLINE_MS = 15_000

/** The effect of each missing scope on the app. */
const SCOPES: readonly (readonly [scope: string, without: string])[] = [
  ['chat:write', 'the bot cannot answer at all'],
  ['channels:history', 'it hears nothing in public channels; subscribe to message.channels too'],
  ['groups:history', 'it hears nothing in private channels; subscribe to message.groups too'],
  ['im:history', 'it hears no direct messages; subscribe to message.im and open the Messages tab of App Home'],
  ['mpim:history', 'it hears nothing in group direct messages; subscribe to message.mpim too'],
  ['app_mentions:read', 'it hears no mentions where it cannot read along; subscribe to app_mention too'],
  ['reactions:write', 'the agent cannot put emoji on messages'],
  ['users:read', 'the agent reads ids instead of names'],
  ['files:read', 'the agent is not shown files'],
  ['files:write', 'no files are sent, their texts alone'],
]
const WRITING = 'chat:write'
const HEARING: readonly string[] = SCOPES.map(([scope]) => scope).filter((scope) =>
  /:history$|^app_mentions/.test(scope),
)

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
  const granted = grantedScopes(answer)
  const hints = granted ? hintsOf(granted) : []
  if (granted && !granted.includes(WRITING)) throw new ChannelDown(hints[0] ?? WRITING, { permanent: true })
  if (granted && !HEARING.some((scope) => granted.includes(scope))) {
    throw new ChannelDown(`the app hears nothing; ${hints.join('; ')}`, { permanent: true })
  }
  const organisation = typeof enterprise === 'string' && enterprise !== '' ? { enterprise } : {}
  const bot = { userId, botId, username, team, ...organisation }
  return { bot, identity: { id: userId, username, displayName: username }, hints }
}

/** The platform names them in a header; it does not say which events the app is subscribed to. */
function grantedScopes({ response_metadata: metadata }: Fields): readonly unknown[] | undefined {
  const granted = isFields(metadata) ? metadata.scopes : undefined
  return Array.isArray(granted) ? granted : undefined
}

function hintsOf(granted: readonly unknown[]): readonly string[] {
  return SCOPES.filter(([scope]) => !granted.includes(scope)).map(
    ([scope, without]) => `the scope ${scope} is missing: ${without}; then install the app again`,
  )
}
