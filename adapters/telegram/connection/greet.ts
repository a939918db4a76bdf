import type { BotIdentity } from '../../../src/channels/adapter.ts'
import { ChannelDown } from '../../../src/channels/adapter.ts'
import { type Fields, isFields } from '../../shared/fields.ts'
import { toIdText } from '../address.ts'
import type { TelegramConfig } from '../config.ts'
import type { BotFacts } from '../inbound/mentions.ts'
import { isTokenRefusal } from '../outbound/receipts.ts'
import type { CallOutcome, TelegramClient } from './client.ts'
import { TOKEN_REFUSED } from './poll-policy.ts'

export interface BotProfile {
  readonly bot: BotFacts
  readonly identity: BotIdentity
  /** False where @BotFather keeps it from being added to groups. */
  readonly joinsGroups: boolean
  readonly hints: readonly string[]
}

const DEADLINE_MS = 15_000

const PRIVACY_HINT =
  'privacy mode is on: in groups the bot only sees commands, mentions and replies; ' +
  'turn it off with @BotFather /setprivacy and re-add the bot'

/**
 * Asks who we are and, where updates are polled for, makes that possible: a webhook is removed only where one is set,
 * and what waits behind it is never dropped.
 * @throws ChannelDown, permanent when the token is refused
 */
export async function greet(
  client: TelegramClient,
  mode: TelegramConfig['mode'],
  signal: AbortSignal,
): Promise<BotProfile> {
  const options = { deadlineMs: DEADLINE_MS, signal }
  if (mode === 'webhook') return askWho(client, signal)
  const [profile, webhook] = await Promise.all([askWho(client, signal), client.call('getWebhookInfo', {}, options)])
  const url = answerOf(webhook).url
  if (typeof url === 'string' && url !== '') {
    const removed = await client.call('deleteWebhook', {}, options)
    if (removed.kind !== 'answered') throw down(removed)
  }
  return profile
}

/**
 * Asks who we are, and changes nothing.
 * @throws ChannelDown, permanent when the token is refused
 */
export async function askWho(client: TelegramClient, signal: AbortSignal): Promise<BotProfile> {
  return readProfile(answerOf(await client.call('getMe', {}, { deadlineMs: DEADLINE_MS, signal })))
}

function readProfile(me: Fields): BotProfile {
  const id = toIdText(me.id)
  const { username, first_name: displayName } = me
  if (id === undefined || typeof username !== 'string' || typeof displayName !== 'string') {
    throw new ChannelDown(
      'Telegram: getMe does not say who this bot is, which is not the Telegram Bot API: check apiRoot',
      { permanent: false },
    )
  }
  const readsGroups = me.can_read_all_group_messages !== false
  return {
    bot: { id, username },
    identity: { id, username, displayName, ...(readsGroups ? {} : { readsGroups }) },
    joinsGroups: me.can_join_groups !== false,
    hints: readsGroups ? [] : [PRIVACY_HINT],
  }
}

function answerOf(outcome: CallOutcome): Fields {
  if (outcome.kind !== 'answered') throw down(outcome)
  return isFields(outcome.result) ? outcome.result : {}
}

/** Returns why an account cannot come up, when a call at its start was not answered. */
export function down(outcome: Exclude<CallOutcome, { kind: 'answered' }>): ChannelDown {
  if (outcome.kind === 'failed') return new ChannelDown(`Telegram: ${outcome.reason}`, { permanent: false })
  // The answer to a token without the form of one is that to an address without the API.
  const or = outcome.code === 404 ? '; if you have set a server of your own, check apiRoot' : ''
  return isTokenRefusal(outcome)
    ? new ChannelDown(`${TOKEN_REFUSED}${or}`, { permanent: true })
    : new ChannelDown(`Telegram refused: ${outcome.code}: ${outcome.description}`, { permanent: false })
}
