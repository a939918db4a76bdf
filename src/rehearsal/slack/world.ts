import type { ApiEvent, ApiMessage, ApiMetadata } from './api-types.ts'
import { buildPress, shownName } from './build-press.ts'
import type { Change, ChannelRef, EditSaid, MessageRef, Press, Say, Share, Slash, UserRef } from './driver-types.ts'
import { EventPublisher } from './event-publisher.ts'
import type { EventQueue } from './event-queue.ts'
import { checkFields } from './message-fields.ts'
import type { MessageFilter, StoredMessage } from './message-store.ts'
import type { SharedFile } from './shared-file.ts'
import { type ChannelState, idOf, type WorldDeps, WorldState } from './world-state.ts'

/** A message that the bot posts. */
interface BotPost {
  readonly text: string
  readonly thread?: string
  readonly metadata?: ApiMetadata
  readonly attachments?: readonly object[]
  readonly files?: readonly object[]
}

/**
 * The script of a rehearsal: people speak, edit, delete, come and go. Each act changes the world and offers the
 * platform's events to the app. Everything is immediate and synchronous.
 */
export class SlackWorld extends WorldState {
  /** Files of the bot by id, shared or not. */
  readonly uploads = new Map<string, SharedFile>()
  readonly #queue: EventQueue
  readonly #publisher: EventPublisher
  #nextClientMessage = 1

  constructor(deps: WorldDeps, queue: EventQueue) {
    super(deps)
    this.#queue = queue
    this.#publisher = new EventPublisher({ ...deps, queue })
  }

  /** Sends a person's message; a mention of the bot in a channel makes two events, as on the platform. */
  say(input: Say): ApiMessage {
    checkFields(input.extra ?? {})
    const from = this.user(input.from)
    const channel = input.channel === undefined ? this.direct(from) : this.channel(input.channel)
    const foreign = from.team_id !== this.app.teamId
    const message: ApiMessage = {
      type: 'message',
      user: from.id,
      team: from.team_id,
      ...(foreign && { user_team: from.team_id, source_team: from.team_id }),
      client_msg_id: `00000000-0000-4000-8000-${String(this.#nextClientMessage++).padStart(12, '0')}`,
      text: input.text,
      ts: this.nextStamp(),
      ...this.#threadFields(channel, input.thread),
      ...input.extra,
    }
    this.addMessage(channel, message, from.id === this.app.bot.id)
    this.#publisher.message(channel, message)
    if (channel.kind !== 'im' && mentions(message, this.app.bot.id)) this.#publisher.mention(channel, message)
    return message
  }

