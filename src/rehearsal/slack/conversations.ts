import type { ChannelKind } from './api-types.ts'
import type { AppState } from './app-state.ts'
import type { Params } from './params.ts'
import { textParam } from './params.ts'
import { SlackApiError } from './slack-error.ts'
import type { WebApi } from './web-api.ts'
import type { ChannelState } from './world-state.ts'

const SCOPE_PREFIX: Readonly<Record<ChannelKind, string>> = {
  channel: 'channels',
  group: 'groups',
  im: 'im',
  mpim: 'mpim',
}

/** @throws `missing_scope`, with the needed scope and those of the token */
export function requireScope({ scopes }: Pick<AppState, 'scopes'>, needed: string): void {
  if (!scopes.includes(needed)) throw new SlackApiError('missing_scope', { needed, provided: scopes.join(',') })
}

/** Returns the conversation of a call; one the bot may not see does not exist. */
export function readChannel({ world, app }: WebApi, params: Params): ChannelState {
  const channel = world.findChannel(textParam(params, 'channel') ?? '')
  if (channel === undefined) throw new SlackApiError('channel_not_found')
  const hidden = channel.kind !== 'channel' && !channel.members.has(app.bot.id)
  if (hidden) throw new SlackApiError('channel_not_found')
  return channel
}

/** Does the same as `readChannel`, and checks that the bot may write there. */
export function readWritableChannel(api: WebApi, params: Params): ChannelState {
  const id = textParam(params, 'channel') ?? ''
  // A user's id stands for the direct chat with them.
  const channel = api.world.findUser(id) === undefined ? readChannel(api, params) : api.world.direct(id)
  if (channel.archived) throw new SlackApiError('is_archived')
  if (!channel.members.has(api.app.bot.id)) throw new SlackApiError('not_in_channel')
  return channel
}

/** Does the same as `readChannel`, and checks that its history may be read. */
export function readReadableChannel(api: WebApi, params: Params): ChannelState {
  const channel = readChannel(api, params)
  requireScope(api.app, `${SCOPE_PREFIX[channel.kind]}:history`)
  if (!channel.members.has(api.app.bot.id)) throw new SlackApiError('not_in_channel')
  return channel
}

export function describeChannel(api: WebApi, params: Params): Readonly<Record<string, unknown>> {
  const { id, kind, name, members, archived, external } = readChannel(api, params)
  requireScope(api.app, `${SCOPE_PREFIX[kind]}:read`)
  return {
    channel: {
      id,
      name,
      is_channel: kind === 'channel',
      is_group: kind === 'group',
      is_im: kind === 'im',
      is_mpim: kind === 'mpim',
      is_ext_shared: external,
      is_private: kind !== 'channel',
      is_archived: archived,
      is_member: members.has(api.app.bot.id),
    },
  }
}
