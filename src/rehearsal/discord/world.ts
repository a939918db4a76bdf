import type { ApiChannel, ApiGuild, ApiMessage, ApiRole, ApiUser } from './api-types.ts'
import { buildInteraction, buildPress } from './build-interaction.ts'
import { buildMessage, checkFields, forwardFields, storeMessage } from './build-message.ts'
import type { Access, Forward, NewChannel, NewRole, NewThread, Press, Ref, Say, Slash } from './driver-types.ts'
import { InteractionBook } from './interaction-book.ts'
import type { ChannelState, GuildState, StoredMessage, WorldDeps } from './world-state.ts'
import { idOf, isThread, WorldState } from './world-state.ts'

/** Sends a dispatch to the gateway; called for every act that the bot may see. */
export type Publisher = (type: string, data: Readonly<Record<string, unknown>>) => void

/**
 * The script of a rehearsal: people speak, edit, delete, open threads. Each act changes the world and sends the
 * dispatch of the platform. Everything is immediate and synchronous.
 */
export class DiscordWorld extends WorldState {
  readonly interactions: InteractionBook
  readonly #publish: Publisher

  constructor(deps: WorldDeps, publish: Publisher) {
    super(deps)
    this.interactions = new InteractionBook({ world: this, ledger: deps.ledger })
    this.#publish = publish
  }

  /** Adds a guild with the bot in it; a connected bot is notified at once. */
  addGuild(input: { readonly name: string; readonly id?: string }): ApiGuild {
    const guild: ApiGuild = { id: input.id ?? this.ids.next(), name: input.name, owner_id: OWNER_ID }
    const roles = new Map([[guild.id, { ...role(guild.id, '@everyone'), permissions: EVERYBODY_MAY }]])
    this.guilds.set(guild.id, {
      guild,
      joinedAt: new Date(this.now()).toISOString(),
      roles,
      nicks: new Map(),
      botRoles: new Set(),
    })
    this.#publish('GUILD_CREATE', this.describeGuild(guild.id))
    return guild
  }

  addRole({ guild, name, id = this.ids.next(), bot }: NewRole): ApiRole {
    const managed = bot === undefined ? {} : { managed: true, tags: { bot_id: this.user(bot).id } }
    const added = { ...role(id, name), ...managed }
    this.#guild(guild).roles.set(id, added)
    this.#publish('GUILD_ROLE_CREATE', { guild_id: idOf(guild), role: added })
    return added
  }

  /** Gives a person a name of their own in a guild; the bot learns it with the next message. */
  setNick(guild: Ref, user: Ref, nick: string): void {
    this.#guild(guild).nicks.set(this.user(user).id, nick)
  }

  addChannel(input: NewChannel): ApiChannel {
    const channel = this.makeChannel(input)
    this.#publish('CHANNEL_CREATE', { ...channel })
    return channel
  }

  addThread(input: NewThread): ApiChannel {
    const thread = this.#begin(input)
    if (input.announce !== false) this.#publish('THREAD_CREATE', { ...thread, newly_created: true })
    return thread
  }

  /** Sends a person's message. */
  say(input: Say): ApiMessage {
    const speaker = this.user(input.from)
    const author: ApiUser = input.webhook === true ? { ...speaker, global_name: null, bot: true } : speaker
    const state = input.channel === undefined ? this.direct(author) : this.channel(input.channel)
    this.#wakeThread(state)
    const replied = input.replyTo === undefined ? undefined : this.message(state, input.replyTo).message
    const message = buildMessage(this, {
      state,
      author,
      content: input.text,
      pingReplied: true,
      ...(input.mentions !== undefined && { mentions: input.mentions }),
      ...(input.attachments !== undefined && { attachments: input.attachments }),
      ...(replied !== undefined && { replied }),
    })
    if (input.webhook === true) message.webhook_id = author.id
    Object.assign(message, checkFields('message', input.fields ?? {}), input.extra)
    this.post(state, message)
    return message
  }

  /**
   * Changes fields of a message as the platform itself does, without the time of an edit: the preview of a page, the
   * words of an answer that was announced before they were there.
   */
  update(input: { channel: Ref; message: Ref; fields: Readonly<Record<string, unknown>> }): ApiMessage {
    const state = this.channel(input.channel)
    const stored = this.message(state, input.message)
    stored.message = { ...stored.message, ...checkFields('message', input.fields) }
    this.#record('edited', stored.message)
    this.#publish('MESSAGE_UPDATE', this.#dispatchOf(state, stored.message))
    return stored.message
  }

  /** Forwards a message for a person, whose own words go into another message. */
  forward({ from, channel, of }: Forward): ApiMessage {
    const author = this.user(from)
    const there = this.channel(of.channel)
    const original = this.message(there, of.message).message
    const state = channel === undefined ? this.direct(author) : this.channel(channel)
    this.#wakeThread(state)
    const message = buildMessage(this, { state, author, content: '' })
    Object.assign(message, forwardFields(there, original))
    this.post(state, message)
    return message
  }

