import { type AccountSettings, ChannelDown } from '../../src/channels/adapter.ts'
import type { ChannelSetup, Examination, ExamineRequest, SetupPlace } from '../../src/channels/setup.ts'
import {
  CALL_MS,
  type Examined,
  examined,
  kindOfSecret,
  type Look,
  lookAtRights,
  mistakeOfAny,
  type PlaceTrouble,
  reachRemedy,
} from '../shared/examining.ts'
import { type Fields, isFields } from '../shared/fields.ts'
import type { SlackConfig } from './config.ts'
import { type CallOutcome, createClient, type Refusal, type SlackClient } from './connection/client.ts'
import { askWho, grantedScopes, identityOf, readBot } from './connection/greet.ts'
import { APP_SCOPE, appManifest, HEARING, missingScopes, WRITING } from './connection/scopes.ts'
import { botTrouble } from './connection/trouble.ts'
import type { OwnBot } from './inbound/reading.ts'
import { isTokenRefusal } from './outbound/receipts.ts'

const PUBLIC_API = 'https://slack.com/api/'
const APPS = 'https://api.slack.com/apps'
const NEW_APP_TOKEN = `open ${APPS}, the app, Basic Information, App-Level Tokens, Generate Token and Scopes with ${APP_SCOPE}, and enter it: \`parley init\``
const MANIFEST_FILE = 'slack-manifest.json'

export const slackSetup: ChannelSetup<SlackConfig> = {
  title: 'Slack',
  secrets: [
    { setting: 'appToken', variable: 'SLACK_APP_TOKEN', label: 'app-level token', mistake: mistakeInAppToken },
    { setting: 'botToken', variable: 'SLACK_BOT_TOKEN', label: 'bot user OAuth token', mistake: mistakeInBotToken },
  ],
  steps: [
    `Open ${APPS}, click Create New App, From a manifest, and choose the workspace.`,
    `Choose JSON, replace what is there by the text of ${MANIFEST_FILE}, click Next, Create.`,
    `On the page Basic Information, below App-Level Tokens, click Generate Token and Scopes, Add Scope ${APP_SCOPE}, Generate, and copy the token that begins with xapp-.`,
    'On the page Install App click Install to Workspace, Allow, and copy the Bot User OAuth Token, which begins with xoxb-.',
    'Afterwards write /invite @Parley in each channel that the bot is to read.',
  ],
  cautions: [
    'The bot reads a channel only once it was invited there.',
    'After each change of scopes the app has to be installed again, or they are not granted: Install App, Reinstall to Workspace.',
    'Commands are written with !, as in !status: Slack keeps the slash for commands of the manifest, which has /parley.',
  ],
  manifest: {
    fileName: MANIFEST_FILE,
    text: appManifest(),
    use: 'step 2 takes it, or the page App Manifest of an app that exists',
  },
  examine,
}

function mistakeInAppToken(text: string): string | undefined {
  return mistakeIn(text, 'xapp-', 'the app-level token of the page Basic Information begins with xapp-')
}

function mistakeInBotToken(text: string): string | undefined {
  return mistakeIn(text, 'xoxb-', 'the Bot User OAuth Token of the page OAuth & Permissions begins with xoxb-')
}

function mistakeIn(text: string, prefix: string, rule: string): string | undefined {
  const token = text.trim()
  const common = mistakeOfAny(token)
  if (common !== undefined) return common
  if (token.startsWith(prefix)) return token.length > prefix.length ? undefined : 'is cut off: copy it whole'
  if (/^xoxe[.-]/.test(token)) return `is a token that expires: switch off Token Rotation; ${rule}`
  if (/^xoxp-/.test(token)) return `is the token of a person: ${rule}`
  if (/^[0-9a-f]{32}$/.test(token)) return `is a signing or client secret: ${rule}`
  const kind = kindOfSecret(token)
  return kind === undefined ? `is not it: ${rule}` : `is ${kind}: ${rule}`
}

