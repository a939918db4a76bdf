import type { ApiMessage, ApiUser } from './api-types.ts'
import type { ApiCommand, ChannelState } from './world-state.ts'

interface EnvelopeDeps {
  readonly id: string
  readonly token: string
  readonly bot: ApiUser
  readonly user: ApiUser
  readonly state: ChannelState
}

interface InteractionDeps extends EnvelopeDeps {
  readonly command: ApiCommand
  readonly input?: string
}

interface PressDeps extends EnvelopeDeps {
  readonly message: ApiMessage
  readonly data: string
}

/** Returns the INTERACTION_CREATE of a slash command, in the platform's form. */
export function buildInteraction({ command, input, ...deps }: InteractionDeps): Readonly<Record<string, unknown>> {
  const option = command.options[0]
  const options = input === undefined || option === undefined ? [] : [{ name: option.name, type: 3, value: input }]
  const data = { id: command.id, name: command.name, type: 1, ...(options.length > 0 && { options }) }
  return { ...envelope(deps), type: 2, data }
}

/** Returns the INTERACTION_CREATE of a pressed button, in the platform's form. */
export function buildPress({ message, data, ...deps }: PressDeps): Readonly<Record<string, unknown>> {
  return { ...envelope(deps), type: 3, data: { custom_id: data, component_type: 2 }, message }
}

function envelope({ id, token, bot, user, state }: EnvelopeDeps): Readonly<Record<string, unknown>> {
  const { channel } = state
  const guild = channel.guild_id
  return {
    id,
    application_id: bot.id,
    token,
    version: 1,
    channel_id: channel.id,
    channel: { ...channel },
    context: guild === undefined ? 1 : 0,
    locale: 'en-US',
    app_permissions: '0',
    entitlements: [],
    attachment_size_limit: 10_485_760,
    authorizing_integration_owners: { 0: guild ?? '0' },
    ...(guild === undefined ? { user } : { guild_id: guild, guild_locale: 'en-US', member: memberOf(user) }),
  }
}

function memberOf(user: ApiUser): object {
  return {
    user,
    roles: [],
    joined_at: '2026-01-01T00:00:00.000Z',
    deaf: false,
    mute: false,
    flags: 0,
    permissions: '0',
  }
}