  /** Runs a slash command of the bot for a person. Returns the id of the interaction. */
  slash(input: Slash): string {
    const user = this.user(input.from)
    const state = input.channel === undefined ? this.direct(user) : this.channel(input.channel)
    const command = this.commands.get(input.command)
    const context = state.channel.guild_id === undefined ? 1 : 0
    if (command === undefined || !command.contexts.includes(context))
      throw new Error(`Nobody is offered /${input.command} in ${state.channel.id}.`)
    if (input.input !== undefined && command.options.length === 0) throw new Error(`/${command.name} takes nothing.`)
    const { id, token } = this.interactions.open(user.id, state.channel.id)
    const { bot } = this
    const given = input.input === undefined ? {} : { input: input.input }
    this.#publish('INTERACTION_CREATE', buildInteraction({ id, token, bot, user, state, command, ...given }))
    return id
  }

  /** Presses a button of a message for a person. Returns the id of the interaction. */
  press(input: Press): string {
    const user = this.user(input.from)
    const state = this.channel(input.channel)
    const { message } = this.message(state, input.message)
    const { id, token } = this.interactions.open(user.id, state.channel.id)
    const { bot } = this
    this.#publish('INTERACTION_CREATE', buildPress({ id, token, bot, user, state, message, data: input.data }))
    return id
  }

  edit(input: { readonly channel: Ref; readonly message: Ref; readonly text: string }): ApiMessage {
    const state = this.channel(input.channel)
    return this.rewrite(state, this.message(state, input.message), { content: input.text })
  }

  remove(channel: Ref, message: Ref): void {
    const state = this.channel(channel)
    this.erase(state, this.message(state, message))
  }

  /** Changes the bot's rights in a channel; a hidden one is deleted for it, as on the platform. */
  setAccess(ref: Ref, access: Access): void {
    const state = this.channel(ref)
    state.access = access
    state.channel.permission_overwrites = [{ id: this.bot.id, type: 1, allow: '0', deny: String(DENIED[access]) }]
    this.#publish(access === 'hidden' ? 'CHANNEL_DELETE' : 'CHANNEL_UPDATE', { ...state.channel })
  }

  /** Gives or takes permissions of a channel, as they are shown; what is refused follows from `setAccess` alone. */
  overwrite(ref: Ref, { id, allow = 0n, deny = 0n }: { id: string; allow?: bigint; deny?: bigint }): void {
    const { channel } = this.channel(ref)
    const type = id === this.bot.id ? 1 : 0
    const others = (channel.permission_overwrites ?? []).filter((one) => !('id' in one) || one.id !== id)
    channel.permission_overwrites = [...others, { id, type, allow: String(allow), deny: String(deny) }]
  }

  setThread(
    ref: Ref,
    { name, ...change }: { readonly archived?: boolean; readonly locked?: boolean; readonly name?: string },
  ): void {
    const { channel } = this.channel(ref)
    if (channel.thread_metadata === undefined) throw new Error(`${channel.id} is no thread.`)
    Object.assign(channel.thread_metadata, change)
    if (name !== undefined) channel.name = name
    this.#publish('THREAD_UPDATE', { ...channel })
  }

  /** Sends a dispatch the driver cannot build: unknown types, nonsense. */
  raw(type: string, data: Readonly<Record<string, unknown>>): void {
    this.#publish(type, data)
  }

  /** Returns the messages of a channel as they are now, oldest first. */
  messages(ref: Ref, by: { readonly bot?: boolean } = {}): StoredMessage[] {
    const all = [...this.channel(ref).messages.values()].filter(({ deleted }) => !deleted)
    return by.bot === undefined ? all : all.filter(({ message }) => (message.author.id === this.bot.id) === by.bot)
  }

  /** Makes a thread for the bot, as a REST call does. */
  startThread(input: Omit<NewThread, 'announce'> & { readonly type?: 11 | 12 }): ApiChannel {
    const thread = this.#begin(input)
    this.#publish('THREAD_CREATE', { ...thread, newly_created: true })
    return thread
  }

