import type { ApiUser } from './api-types.ts'
import type { ApiCommand, ChannelState } from './world-state.ts'

interface InteractionDeps {
  readonly id: string
  readonly token: string
  readonly bot: ApiUser
  readonly user: ApiUser
  readonly state: ChannelState
  readonly command: ApiCommand
  readonly input?: string
}

/** Returns the INTERACTION_CREATE of a slash command, in the platform's form. */
export function buildInteraction(deps: InteractionDeps): Readonly<Record<string, unknown>> {
  const { id, token, bot, user, state, command, input } = deps
  const { channel } = state
  const guild = channel.guild_id
  const option = command.options[0]
  const options = input === undefined || option === undefined ? [] : [{ name: option.name, type: 3, value: input }]
  return {
    id,
    application_id: bot.id,
    type: 2,
    token,
    version: 1,
    data: { id: command.id, name: command.name, type: 1, ...(options.length > 0 && { options }) },
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