type Asked = Examined<SlackClient, SlackConfig>

function examine(settings: AccountSettings<SlackConfig>, request: ExamineRequest): Promise<Examination> {
  const { botToken: token, apiRoot } = settings.config
  const client = createClient({ token, apiRoot, clock: settings.services.clock })
  return examined({ channel: 'slack', settings, request, client }, lookAt)
}

async function lookAt(asked: Asked): Promise<Omit<Examination, 'findings'>> {
  const [bot] = await Promise.all([lookAtBot(asked), lookAtReceiving(asked)])
  if (bot === undefined) return {}
  const { places } = asked.request
  const fine = (count: number) => `the bot is in ${count === 1 ? 'the known channel' : `the ${count} known channels`}`
  const lookAtOne = (place: SetupPlace) => lookAtPlace(asked, place)
  await Promise.all([lookAtApp(asked, bot), lookAtRights(asked, { places, fine, lookAt: lookAtOne })])
  return { identity: identityOf(bot), invite: `/invite @${bot.username}` }
}

async function lookAtBot({ client, config, findings, signal }: Asked): Promise<OwnBot | undefined> {
  const outcome = await askWho(client, signal)
  if (outcome.kind !== 'answered') {
    const { detail, permanent } = botTrouble(outcome)
    const remedy = `open ${APPS}, the app, Install App, copy the Bot User OAuth Token (xoxb-), and enter it: \`parley init\``
    if (permanent) findings.failed('token', `Slack refuses the bot token: ${refusalIn(outcome)}`, remedy)
    else findings.failed('server', detail, reachRemedy(PUBLIC_API, config.apiRoot))
    return undefined
  }
  try {
    const bot = readBot(outcome.result)
    const team = typeof outcome.result.team === 'string' ? outcome.result.team : bot.team
    findings.ok('token', `the bot token is that of @${bot.username} in ${team}`)
    lookAtScopes({ findings }, outcome.result)
    return bot
  } catch (error) {
    if (!(error instanceof ChannelDown)) throw error
    if (error.permanent)
      findings.failed('token', error.message, 'enter the token that begins with xoxb-: `parley init`')
    else findings.failed('server', error.message, reachRemedy(PUBLIC_API, config.apiRoot))
    return undefined
  }
}

function lookAtScopes({ findings }: Pick<Asked, 'findings'>, answer: Fields): void {
  const granted = grantedScopes(answer)
  if (granted === undefined) {
    findings.skipped('scopes', 'Slack does not say which scopes the bot token has')
    return
  }
  const missing = missingScopes(granted)
  const isDeaf = !HEARING.some((scope) => granted.includes(scope))
  for (const { scope, without } of missing) {
    const says = `the scope ${scope} is missing: ${without}`
    const remedy = `${APPS}, the app, OAuth & Permissions: add ${scope}; then reinstall the app (Install App)`
    const isFatal = scope === WRITING || (isDeaf && HEARING.some((one) => one === scope))
    if (isFatal) findings.failed('scopes', says, remedy)
    else findings.warning('scopes', says, remedy)
  }
  if (missing.length === 0) findings.ok('scopes', 'the bot token has all scopes that Parley uses')
}

async function lookAtReceiving(asked: Asked): Promise<void> {
  const { config, findings } = asked
  if (config.mode === 'socket') return lookAtAppToken(asked)
  const { host, port, path } = config.listen
  if (/^[0-9a-f]{32}$/.test(config.signingSecret ?? ''))
    findings.ok('signing-secret', `events are taken at ${host}:${port}${path}, and proven by the signing secret`)
  else {
    const remedy = `open ${APPS}, the app, Basic Information, App Credentials, Signing Secret: Show, and enter it`
    findings.warning('signing-secret', 'the signing secret is not 32 letters and digits as those of Slack are', remedy)
  }
}