  /** Shares a message for a person: it comes as an attachment beside their own text. */
  share({ of, text = '', ...where }: Share): ApiMessage {
    return this.say({ ...where, text, extra: { attachments: [this.#shared(of)] } })
  }

  /** Runs a slash command of the app for a person; the app must acknowledge it within three seconds. */
  slash(input: Slash): void {
    const { appId, teamId, slashCommands } = this.app
    if (!slashCommands.includes(input.command)) throw new Error(`The app declares no ${input.command}.`)
    const from = this.user(input.from)
    const channel = input.channel === undefined ? this.direct(from) : this.channel(input.channel)
    this.#queue.sendCommand({
      token: 'legacy-verification-token',
      team_id: from.team_id,
      team_domain: 'rehearsal',
      channel_id: channel.id,
      channel_name: shownName(channel),
      user_id: from.id,
      user_name: from.name,
      command: input.command,
      text: input.text ?? '',
      api_app_id: appId,
      is_enterprise_install: 'false',
      response_url: `https://hooks.slack.invalid/commands/${teamId}/1/x`,
      trigger_id: `${this.nextStamp()}.rehearsal`,
    })
  }

  /** Presses a button of a message for a person; the app must acknowledge it within three seconds. */
  press(input: Press): void {
    const channel = this.channel(input.channel)
    const { message } = this.#stored(channel, input.message)
    const stamps = { trigger: this.nextStamp(), action: this.nextStamp() }
    this.#queue.sendPress(
      buildPress({ app: this.app, from: this.user(input.from), channel, message, value: input.value, stamps }),
    )
  }

  /** Shows a text of the bot to one person alone. Returns its ts, which names no message. */
  whisper(
    channel: ChannelState,
    what: { readonly user: string; readonly text: string; readonly thread: string | null },
  ): string {
    const { user: userId, text, thread } = what
    this.ledger.append({ kind: 'whisper', at: this.now(), userId, channel: channel.id, thread, text })
    return this.nextStamp()
  }

  /** Edits a person's message. */
  edit(input: EditSaid): ApiMessage {
    const channel = this.channel(input.channel)
    const { text, message, shares } = input
    const more = shares === undefined ? {} : { attachments: [this.#shared(shares)] }
    return this.#change(channel, this.#stored(channel, message), text, more)
  }

  /** Changes a message as the platform or another app does: by its fields, without the mark of an edit. */
  change({ channel, message, fields }: Change): ApiMessage {
    checkFields(fields)
    const state = this.channel(channel)
    return this.#replace(state, this.#stored(state, message), fields)
  }

  /** Gives a channel a new id, as where it is shared with another organisation. */
  changeId(channel: ChannelRef, id: string): void {
    const state = this.channel(channel)
    this.moveChannel(state, id)
    const ids = { old_channel_id: state.id, new_channel_id: id }
    this.#publisher.notice({ type: 'channel_id_changed', ...ids, event_ts: this.nextStamp() })
  }

  /** Renames a channel. */
  rename(channel: ChannelRef, name: string): void {
    const { id, kind } = this.channel(channel)
    this.nameChannel(this.channel(channel), name)
    const type = kind === 'group' ? 'group_rename' : 'channel_rename'
    this.#publisher.notice({ type, channel: { id, name, created: 1_700_000_000 }, event_ts: this.nextStamp() })
  }

  /** Deletes a person's message. */
  remove(channel: ChannelRef, message: MessageRef): void {
    const state = this.channel(channel)
    this.#delete(state, this.#stored(state, message))
  }

  /** Posts a text of the bot, by the Web API. */
  post(channel: ChannelState, { text, thread, metadata, attachments, files }: BotPost): ApiMessage {
    const { bot, botId, appId, teamId } = this.app
    const message: ApiMessage = {
      type: 'message',
      user: bot.id,
      bot_id: botId,
      app_id: appId,
      team: teamId,
      text,
      ts: this.nextStamp(),
      ...this.#threadFields(channel, thread),
      ...(metadata === undefined ? {} : { metadata }),
      ...(attachments === undefined ? {} : { attachments }),
      ...(files === undefined ? {} : { files, subtype: 'file_share' }),
    }
    this.addMessage(channel, message, true)
    this.#publisher.message(channel, message)
    return message
  }

  /** Makes a place for the content of a file. */
  addFile({ name, length }: { readonly name: string; readonly length: number }): SharedFile {
    const id = `F0UPLOAD${this.uploads.size + 1}`
    const file: SharedFile = { id, name, length, ticket: `${id}-${this.nextStamp().replace('.', '')}` }
    this.uploads.set(id, file)
    return file
  }

  update(
    channel: ChannelState,
    stored: StoredMessage,
    text: string,
    more: Readonly<Record<string, unknown>>,
  ): ApiMessage {
    return this.#change(channel, stored, text, more)
  }

  delete(channel: ChannelState, stored: StoredMessage): void {
    this.#delete(channel, stored)
  }

  archive(channel: ChannelRef, archived = true): void {
    this.channel(channel).archived = archived
  }

  /** Locks a thread: nobody but administrators answers there any more. */
  lockThread(channel: ChannelRef, root: MessageRef): void {
    this.channel(channel).locked.add(typeof root === 'string' ? root : root.ts)
  }

  /** Makes a channel one without threads. */
  forbidThreads(channel: ChannelRef): void {
    this.channel(channel).threadless = true
  }

  /** Removes a user from a channel or, with `joined`, adds them; by default the bot. */
  setMember(channel: ChannelRef, joined: boolean, user: UserRef = this.app.bot): void {
    const { members } = this.channel(channel)
    if (joined) members.add(idOf(user))
    else members.delete(idOf(user))
  }

  /** Offers an event unchanged, whatever the subscriptions are. Returns its id. */
  raw(event: ApiEvent): string {
    return this.#queue.offer(event)
  }

  /** Offers a callback body without the fields that `raw` builds around an event, such as `app_rate_limited`. */
  rawBody(body: Readonly<Record<string, unknown>>): string {
    return this.#queue.offerBody(body)
  }

  /** Returns the messages of a channel as they are now, oldest first. */
  messages(channel: ChannelRef, filter: MessageFilter = {}): StoredMessage[] {
    return this.channel(channel).messages.list(filter)
  }

  #threadFields(channel: ChannelState, thread: MessageRef | undefined) {
    if (thread === undefined) return {}
    const root = channel.messages.find(stampOf(thread))?.message
    if (root === undefined) throw new Error(`Channel ${channel.id} has no message ${stampOf(thread)}.`)
    const thread_ts = root.thread_ts ?? root.ts
    const parent = channel.messages.find(thread_ts)?.message.user
    return { thread_ts, ...(parent !== undefined && { parent_user_id: parent }) }
  }

  #stored(channel: ChannelState, ref: MessageRef): StoredMessage {
    const stored = channel.messages.find(stampOf(ref))
    if (stored === undefined) throw new Error(`Channel ${channel.id} has no message ${stampOf(ref)}.`)
    return stored
  }

  /** Returns a message in the form in which the platform attaches it to another one. */
  #shared(of: Share['of']): object {
    const there = this.channel(of.channel)
    const { message } = this.#stored(there, of.message)
    const author = this.user(message.user ?? this.app.bot.id)
    const stamp = message.ts.replace('.', '')
    return {
      id: 1,
      is_msg_unfurl: true,
      is_share: true,
      from_url: `https://rehearsal.slack.invalid/archives/${there.id}/p${stamp}`,
      author_id: author.id,
      author_name: author.profile.display_name || author.real_name,
      author_subname: author.real_name,
      channel_id: there.id,
      channel_team: this.app.teamId,
      color: 'D0D0D0',
      fallback: `[November 21st, 2026] ${author.name}: ${message.text}`,
      footer: there.kind === 'channel' ? `Posted in #${there.name}` : 'Slack Conversation',
      mrkdwn_in: ['text'],
      text: message.text,
      ...(message.files === undefined ? {} : { files: message.files }),
      ts: message.ts,
    }
  }

