import type { AccountSettings } from '../../src/channels/adapter.ts'
import { ChannelDown } from '../../src/channels/adapter.ts'
import type { ChannelSetup, Examination, ExamineRequest, SetupPlace } from '../../src/channels/setup.ts'
import type { ChatType } from '../../src/core/address.ts'
import { parseUrl } from '../../src/core/parse-url.ts'
import {
  CALL_MS,
  type Examined,
  examined,
  kindOfSecret,
  lookAtRights,
  mistakeOfAny,
  type PlaceTrouble,
  reachRemedy,
} from '../shared/examining.ts'
import { type Fields, isFields } from '../shared/fields.ts'
import type { TelegramConfig } from './config.ts'
import { type CallOutcome, createClient, type TelegramClient } from './connection/client.ts'
import { askWho, type BotProfile } from './connection/greet.ts'
import { isSame, readInfo, type WebhookInfo } from './connection/watch-webhook.ts'

const PUBLIC_API = 'https://api.telegram.org'
/**
 * A poll of ours waits so long for another one to end it. Whoever polls beside us is ended by ours first, and polls
 * again: most libraries at once, a few after three seconds.
 */
const BESIDE_SECONDS = 5

export const telegramSetup: ChannelSetup<TelegramConfig> = {
  title: 'Telegram',
  secrets: [{ setting: 'token', variable: 'TELEGRAM_BOT_TOKEN', label: 'bot token', mistake: mistakeInToken }],
  steps: [
    'In Telegram, open a chat with @BotFather (https://t.me/BotFather) and send /newbot.',
    'Give the bot a name, then a username that ends in "bot".',
    '@BotFather answers with the token, such as 123456789:AAE…; copy it whole.',
  ],
  cautions: [
    'In groups a bot sees only commands, mentions and replies to it until its privacy mode is off: send /setprivacy to @BotFather, choose the bot, choose Disable.',
    'A change of the privacy mode counts in a group from when the bot is added: remove it there and add it again.',
    'One program alone may use a token: stop any other bot that was started with it.',
  ],
  examine,
}

function mistakeInToken(text: string): string | undefined {
  const token = text.trim()
  const common = mistakeOfAny(token)
  if (common !== undefined) return common
  if (/^\d+:[\w-]+$/.test(token)) return undefined
  if (/^bot\d+:/i.test(token)) return 'begins with "bot", which only addresses have: enter it from the number on'
  if (/^@/.test(token)) return 'is the username of the bot: enter the token that @BotFather gave with it'
  if (/^\d+:?$/.test(token)) return `is only the number before the colon: ${WHOLE}`
  const kind = kindOfSecret(token)
  if (kind !== undefined) return `is ${kind}, and not of a Telegram bot`
  if (/^:?[\w-]{30,}$/.test(token)) return `lacks the number and the colon before it: ${WHOLE}`
  return 'is no token of a bot, which is a number, a colon and letters'
}

const WHOLE = 'copy the whole token, 123456789:AAE…'

type Asked = Examined<TelegramClient, TelegramConfig>

function examine(settings: AccountSettings<TelegramConfig>, request: ExamineRequest): Promise<Examination> {
  const { token, webhookSecret, apiRoot } = settings.config
  const client = createClient({ token, otherSecret: webhookSecret, apiRoot, clock: settings.services.clock })
  return examined({ channel: 'telegram', settings, request, client }, lookAt)
}

async function lookAt(asked: Asked): Promise<Omit<Examination, 'findings'>> {
  const profile = await lookAtToken(asked)
  if (profile === undefined) return {}
  lookAtGroups(asked, profile)
  const { places } = asked.request
  const fine = (count: number) =>
    `the bot may write in ${count === 1 ? 'the known group' : `the ${count} known groups`}`
  const lookAtOne = (place: SetupPlace) => lookAtPlace(asked, profile, place)
  await Promise.all([lookAtReceiving(asked), lookAtRights(asked, { places, fine, lookAt: lookAtOne })])
  const { identity } = profile
  return { identity, invite: `https://t.me/${identity.username}?startgroup` }
}

