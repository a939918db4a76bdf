import type { ApiEvent, ApiMessage } from './api-types.ts'
import type { EventQueue } from './event-queue.ts'
import type { ChannelState, WorldDeps } from './world-state.ts'

interface PublisherDeps extends WorldDeps {
  readonly queue: EventQueue
}

/** Publishes events of a channel to the app, if that is a member of the channel and has subscribed to their type. */
export class EventPublisher {
  readonly #deps: PublisherDeps

  constructor(deps: PublisherDeps) {
    this.#deps = deps
  }

  /** Publishes a message that was posted. */
  message(channel: ChannelState, message: ApiMessage): void {
    const { id, kind } = channel
    const event = { ...message, channel: id, channel_type: kind, event_ts: message.ts }
    this.#send(channel, subscriptionOf(channel), event)
  }

  /** Publishes the second event of a message that mentions the bot. */
  mention(channel: ChannelState, message: ApiMessage): void {
    const { user, bot_id, team, user_team, source_team, client_msg_id, text, ts, thread_ts, parent_user_id } = message
    const facts = { user, bot_id, team, user_team, source_team, client_msg_id, text, ts, thread_ts, parent_user_id }
    const { attachments } = message
    this.#send(channel, 'app_mention', {
      ...facts,
      ...(attachments === undefined ? {} : { attachments }),
      type: 'app_mention',
      channel: channel.id,
      event_ts: ts,
    })
  }

  /** Publishes a change of a message at the time `ts`. */
  change(channel: ChannelState, ts: string, fields: Readonly<Record<string, unknown>>): void {
    this.#send(channel, subscriptionOf(channel), {
      type: 'message',
      ...fields,
      channel: channel.id,
      channel_type: channel.kind,
      ts,
      event_ts: ts,
    })
  }

  /** Publishes an event that is no message. */
  notice(event: ApiEvent): void {
    const { app, ledger, now, queue } = this.#deps
    if (app.subscriptions.includes(event.type)) queue.offer(event)
    else ledger.append({ kind: 'withheld', at: now(), reason: 'not_subscribed', type: event.type })
  }

  #send(channel: ChannelState, subscription: string, event: ApiEvent): void {
    const { app, ledger, now, queue } = this.#deps
    const isMember = channel.members.has(app.bot.id)
    if (isMember && app.subscriptions.includes(subscription)) {
      queue.offerBody({ event, is_ext_shared_channel: channel.external })
      return
    }
    const reason = isMember ? 'not_subscribed' : 'not_member'
    ledger.append({ kind: 'withheld', at: now(), reason, type: subscription })
  }
}

const SUBSCRIPTIONS = { channel: 'message.channels', group: 'message.groups', im: 'message.im', mpim: 'message.mpim' }

function subscriptionOf({ kind }: ChannelState): string {
  return SUBSCRIPTIONS[kind]
}
