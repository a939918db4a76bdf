import { type AccountSettings, type BotIdentity, ChannelDown } from '../../src/channels/adapter.ts'
import type { ChannelSetup, Examination, ExamineRequest } from '../../src/channels/setup.ts'
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
import { isSnowflake } from './address.ts'
import type { DiscordConfig } from './config.ts'
import { type CallOutcome, createClient, type DiscordClient, reasonOf } from './connection/client.ts'
import { greet } from './connection/greet.ts'
import {
  inviteTo,
  type MemberFacts,
  NEEDED_SWITCHES,
  type Overwrite,
  PERMISSIONS,
  type Permission,
  type PermissionName,
  permissionsIn,
  switchesOff,
} from './connection/permissions.ts'
import { askForSession, SessionsSpent } from './connection/session-limit.ts'

const PUBLIC_API = 'https://discord.com/api'
const PORTAL = 'https://discord.com/developers/applications'

export const discordSetup: ChannelSetup<DiscordConfig> = {
  title: 'Discord',
  secrets: [{ setting: 'token', variable: 'DISCORD_BOT_TOKEN', label: 'bot token', mistake: mistakeInToken }],
  steps: [
    `Open ${PORTAL}, click New Application, give it a name, click Create.`,
    `On the page Bot, below Privileged Gateway Intents, switch on ${NEEDED_SWITCHES.join(' and ')}, click Save Changes.`,
    'On the same page click Reset Token, and copy the token: it is shown once.',
    'Afterwards open the invite address in a browser, choose your server, click Authorize.',
  ],
  inviteFirst: 'first open this address, choose your server, click Authorize: only its members can write to the bot.',
  cautions: [
    `Without ${NEEDED_SWITCHES.join(' and ')} Discord refuses the connection of the bot.`,
    `It is invited with these permissions: ${PERMISSIONS.map(({ name }) => name).join(', ')}. A private channel has to let it in by itself: Edit Channel, Permissions, add the bot's role.`,
    'To write to it in private you must share a server with it, so invite it first.',
  ],
  examine,
}

