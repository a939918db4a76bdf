import { FileShelf, type NewFile, type ShelvedFile } from '../file-shelf.ts'
import type { ApiMessage, ApiUser, ChannelKind } from './api-types.ts'
import type { AppState } from './app-state.ts'
import type { ChannelRef, NewChannel, NewUser, UserRef } from './driver-types.ts'
import type { MessageEntry, SlackLedger } from './ledger-entries.ts'
import { MessageStore, type StoredMessage, threadOf } from './message-store.ts'
import { pingsIn } from './pings.ts'

export interface ChannelState {
  readonly id: string
  readonly kind: ChannelKind
  readonly name: string
  readonly members: Set<string>
  archived: boolean
  /** Its administrators allow no threads. */
  threadless: boolean
  /** Roots of threads that administrators have locked. */
  readonly locked: Set<string>
  /** People of other workspaces are in it. */
  readonly external: boolean
  readonly messages: MessageStore
}

export interface WorldDeps {
  readonly app: AppState
  readonly ledger: SlackLedger
  readonly now: () => number
}

function fileId(no: number): string {
  return `F0${1000 + no}`
}

/** The people and places that exist. Asking for an unknown one is a mistake of the script, so it throws. */
export class WorldState {
  readonly app: AppState
  readonly now: () => number
  readonly files = new FileShelf()
  /** `http://host:port` of the server, once it listens. */
  filesUrl = 'https://files.invalid'
  protected readonly ledger: SlackLedger
  readonly #users = new Map<string, ApiUser>()
  readonly #channels = new Map<string, ChannelState>()
  #nextUser = 1001
  #nextChannel = 1001
  #lastStamp = 0

  constructor({ app, ledger, now }: WorldDeps) {
    this.app = app
    this.ledger = ledger
    this.now = now
    this.#users.set(app.bot.id, app.bot)
    // The platform says of its own app that it is no bot.
    this.addUser({ id: 'USLACKBOT', name: 'slackbot', displayName: 'Slackbot' })
  }

  /** Returns a file for the `files` of a person's message. */
  attach(file: NewFile & { readonly name: string }): Readonly<Record<string, unknown>> {
    return this.describeFile(this.files.put(file))
  }

  describeFile({ no, name, mime = 'application/octet-stream', size, secret }: ShelvedFile) {
    const url = `${this.filesUrl}/files-pri/${this.app.teamId}-${fileId(no)}/${secret.slice(0, 8)}`
    return {
      id: fileId(no),
      ...{ name, mimetype: mime, size, mode: 'hosted', is_external: false },
      url_private: `${url}/${encodeURIComponent(name ?? 'file')}`,
      url_private_download: `${url}/download/${encodeURIComponent(name ?? 'file')}`,
    }
  }

  fileOf(id: unknown): ShelvedFile | undefined {
    return this.files.find(({ no }) => fileId(no) === id)
  }

  addUser({ id: given, name, displayName = name, team, enterprise, isBot = false }: NewUser): ApiUser {
    const id = given ?? `U${this.#nextUser++}`
    const user: ApiUser = {
      id,
      ...(enterprise && { enterprise_user: { id, enterprise_id: enterprise.id, teams: enterprise.teams } }),
      team_id: team ?? this.app.teamId,
      name,
      real_name: displayName,
      is_bot: isBot,
      profile: { real_name: displayName, display_name: displayName },
    }
    this.#users.set(user.id, user)
    return user
  }

  addChannel({
    kind = 'channel',
    name,
    id,
    members = [],
    botJoined = true,
    external = false,
  }: NewChannel): ChannelState {
    const prefix = kind === 'im' ? 'D' : kind === 'group' ? 'G' : 'C'
    const all = new Set(members.map(idOf))
    if (botJoined) all.add(this.app.bot.id)
    return this.#keep({ id: id ?? `${prefix}${this.#nextChannel++}`, kind, name, members: all, external })
  }

  /** Returns the direct chat between the bot and a person, made when it is first asked for. */
  direct(person: UserRef): ChannelState {
    const user = this.user(person)
    const id = `D${user.id.slice(1)}`
    const members = new Set([user.id, this.app.bot.id])
    return (
      this.#channels.get(id) ??
      this.#keep({ id, kind: 'im', name: user.name, members, external: user.team_id !== this.app.teamId })
    )
  }

  user(ref: UserRef): ApiUser {
    const user = this.#users.get(idOf(ref))
    if (user === undefined) throw new Error(`There is no user ${idOf(ref)}.`)
    return user
  }

  findUser(id: string): ApiUser | undefined {
    return this.#users.get(id)
  }

  channel(ref: ChannelRef): ChannelState {
    const channel = this.#channels.get(idOf(ref))
    if (channel === undefined) throw new Error(`There is no channel ${idOf(ref)}.`)
    return channel
  }

  findChannel(id: string): ChannelState | undefined {
    return this.#channels.get(id)
  }

  /** Gives a channel another id, and keeps nothing under the old one. */
  protected moveChannel(channel: ChannelState, id: string): void {
    this.#channels.delete(channel.id)
    this.#channels.set(id, { ...channel, id })
  }

  /** Gives a channel another name. */
  protected nameChannel(channel: ChannelState, name: string): void {
    this.#channels.set(channel.id, { ...channel, name })
  }

  /** Returns a stamp in the platform's form, never the same twice. */
  nextStamp(): string {
    this.#lastStamp = Math.max(this.#lastStamp + 1, this.now() * 1000)
    const text = String(this.#lastStamp)
    return `${text.slice(0, -6)}.${text.slice(-6)}`
  }

  /** Keeps a new message and records it. */
  protected addMessage(channel: ChannelState, message: ApiMessage, own: boolean): void {
    channel.messages.add(message, own)
    this.#record(channel, message, { change: 'sent', byBot: own })
  }

  protected replaceMessage(channel: ChannelState, stored: StoredMessage, message: ApiMessage): void {
    channel.messages.replace(stored, message)
    this.#record(channel, message, { change: 'edited', byBot: stored.own })
  }

  protected removeMessage(channel: ChannelState, stored: StoredMessage): void {
    stored.deleted = true
    this.#record(channel, stored.message, { change: 'deleted', byBot: stored.own })
  }

  #record(channel: ChannelState, message: ApiMessage, { change, byBot }: Pick<MessageEntry, 'change' | 'byBot'>): void {
    const { text, ts } = message
    const thread = threadOf(message)
    const facts = { channel: channel.id, thread, ts, text, pings: pingsIn(text), message }
    this.ledger.append({ kind: 'message', at: this.now(), change, byBot, ...facts })
  }

  #keep(channel: Omit<ChannelState, 'archived' | 'threadless' | 'locked' | 'messages'>): ChannelState {
    const state = {
      ...channel,
      archived: false,
      threadless: false,
      locked: new Set<string>(),
      messages: new MessageStore(),
    }
    this.#channels.set(state.id, state)
    return state
  }
}

export function idOf(ref: string | { readonly id: string }): string {
  return typeof ref === 'string' ? ref : ref.id
}
