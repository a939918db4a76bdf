import { FileShelf, type NewFile, type ShelvedFile } from '../file-shelf.ts'
import type { ApiAttachment, ApiChannel, ApiGuild, ApiMessage, ApiRole, ApiUser } from './api-types.ts'
import type { Access, NewChannel, NewThread, NewUser, Ref } from './driver-types.ts'
import type { DiscordLedger } from './ledger-entries.ts'
import { Snowflakes } from './snowflakes.ts'

/** A message as it is now, with its earlier texts. */
export interface StoredMessage {
  message: ApiMessage
  deleted: boolean
  /** Every text it had, the present one last. */
  readonly history: { readonly at: number; readonly text: string }[]
  /** Emoji that the bot has put on it. */
  readonly reactions: Set<string>
}

export interface ChannelState {
  readonly channel: ApiChannel
  readonly messages: Map<string, StoredMessage>
  access: Access
}

export interface GuildState {
  readonly guild: ApiGuild
  readonly joinedAt: string
  readonly roles: Map<string, ApiRole>
  /** The names of people there, by their ids. */
  readonly nicks: Map<string, string>
  /** The roles of the bot there, by id. */
  readonly botRoles: Set<string>
}

/** A registered slash command; contexts: 0 guilds, 1 the direct chat with the bot, 2 other private channels. */
export interface ApiCommand {
  readonly id: string
  readonly name: string
  readonly options: readonly { readonly name: string; readonly required: boolean }[]
  readonly contexts: readonly number[]
  /** The command as the platform gives it back. */
  readonly shown: Readonly<Record<string, unknown>>
}

export interface WorldDeps {
  readonly bot: ApiUser
  readonly ledger: DiscordLedger
  readonly now: () => number
}

/** The id of the first attachment, less one. */
const ATTACHMENT = 770_000_000_000

/** The people and places that exist. Asking for an unknown one is a mistake of the script, so it throws. */
export class WorldState {
  readonly bot: ApiUser
  readonly now: () => number
  readonly ids: Snowflakes
  readonly guilds = new Map<string, GuildState>()
  readonly channels = new Map<string, ChannelState>()
  readonly users = new Map<string, ApiUser>()
  readonly files = new FileShelf()
  /** `http://host:port` of the server, once it listens. */
  filesUrl = 'https://cdn.invalid'
  /** The time for which a link to a file holds, ms. */
  linksHoldMs = 24 * 3_600_000
  readonly closedDirects = new Set<string>()
  /** Global slash commands by name. */
  readonly commands = new Map<string, ApiCommand>()
  protected readonly ledger: DiscordLedger

  constructor({ bot, ledger, now }: WorldDeps) {
    this.bot = bot
    this.ledger = ledger
    this.now = now
    this.ids = new Snowflakes(now)
    this.users.set(bot.id, bot)
  }

  addUser(input: NewUser): ApiUser {
    const user: ApiUser = {
      id: input.id ?? this.ids.next(),
      username: input.username,
      discriminator: '0',
      global_name: input.displayName ?? null,
      avatar: null,
      ...(input.isBot === true && { bot: true as const }),
    }
    this.users.set(user.id, user)
    if (input.closedDirect === true) this.closedDirects.add(user.id)
    return user
  }

  /** Returns the attachment of a file for a person's message, with a link that holds for a day. */
  attach(file: NewFile & { readonly name: string }): ApiAttachment {
    const shelved = this.files.put(file)
    const { mime, size } = shelved
    const url = this.linkTo(shelved)
    const type = mime === undefined ? {} : { content_type: mime }
    return { id: String(ATTACHMENT + shelved.no), filename: file.name, size, url, proxy_url: url, ...type }
  }

  /** Returns a fresh link to a file: the time at which it expires stands in it, and a proof. */
  linkTo({ no, name, secret }: ShelvedFile): string {
    const expires = Math.floor((this.now() + this.linksHoldMs) / 1000).toString(16)
    return `${this.filesUrl}/attachments/${ATTACHMENT + no}/${encodeURIComponent(name ?? 'file')}?ex=${expires}&hm=${secret}`
  }