async function lookAtToken({ client, config, findings, signal }: Asked): Promise<BotProfile | undefined> {
  try {
    const profile = await askWho(client, signal)
    findings.ok('token', `the token is that of @${profile.identity.username}`)
    return profile
  } catch (error) {
    if (!(error instanceof ChannelDown)) throw error
    const { apiRoot } = config
    if (!error.permanent) findings.failed('server', error.message, reachRemedy(PUBLIC_API, apiRoot))
    else {
      const or = apiRoot === undefined ? '' : `, or ${apiRoot} is not the address of a Bot API server: check apiRoot`
      const remedy = 'send /token to @BotFather, choose the bot, and enter what it answers: `parley init`'
      findings.failed('token', `Telegram refuses the token: it was revoked or mistyped${or}`, remedy)
    }
    return undefined
  }
}

function lookAtGroups({ findings }: Asked, { identity, joinsGroups }: BotProfile): void {
  const { username, readsGroups } = identity
  if (joinsGroups) findings.ok('joins-groups', `@${username} can be added to groups`)
  else {
    const remedy = `send /setjoingroups to @BotFather, choose @${username}, choose Enable`
    findings.warning('joins-groups', `@${username} cannot be added to groups`, remedy)
  }
  if (readsGroups === false) {
    findings.warning(
      'privacy-mode',
      'privacy mode is on: in groups the bot sees only commands, mentions and replies to it',
      `send /setprivacy to @BotFather, choose @${username}, choose Disable; then remove the bot from each group and add it again`,
    )
  } else findings.ok('privacy-mode', 'privacy mode is off: the bot sees all messages of groups it was added to since')
}

async function lookAtReceiving(asked: Asked): Promise<void> {
  const { client, config, findings, request, signal } = asked
  const outcome = await client.call('getWebhookInfo', {}, { deadlineMs: CALL_MS, signal })
  if (outcome.kind !== 'answered') {
    findings.skipped('webhook', `Telegram did not say whether there is a webhook: ${wordsOf(outcome)}`)
    return
  }
  const info = readInfo(outcome.result)
  if (config.mode === 'webhook') return lookAtWebhook(asked, info)
  if (info.url !== '') {
    const says = `a webhook is set, at ${hostOf(info.url)}, and this account polls: what it takes never comes here`
    const remedy = 'stop the program that set it, then start Parley again, which removes the webhook: `parley start`'
    findings.failed('webhook', says, remedy)
    return
  }
  findings.ok('webhook', `no webhook is set; ${waiting(info.pending)}`)
  if (request.beside)
    findings.skipped('second-poller', 'Parley is running and polls: its own state says if another does')
  else await lookForAnother(asked)
}

function lookAtWebhook({ config, findings, request }: Asked, { url, pending, lastError }: WebhookInfo): void {
  const { webhookUrl = '', listen } = config
  const here = `${listen.host}:${listen.port}${listen.path}`
  if (url === '' && !request.beside) findings.ok('webhook', 'no webhook is set yet: the start of Parley sets it')
  else if (url === '')
    findings.failed('webhook', 'no webhook is set, so nothing arrives', 'restart Parley, which sets it: `parley start`')
  else if (!isSame(url, webhookUrl)) {
    const says = `the webhook of this bot is another one, at ${hostOf(url)}: nothing arrives here`
    findings.failed('webhook', says, 'stop the program that set it, then start Parley again: `parley start`')
  } else if (lastError !== undefined) {
    const says = `${waiting(pending)}, and its last error at ${hostOf(url)} was: ${lastError}`
    const remedy = `see that ${hostOf(url)} leads to ${here}: \`curl -sS -i ${webhookUrl}\` should be answered 403`
    // The platform keeps the last error for ever; what waits says whether it lasts.
    if (pending > 0) findings.failed('webhook', says, remedy)
    else findings.warning('webhook', says, remedy)
  } else findings.ok('webhook', `the webhook is set at ${hostOf(url)}; ${waiting(pending)}`)
}

/** Polls once without an offset, which confirms nothing: another program that polls ends it by its own next poll. */
async function lookForAnother({ client, findings, signal }: Asked): Promise<void> {
  const deadlineMs = BESIDE_SECONDS * 1000 + CALL_MS
  const outcome = await client.call('getUpdates', { timeout: BESIDE_SECONDS, limit: 1 } as never, {
    deadlineMs,
    signal,
  })
  if (outcome.kind === 'answered') findings.ok('second-poller', 'no other program polls with this token')
  else if (outcome.kind === 'refused' && outcome.code === 409)
    findings.failed(
      'second-poller',
      'another program polls with this token, and each message reaches only one of the two',
      'stop it, or give each its own bot (/newbot at @BotFather); /revoke there ends whoever has the old token',
    )
  else findings.skipped('second-poller', `a poll was not answered: ${wordsOf(outcome)}`)
}