  #change(channel: ChannelState, stored: StoredMessage, text: string, more: object = {}): ApiMessage {
    const previous = stored.message
    const edited = { user: previous.user ?? this.app.bot.id, ts: this.nextStamp() }
    return this.#replace(channel, stored, { text, edited, ...more })
  }

  #replace(channel: ChannelState, stored: StoredMessage, fields: Readonly<Record<string, unknown>>): ApiMessage {
    const previous = stored.message
    const message: ApiMessage = { ...previous, ...fields }
    this.replaceMessage(channel, stored, message)
    this.#publisher.change(channel, this.nextStamp(), {
      subtype: 'message_changed',
      message,
      previous_message: previous,
      hidden: true,
    })
    return message
  }

  #delete(channel: ChannelState, stored: StoredMessage): void {
    this.removeMessage(channel, stored)
    const { message } = stored
    this.#publisher.change(channel, this.nextStamp(), {
      subtype: 'message_deleted',
      deleted_ts: message.ts,
      previous_message: message,
      hidden: true,
    })
  }
}

function mentions({ text }: ApiMessage, user: string): boolean {
  return new RegExp(`<@${user}(\\|[^>]*)?>`).test(text)
}

function stampOf(ref: MessageRef): string {
  return typeof ref === 'string' ? ref : ref.ts
}
