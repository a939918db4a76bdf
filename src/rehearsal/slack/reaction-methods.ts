import { readWritableChannel } from './conversations.ts'
import { type Params, textParam } from './params.ts'
import { SlackApiError } from './slack-error.ts'
import type { WebApi } from './web-api.ts'

/** Names that Slack has; those of others are refused here, as one that nobody has made would be. */
const NAMES: ReadonlySet<string> = new Set(
  'thumbsup thumbsdown heart fire tada eyes white_check_mark thinking_face joy clap pray 100 rocket wave'.split(' '),
)

/** Puts an emoji, by its name without colons, on a message; the same again is refused. */
export function addReaction(api: WebApi, params: Params): Readonly<Record<string, unknown>> {
  const channel = readWritableChannel(api, params)
  const name = textParam(params, 'name')
  const timestamp = textParam(params, 'timestamp')
  if (name === undefined || !NAMES.has(name)) throw new SlackApiError('invalid_name')
  if (timestamp === undefined) throw new SlackApiError('no_item_specified')
  const stored = channel.messages.find(timestamp)
  if (stored === undefined) throw new SlackApiError('message_not_found')
  if (stored.reactions.has(name)) throw new SlackApiError('already_reacted')
  stored.reactions.add(name)
  return {}
}