async function lookAtAppToken({ clock, config, findings, signal }: Asked): Promise<void> {
  const client = createClient({ token: config.appToken ?? '', apiRoot: config.apiRoot, clock })
  try {
    const outcome = await client.call('apps.connections.open', {}, { deadlineMs: CALL_MS, signal })
    if (outcome.kind === 'answered') findings.ok('app-token', 'the app-level token may open connections')
    else if (outcome.kind === 'failed') findings.skipped('app-token', outcome.reason)
    else reportAppToken(findings, outcome)
  } finally {
    client.close()
  }
}

function reportAppToken(findings: Look['findings'], refusal: Refusal): void {
  const { error } = refusal
  if (error === 'not_allowed_token_type')
    findings.failed('app-token', 'the app-level token is one of another kind', NEW_APP_TOKEN)
  else if (error === 'missing_scope')
    findings.failed('app-token', `the app-level token lacks the scope ${APP_SCOPE}: nothing arrives`, NEW_APP_TOKEN)
  else if (isTokenRefusal(refusal))
    findings.failed('app-token', `Slack refuses the app-level token: ${error}`, NEW_APP_TOKEN)
  else findings.skipped('app-token', `Slack did not say whether it may open connections: ${refusal.stranger ?? error}`)
}

/** The id of its app stands in an app-level token: `xapp-1-A0123-…`. */
const APP_IN_TOKEN = /^xapp-\d+-(A[A-Z0-9]+)-/

/** Compares the app of both tokens, where the platform and the form of the token say it. */
async function lookAtApp({ client, config, findings, signal }: Asked, bot: OwnBot): Promise<void> {
  const ofAppToken = config.mode === 'socket' ? APP_IN_TOKEN.exec(config.appToken ?? '')?.[1] : undefined
  if (ofAppToken === undefined) return
  const outcome = await client.call('bots.info', { bot: bot.botId }, { deadlineMs: CALL_MS, signal })
  const described = outcome.kind === 'answered' ? outcome.result.bot : undefined
  const ofBotToken = isFields(described) ? described.app_id : undefined
  if (typeof ofBotToken !== 'string') return
  if (ofBotToken === ofAppToken) findings.ok('same-app', `both tokens are of the app ${ofBotToken}`)
  else {
    const says = `the tokens are of two apps: the bot token of ${ofBotToken}, the app-level token of ${ofAppToken}; what is written to the bot does not arrive`
    findings.failed('same-app', says, `take both from one: ${APPS}/${ofBotToken}/general, App-Level Tokens`)
  }
}

async function lookAtPlace({ client, signal }: Asked, { address }: SetupPlace): Promise<PlaceTrouble | undefined> {
  const args = { channel: address.chat }
  const outcome = await client.call('conversations.info', args, { deadlineMs: CALL_MS, signal })
  if (outcome.kind === 'failed') return { state: 'skipped', says: outcome.reason }
  if (outcome.kind === 'refused') return refusedTrouble(outcome)
  const { is_archived: isArchived, is_member: isMember } = isFields(outcome.result.channel)
    ? outcome.result.channel
    : {}
  if (isArchived === true)
    return { state: 'failed', says: 'it is archived, and nobody can write there', remedy: 'in Slack, unarchive it' }
  if (isMember === false)
    return { state: 'failed', says: 'the bot is not in it, and neither reads nor answers there', remedy: INVITE }
  return undefined
}

const INVITE = 'in Slack, write /invite @Parley there'

function refusedTrouble({ error }: Refusal): PlaceTrouble {
  if (error === 'channel_not_found')
    return { state: 'failed', says: 'it was deleted, or is private and the bot is not in it', remedy: INVITE }
  return { state: 'skipped', says: error === 'missing_scope' ? 'the scope to ask about it is missing' : error }
}

function refusalIn(outcome: CallOutcome): string {
  return outcome.kind === 'refused' ? `it was revoked or mistyped (${outcome.error})` : ''
}
