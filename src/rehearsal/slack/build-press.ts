import type { ApiMessage, ApiUser } from './api-types.ts'
import type { AppState } from './app-state.ts'
import type { PressBody } from './event-queue.ts'
import type { ChannelState } from './world-state.ts'

interface PressFacts {
  readonly app: AppState
  readonly from: ApiUser
  readonly channel: ChannelState
  /** The message above the button. */
  readonly message: ApiMessage
  readonly value: string
  readonly stamps: { readonly trigger: string; readonly action: string }
}

/** Returns the `block_actions` of a pressed button, in the platform's form. */
export function buildPress({ app, from, channel, message, value, stamps }: PressFacts): PressBody {
  const { appId, teamId } = app
  return {
    type: 'block_actions',
    token: 'legacy-verification-token',
    user: { id: from.id, username: from.name, name: from.name, team_id: from.team_id },
    api_app_id: appId,
    container: { type: 'message_attachment', message_ts: message.ts, attachment_id: 1, channel_id: channel.id },
    trigger_id: `${stamps.trigger}.rehearsal`,
    team: { id: teamId, domain: 'rehearsal' },
    enterprise: null,
    is_enterprise_install: false,
    channel: { id: channel.id, name: shownName(channel) },
    message,
    response_url: `https://hooks.slack.invalid/actions/${teamId}/1/x`,
    actions: [{ type: 'button', action_id: 'command:0', value, action_ts: stamps.action }],
  }
}

/** Returns the name of a conversation, which for direct chats and groups of people says only what they are. */
export function shownName({ kind, name }: Pick<ChannelState, 'kind' | 'name'>): string {
  if (kind === 'im') return 'directmessage'
  return kind === 'mpim' ? 'mpdm-ada--bob-1' : name
}