async function lookAtPlace(
  { client, signal }: Asked,
  { identity }: BotProfile,
  { address }: SetupPlace,
): Promise<PlaceTrouble | undefined> {
  const [chat, options] = [{ chat_id: address.chat }, { deadlineMs: CALL_MS, signal }]
  const asked = await client.call('getChatMember', { ...chat, user_id: Number(identity.id) }, options)
  if (asked.kind !== 'answered') return refusedTrouble(asked)
  const member = isFields(asked.result) ? asked.result : {}
  if (member.status !== 'member' || address.chatType === 'channel') return memberTrouble(member, address.chatType)
  if (identity.readsGroups === false) return UNSEEING
  // A member may do what the group lets everybody do.
  const outcome = await client.call('getChat', chat, options)
  const permissions = outcome.kind === 'answered' && isFields(outcome.result) ? outcome.result.permissions : undefined
  if (!isFields(permissions)) return undefined
  if (permissions.can_send_messages === false) return failed('only administrators may write there', ADMIN)
  return FILES.some((permission) => permissions[permission] === false)
    ? { state: 'warning', says: 'members may not send files there, so the bot sends none', remedy: ADMIN }
    : undefined
}

const ADMIN = 'open the group, Administrators, Add Administrator, and choose the bot'
/** Administrators see everything, whatever the privacy mode. */
const UNSEEING: PlaceTrouble = {
  state: 'warning',
  says: 'the bot sees only what addresses it there: privacy mode is on, and it is no administrator',
  remedy: ADMIN,
}
const ADD = 'open the group, Add Members, and choose the bot'
const FILES = ['can_send_photos', 'can_send_documents', 'can_send_voice_notes']

const failed = (says: string, remedy: string): PlaceTrouble => ({ state: 'failed', says, remedy })
const BARRED = failed('the bot was removed and barred', `unblock it under Removed Users, then ${ADD}`)
const OUTSIDE = failed('the bot is not in it any more', ADD)

/** Returns what keeps the bot from writing in a chat, out of the platform's ChatMember. */
function memberTrouble(member: Fields, chatType: ChatType): PlaceTrouble | undefined {
  const { status } = member
  const isPoster = status === 'creator' || (status === 'administrator' && member.can_post_messages === true)
  if (status === 'kicked') return BARRED
  if (status === 'left' || (status === 'restricted' && member.is_member === false)) return OUTSIDE
  if (status === 'restricted' && member.can_send_messages !== true)
    return failed('the bot may not write there', 'open the group, Permissions, Exceptions, the bot, Send Messages')
  if (chatType === 'channel' && !isPoster)
    return failed('the bot may not post there', 'open the channel, Administrators, the bot, Post Messages')
  return undefined
}

function refusedTrouble(outcome: Unanswered): PlaceTrouble {
  if (outcome.kind === 'failed') return { state: 'skipped', says: outcome.reason }
  const { code, description, migratedTo } = outcome
  if (migratedTo !== undefined) {
    const remedy = 'write the new id where the configuration has the old one; its sessions move by themselves'
    return { state: 'warning', says: `it became a supergroup with the id ${migratedTo}`, remedy }
  }
  if (code === 429) return { state: 'skipped', says: description }
  if (/kicked/i.test(description)) return BARRED
  if (/not a member/i.test(description)) return OUTSIDE
  const isGone = /chat not found|deleted/i.test(description)
  const says = isGone ? 'it is not there for the bot any more' : `${code}: ${description}`
  return failed(says, `if the group still exists, ${ADD}`)
}

type Unanswered = Exclude<CallOutcome, { kind: 'answered' }>

function wordsOf(outcome: Unanswered): string {
  return outcome.kind === 'failed' ? outcome.reason : `${outcome.code}: ${outcome.description}`
}

function hostOf(url: string): string {
  return parseUrl(url)?.host ?? 'an address that is none'
}

function waiting(pending: number): string {
  if (pending === 0) return 'nothing waits'
  return pending === 1 ? '1 update waits' : `${pending} updates wait`
}
