/** Every method of the Web API that this adapter calls, with the scopes that the platform asks for it. */
export const METHODS = {
  'auth.test': [],
  'bots.info': ['users:read'],
  'chat.delete': ['chat:write'],
  'chat.postEphemeral': ['chat:write'],
  'chat.postMessage': ['chat:write'],
  'chat.update': ['chat:write'],
  'conversations.history': ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
  'conversations.info': ['channels:read', 'groups:read', 'im:read', 'mpim:read'],
  'conversations.replies': ['channels:history', 'groups:history', 'im:history', 'mpim:history'],
  'files.completeUploadExternal': ['files:write'],
  'files.getUploadURLExternal': ['files:write'],
  'files.info': ['files:read'],
  'reactions.add': ['reactions:write'],
  'users.info': ['users:read'],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** The method that the app-level token is for, whose scope is no scope of the bot. */
const APP_METHOD = 'apps.connections.open'
export const APP_SCOPE = 'connections:write'

export type SlackMethod = keyof typeof METHODS | typeof APP_METHOD

/** Every event that this adapter reads, as an app subscribes to it, with its scope. */
export const EVENTS = {
  app_mention: ['app_mentions:read'],
  app_uninstalled: [],
  channel_id_changed: ['groups:history'],
  channel_rename: ['channels:read'],
  group_rename: ['groups:read'],
  'message.channels': ['channels:history'],
  'message.groups': ['groups:history'],
  'message.im': ['im:history'],
  'message.mpim': ['mpim:history'],
  tokens_revoked: [],
} as const satisfies Readonly<Record<string, readonly string[]>>

/** One slash command is enough: what it is to do follows it. */
const SLASH_COMMAND = '/parley'
const SLASH_SCOPE = 'commands'

type Scope =
  | (typeof METHODS)[keyof typeof METHODS][number]
  | (typeof EVENTS)[keyof typeof EVENTS][number]
  | typeof SLASH_SCOPE

/** The effect of each missing scope on the app. */
const WITHOUT: Readonly<Record<Scope, string>> = {
  'chat:write': 'the bot cannot answer at all',
  'channels:history': 'it hears nothing in public channels; subscribe to message.channels too',
  'groups:history': 'it hears nothing in private channels; subscribe to message.groups too',
  'im:history': 'it hears no direct messages; subscribe to message.im and open the Messages tab of App Home',
  'mpim:history': 'it hears nothing in group direct messages; subscribe to message.mpim too',
  'app_mentions:read': 'it hears no mentions where it cannot read along; subscribe to app_mention too',
  'reactions:write': 'the agent cannot put emoji on messages',
  'users:read': 'the agent reads ids instead of names',
  'files:read': 'the agent is not shown files',
  'files:write': 'no files are sent, their texts alone',
  'channels:read': 'public channels have no names, and whether others share one is not known',
  'groups:read': 'private channels have no names, and whether others share one is not known',
  'im:read': 'it cannot be asked whether a direct chat is shared with another workspace',
  'mpim:read': 'group direct messages have no names',
  commands: `there is no ${SLASH_COMMAND}; typed commands such as !status do the same`,
}

/** The scopes of the bot that the adapter uses, and no other, the most important first. */
export const SCOPES = Object.keys(WITHOUT) as readonly Scope[]
export const BOT_EVENTS: readonly string[] = Object.keys(EVENTS)

/** Without it the bot cannot answer. */
export const WRITING: Scope = 'chat:write'
/** Without all of these it receives no message. */
export const HEARING: readonly Scope[] = SCOPES.filter((scope) => /:history$|^app_mentions/.test(scope))

export interface MissingScope {
  readonly scope: string
  readonly without: string
}

/** Returns the scopes that were not granted, with what each costs. */
export function missingScopes(granted: readonly unknown[]): readonly MissingScope[] {
  return SCOPES.filter((scope) => !granted.includes(scope)).map((scope) => ({ scope, without: WITHOUT[scope] }))
}

/** Returns the file from which the platform makes an app that has exactly what the adapter uses. */
export function appManifest(): string {
  const command = { command: SLASH_COMMAND, description: 'Ask Parley', usage_hint: 'help', should_escape: false }
  const manifest = {
    display_information: { name: 'Parley', description: 'An agent in the conversations of this workspace' },
    features: {
      app_home: { home_tab_enabled: false, messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      bot_user: { display_name: 'Parley', always_online: true },
      slash_commands: [command],
    },
    oauth_config: { scopes: { bot: [...SCOPES].sort() } },
    settings: {
      event_subscriptions: { bot_events: BOT_EVENTS },
      interactivity: { is_enabled: true },
      org_deploy_enabled: false,
      socket_mode_enabled: true,
      token_rotation_enabled: false,
    },
  }
  return `${JSON.stringify(manifest, null, 2)}\n`
}
