import type { ApiUser } from './api-types.ts'

/** The one app of a rehearsal: its tokens, its bot user and the rights of its installation. */
export interface AppOptions {
  botToken?: string
  appToken?: string
  signingSecret?: string
  /** Default `parley`. */
  botName?: string
  /** The ids of its bot user and of its bot; those of two apps in one workspace differ. */
  ids?: { readonly user: string; readonly bot: string }
  /** The workspace that has installed it. Default `T01`. */
  team?: string
  /** The organisation of several workspaces (Enterprise Grid) that this workspace belongs to. Default: none. */
  enterprise?: string
  /** Scopes of the bot token. Default: `fullScopes`. */
  scopes?: readonly string[]
  /** Scopes of the app-level token. Default: `connections:write`. */
  appScopes?: readonly string[]
  /** Events the app is subscribed to. Default: `fullSubscriptions`. */
  subscriptions?: readonly string[]
  /** Slash commands its manifest declares. Default: `/parley`. */
  slashCommands?: readonly string[]
}

export const fullScopes: readonly string[] = [
  'app_mentions:read',
  'channels:history',
  'channels:read',
  'chat:write',
  'commands',
  'files:read',
  'files:write',
  'groups:history',
  'groups:read',
  'im:history',
  'im:read',
  'im:write',
  'mpim:history',
  'mpim:read',
  'reactions:write',
  'users:read',
]

export const fullSubscriptions: readonly string[] = [
  'app_mention',
  'channel_id_changed',
  'channel_rename',
  'group_rename',
  'message.channels',
  'message.groups',
  'message.im',
  'message.mpim',
]

/**
 * The state of the app, which may change while the server runs: tokens are revoked, scopes granted, Socket Mode
 * switched off.
 */
export interface AppState {
  readonly appId: string
  readonly teamId: string
  readonly teamName: string
  readonly enterpriseId: string | null
  readonly botId: string
  readonly bot: ApiUser
  readonly botToken: string
  readonly appToken: string
  readonly signingSecret: string
  scopes: readonly string[]
  appScopes: readonly string[]
  subscriptions: readonly string[]
  slashCommands: readonly string[]
  /** The reason why the bot token is refused, such as `token_revoked`; null if it is valid. */
  botTokenRefusal: string | null
  appTokenRefusal: string | null
  socketMode: boolean
}

export function createApp(options: AppOptions): AppState {
  const { botName: name = 'parley', team = 'T01', ids = { user: 'U0BOT', bot: 'B01' } } = options
  const bot: ApiUser = {
    id: ids.user,
    team_id: team,
    name,
    real_name: 'Parley',
    is_bot: true,
    profile: { real_name: 'Parley', display_name: name },
  }
  return {
    appId: 'A01',
    teamId: team,
    teamName: 'Rehearsal',
    enterpriseId: options.enterprise ?? null,
    botId: ids.bot,
    bot,
    botToken: options.botToken ?? 'xoxb-rehearsal',
    appToken: options.appToken ?? 'xapp-rehearsal',
    signingSecret: options.signingSecret ?? 'rehearsal-signing-secret',
    scopes: options.scopes ?? fullScopes,
    appScopes: options.appScopes ?? ['connections:write'],
    subscriptions: options.subscriptions ?? fullSubscriptions,
    slashCommands: options.slashCommands ?? ['/parley'],
    botTokenRefusal: null,
    appTokenRefusal: null,
    socketMode: true,
  }
}