function mistakeInToken(text: string): string | undefined {
  const token = text.trim()
  if (/^Bot\s/i.test(token)) return 'begins with "Bot", which only requests have: enter what follows it'
  const common = mistakeOfAny(token)
  if (common !== undefined) return common
  if (/^\d{15,22}$/.test(token))
    return 'is an id, such as the Application ID: the token is on the page Bot, Reset Token'
  if (/^[0-9a-f]{64}$/i.test(token)) return 'is the Public Key: the token is on the page Bot, Reset Token'
  if (/^[\w-]{32}$/.test(token))
    return 'is the Client Secret of the page OAuth2: the token is on the page Bot, Reset Token'
  if (/^mfa\./.test(token)) return 'is the token of a person: the token of a bot is on the page Bot, Reset Token'
  if (/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined
  const kind = kindOfSecret(token)
  if (kind !== undefined) return `is ${kind}, and not of a Discord bot`
  return 'is no token of a bot, which has three parts with a dot between them: page Bot, Reset Token'
}

type Asked = Examined<DiscordClient, DiscordConfig>

function examine(settings: AccountSettings<DiscordConfig>, request: ExamineRequest): Promise<Examination> {
  const { token, apiRoot } = settings.config
  const client = createClient({ token, apiRoot, clock: settings.services.clock })
  return examined({ channel: 'discord', settings, request, client }, lookAt)
}

async function lookAt(asked: Asked): Promise<Omit<Examination, 'findings'>> {
  const identity = await lookAtToken(asked)
  if (identity === undefined) return {}
  const [application] = await Promise.all([lookAtApplication(asked), lookAtSessions(asked)])
  await lookAtChannels(asked, identity.id)
  return { identity, invite: inviteTo(application ?? identity.id) }
}

async function lookAtToken({ client, config, findings, signal }: Asked): Promise<BotIdentity | undefined> {
  try {
    const identity = await greet(client, signal)
    findings.ok('token', `the token is that of ${identity.displayName}`)
    return identity
  } catch (error) {
    if (!(error instanceof ChannelDown)) throw error
    const remedy = `open ${PORTAL}, the application, Bot, Reset Token, and enter the new one: \`parley init\``
    if (error.permanent) findings.failed('token', 'Discord refuses the token: it was reset or mistyped', remedy)
    else findings.failed('server', error.message, reachRemedy(PUBLIC_API, config.apiRoot))
    return undefined
  }
}

/** Returns the application's id. */
async function lookAtApplication({ client, findings, signal }: Asked): Promise<string | undefined> {
  const outcome = await client.call({ verb: 'GET', path: '/applications/@me' }, { deadlineMs: CALL_MS, signal })
  const application = outcome.kind === 'answered' && isFields(outcome.result) ? outcome.result : undefined
  if (application === undefined) {
    const why = outcome.kind === 'answered' ? 'its answer says nothing' : wordsOf(outcome)
    findings.skipped('intents', `Discord did not describe the application: ${why}`)
    return undefined
  }
  const { id, flags, bot_public: isPublic, bot_require_code_grant: needsCode } = application
  const page = isSnowflake(id) ? `${PORTAL}/${id}/bot` : PORTAL
  const off = typeof flags === 'number' ? switchesOff(flags) : []
  if (typeof flags !== 'number') findings.skipped('intents', 'Discord does not say which intents are switched on')
  for (const name of off) {
    const says = `${name} is off, and Discord refuses the connection without it`
    findings.failed('intents', says, `open ${page}, switch on ${name}, click Save Changes`)
  }
  if (off.length === 0 && typeof flags === 'number') findings.ok('intents', `${NEEDED_SWITCHES.join(' and ')} is on`)
  if (needsCode === true) {
    const says = 'the bot cannot be invited: its application demands a code grant'
    findings.failed('invite', says, `open ${page}, switch off Requires OAuth2 Code Grant, click Save Changes`)
  } else if (isPublic === false) findings.ok('invite', 'only the owner of the application can invite the bot')
  else findings.ok('invite', 'whoever may manage a server can invite the bot to it')
  return isSnowflake(id) ? id : undefined
}

async function lookAtSessions({ client, findings, signal }: Asked): Promise<void> {
  try {
    const { session_start_limit: limit } = await askForSession(client, signal)
    findings.ok('sessions', `${limit.remaining} of ${limit.total} connections are left for today`)
  } catch (error) {
    if (!(error instanceof ChannelDown)) throw error
    const remedy =
      'stop whatever else uses this token (Reset Token ends it), and see `parley status` for what breaks it'
    if (error instanceof SessionsSpent) findings.failed('sessions', error.message, remedy)
    else findings.skipped('sessions', error.message)
  }
}

function lookAtChannels(asked: Asked, botId: string): Promise<void> {
  const places = asked.request.places.filter(({ address }) => address.space !== undefined)
  const guilds = new Map<string, Promise<MemberFacts | PlaceTrouble>>()
  const memberOf = (guildId: string): Promise<MemberFacts | PlaceTrouble> => {
    const asking = guilds.get(guildId) ?? askMember(asked, { guildId, botId })
    guilds.set(guildId, asking)
    return asking
  }
  return lookAtRights(asked, {
    places,
    fine: (count) =>
      `the bot may do what it has to in ${count === 1 ? 'the known channel' : `the ${count} known channels`}`,
    async lookAt({ address }) {
      const member = await memberOf(address.space?.id ?? '')
      return 'state' in member ? member : lookAtChannel(asked, address.chat, member)
    },
  })
}

/** Returns the bot as a member of a guild with the roles there, or why that cannot be known. */
async function askMember(
  { client, signal }: Asked,
  { guildId, botId }: { readonly guildId: string; readonly botId: string },
): Promise<MemberFacts | PlaceTrouble> {
  const options = { deadlineMs: CALL_MS, signal }
  const [guild, member] = await Promise.all([
    client.call({ verb: 'GET', path: `/guilds/${guildId}` }, options),
    client.call({ verb: 'GET', path: `/guilds/${guildId}/members/${botId}` }, options),
  ])
  if (guild.kind !== 'answered') return outside(guild)
  if (member.kind !== 'answered') return outside(member)
  const { owner_id: ownerId, roles } = fieldsIn(guild.result)
  const own = fieldsIn(member.result).roles
  const permissions = listIn(roles).map((role) => [String(role.id), bitsIn(role.permissions)] as const)
  return {
    userId: botId,
    guildId,
    ownerId: String(ownerId),
    roles: Array.isArray(own) ? own.filter(isSnowflake) : [],
    rolePermissions: new Map(permissions),
  }
}

function outside(outcome: Unanswered): PlaceTrouble {
  const isOut = outcome.kind === 'refused' && (outcome.status === 404 || outcome.status === 403)
  if (!isOut) return { state: 'skipped', says: wordsOf(outcome) }
  return { state: 'failed', says: 'the bot is not in this server any more', remedy: 'open the invite address again' }
}

async function lookAtChannel(
  { client, signal }: Asked,
  chat: string,
  member: MemberFacts,
): Promise<PlaceTrouble | undefined> {
  const outcome = await client.call({ verb: 'GET', path: `/channels/${chat}` }, { deadlineMs: CALL_MS, signal })
  if (outcome.kind === 'answered') {
    const may = permissionsIn(member, overwritesIn(outcome.result))
    return missingTrouble(PERMISSIONS.filter(({ bit }) => (may & bit) === 0n))
  }
  if (outcome.kind === 'refused' && outcome.status === 403)
    return missingTrouble(PERMISSIONS.filter(({ name }) => name === 'View Channels'))
  if (outcome.kind === 'refused' && outcome.status === 404)
    return { state: 'failed', says: 'the channel was deleted', remedy: 'take it out of the configuration' }
  return { state: 'skipped', says: wordsOf(outcome) }
}

/** The permissions without which nothing is said there at all. */
const VITAL: ReadonlySet<PermissionName> = new Set(['View Channels', 'Send Messages'])

function missingTrouble(missing: readonly Permission[]): PlaceTrouble | undefined {
  if (missing.length === 0) return undefined
  const names = missing.map(({ name }) => name).join(', ')
  const effects = missing.map(({ without }) => without).join('; ')
  return {
    state: missing.some(({ name }) => VITAL.has(name)) ? 'failed' : 'warning',
    says: `${names} ${missing.length === 1 ? 'is' : 'are'} missing: ${effects}`,
    remedy: `open the channel's settings, Edit Channel, Permissions, the bot's role, and allow ${names}`,
  }
}

function overwritesIn(channel: unknown): readonly Overwrite[] {
  return listIn(fieldsIn(channel).permission_overwrites).flatMap(({ id, allow, deny }) =>
    isSnowflake(id) ? [{ id, allow: bitsIn(allow), deny: bitsIn(deny) }] : [],
  )
}

function bitsIn(text: unknown): bigint {
  return typeof text === 'string' && /^\d{1,20}$/.test(text) ? BigInt(text) : 0n
}

function fieldsIn(value: unknown): Fields {
  return isFields(value) ? value : {}
}

function listIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.filter(isFields) : []
}

type Unanswered = Exclude<CallOutcome, { kind: 'answered' }>

function wordsOf(outcome: Unanswered): string {
  return outcome.kind === 'failed' ? outcome.reason : reasonOf(outcome)
}