  /** A thread that began at a message has that message's id, and holds it in the first of its own. */
  #begin(input: Omit<NewThread, 'announce'> & { readonly type?: 11 | 12 }): ApiChannel {
    const thread = this.makeThread(input)
    const begun = this.channel(input.channel).messages.get(thread.id)
    if (begun === undefined) return thread
    const state = this.channel(thread)
    const starter = buildMessage(this, { state, author: begun.message.author, content: '', replied: begun.message })
    storeMessage(state, { ...starter, type: 21 }, this.now())
    return thread
  }

  /** Puts a message into its channel and notifies the gateway; also for the bot's own messages. */
  post(state: ChannelState, message: ApiMessage, nonce?: string): void {
    storeMessage(state, message, this.now())
    this.#record('sent', message)
    this.#publish('MESSAGE_CREATE', this.#dispatchOf(state, nonce === undefined ? message : { ...message, nonce }))
  }

  rewrite(state: ChannelState, stored: StoredMessage, change: Partial<ApiMessage>): ApiMessage {
    stored.message = { ...stored.message, ...change, edited_timestamp: new Date(this.now()).toISOString() }
    stored.history.push({ at: this.now(), text: stored.message.content })
    this.#record('edited', stored.message)
    this.#publish('MESSAGE_UPDATE', this.#dispatchOf(state, stored.message))
    return stored.message
  }

  erase({ channel }: ChannelState, stored: StoredMessage): void {
    this.#bury(stored)
    const { id, channel_id } = stored.message
    this.#publish('MESSAGE_DELETE', { id, channel_id, ...guildOf(channel) })
  }

  /** Returns the GUILD_CREATE for a bot: the channels it sees, and the threads that are not archived. */
  describeGuild(id: string): Readonly<Record<string, unknown>> {
    const state = this.#guild(id)
    const visible = [...this.channels.values()].filter(
      (channel) => channel.channel.guild_id === id && this.accessTo(channel) !== 'hidden',
    )
    const channels = visible.map(({ channel }) => ({ ...channel }))
    return {
      ...state.guild,
      joined_at: state.joinedAt,
      large: false,
      unavailable: false,
      member_count: this.users.size,
      roles: [...state.roles.values()],
      channels: channels.filter((channel) => !isThread(channel)),
      threads: channels.filter((channel) => isThread(channel) && channel.thread_metadata?.archived !== true),
      members: [{ user: this.bot, ...memberFields(state.joinedAt), roles: [...state.botRoles] }],
      ...EMPTY_LISTS,
      ...GUILD_SETTINGS,
    }
  }

  #guild(ref: Ref): GuildState {
    const state = this.guilds.get(idOf(ref))
    if (state === undefined) throw new Error(`The rehearsal knows no guild ${idOf(ref)}.`)
    return state
  }

  #bury(stored: StoredMessage): void {
    stored.deleted = true
    this.#record('deleted', stored.message)
  }

  #dispatchOf({ channel }: ChannelState, message: ApiMessage): Readonly<Record<string, unknown>> {
    const seen = { ...message, ...guildOf(channel), channel_type: channel.type }
    if (channel.guild_id === undefined || message.webhook_id !== undefined) return seen
    const { nicks, joinedAt } = this.#guild(channel.guild_id)
    const member = ({ id }: ApiUser) => ({ ...memberFields(joinedAt), nick: nicks.get(id) ?? null })
    const { mentions } = message
    const named = Array.isArray(mentions) ? mentions.map((user) => ({ ...user, member: member(user) })) : mentions
    return { ...seen, member: member(message.author), mentions: named }
  }

  /** Unarchives a thread when somebody writes in it. */
  #wakeThread({ channel }: ChannelState): void {
    if (channel.thread_metadata?.archived === true) this.setThread(channel, { archived: false })
  }

  #record(change: 'sent' | 'edited' | 'deleted', message: ApiMessage): void {
    this.ledger.append({
      kind: 'message',
      at: this.now(),
      change,
      byBot: message.author.id === this.bot.id,
      channelId: message.channel_id,
      messageId: message.id,
      text: message.content,
      message,
    })
  }
}

const EMPTY_LISTS = {
  emojis: [],
  stickers: [],
  voice_states: [],
  presences: [],
  stage_instances: [],
  guild_scheduled_events: [],
  soundboard_sounds: [],
  features: [],
} as const

const GUILD_SETTINGS = {
  afk_channel_id: null,
  afk_timeout: 300,
  default_message_notifications: 0,
  explicit_content_filter: 0,
  mfa_level: 0,
  nsfw_level: 0,
  preferred_locale: 'en-US',
  premium_tier: 0,
  system_channel_flags: 0,
  verification_level: 0,
} as const

/** The owner of every guild, who says nothing. */
const OWNER_ID = '800000000000000001'
const [VIEW, SEND, HISTORY, SEND_IN_THREADS] = [1n << 10n, 1n << 11n, 1n << 16n, 1n << 38n]
/** The permissions of everybody in a new guild, as far as they matter to a bot: these, reactions, links and files. */
const EVERYBODY_MAY = String(VIEW | SEND | HISTORY | SEND_IN_THREADS | (1n << 6n) | (1n << 14n) | (1n << 15n))
const DENIED: Readonly<Record<Access, bigint>> = {
  full: 0n,
  no_history: HISTORY,
  read_only: SEND | SEND_IN_THREADS,
  hidden: VIEW,
}

function role(id: string, name: string): ApiRole {
  return {
    id,
    name,
    permissions: '0',
    position: 0,
    color: 0,
    hoist: false,
    managed: false,
    mentionable: false,
    flags: 0,
  }
}

function memberFields(joined_at: string): object {
  return { roles: [], joined_at, deaf: false, mute: false, flags: 0 }
}

function guildOf({ guild_id }: ApiChannel): { guild_id?: string } {
  return guild_id === undefined ? {} : { guild_id }
}