  /** Returns the file of a link, as long as the link holds. */
  fileOf({ pathname, searchParams }: URL): ShelvedFile | undefined {
    const no = Number(/^\/attachments\/(\d+)\//.exec(pathname)?.[1]) - ATTACHMENT
    const expires = Number.parseInt(searchParams.get('ex') ?? '', 16) * 1000
    return expires > this.now()
      ? this.files.find((file) => file.no === no && file.secret === searchParams.get('hm'))
      : undefined
  }

  /** Returns an attachment with a fresh link, as the platform shows it to whoever asks for the message. */
  refreshed(attachment: ApiAttachment): ApiAttachment {
    const file = this.files.find(({ no }) => String(ATTACHMENT + no) === attachment.id)
    const url = file === undefined ? attachment.url : this.linkTo(file)
    return { ...attachment, url, proxy_url: url }
  }

  user(ref: Ref): ApiUser {
    return found(this.users.get(idOf(ref)), 'user', ref)
  }

  channel(ref: Ref): ChannelState {
    return found(this.channels.get(idOf(ref)), 'channel', ref)
  }

  message(channel: ChannelState, ref: Ref): StoredMessage {
    return found(channel.messages.get(idOf(ref)), 'message', ref)
  }

  /** Returns the direct chat of a person with the bot, made when first asked for. */
  direct(ref: Ref): ChannelState {
    const user = this.user(ref)
    for (const state of this.channels.values()) {
      if (state.channel.type === 1 && state.channel.recipients?.[0]?.id === user.id) return state
    }
    return this.open({ id: this.ids.next(), type: 1, recipients: [user], last_message_id: null })
  }

  /** Adds a group DM with the bot in it. */
  addGroup(input: { readonly members: readonly Ref[]; readonly id?: string }): ApiChannel {
    const recipients = input.members.map((member) => this.user(member))
    return this.open({ id: input.id ?? this.ids.next(), type: 3, recipients, last_message_id: null }).channel
  }

  /** Returns the bot's rights in a channel; a thread has those of its parent. */
  accessTo({ channel, access }: ChannelState): Access {
    const parent = channel.parent_id == null ? undefined : this.channels.get(channel.parent_id)
    return parent !== undefined && isThread(channel) ? parent.access : access
  }

  protected makeChannel(input: NewChannel): ApiChannel {
    const { guild } = found(this.guilds.get(idOf(input.guild)), 'guild', input.guild)
    const channel: ApiChannel = {
      id: input.id ?? this.ids.next(),
      type: input.type ?? 0,
      guild_id: guild.id,
      name: input.name,
      position: this.channels.size,
      permission_overwrites: [],
      parent_id: null,
      last_message_id: null,
    }
    return this.open(channel).channel
  }

  protected makeThread(input: Omit<NewThread, 'announce'> & { readonly type?: 11 | 12 }): ApiChannel {
    const { channel: parent } = this.channel(input.channel)
    if (parent.guild_id === undefined) throw new Error('A thread needs a channel of a guild.')
    const now = new Date(this.now()).toISOString()
    const times = { archive_timestamp: now, create_timestamp: now }
    const channel: ApiChannel = {
      id: input.id ?? this.ids.next(),
      type: input.type ?? 11,
      guild_id: parent.guild_id,
      parent_id: parent.id,
      owner_id: input.owner === undefined ? this.bot.id : this.user(input.owner).id,
      name: input.name,
      last_message_id: null,
      message_count: 0,
      member_count: 1,
      thread_metadata: { archived: false, auto_archive_duration: 1440, ...times, locked: false },
    }
    return this.open(channel).channel
  }

  protected open(channel: ApiChannel): ChannelState {
    const state: ChannelState = { channel, messages: new Map(), access: 'full' }
    this.channels.set(channel.id, state)
    return state
  }
}

export function isThread({ type }: ApiChannel): boolean {
  return type === 11 || type === 12
}

export function idOf(ref: Ref): string {
  return typeof ref === 'string' ? ref : ref.id
}

function found<T>(thing: T | undefined, what: string, ref: Ref): T {
  if (thing === undefined) throw new Error(`The rehearsal knows no ${what} ${idOf(ref)}.`)
  return thing
}
