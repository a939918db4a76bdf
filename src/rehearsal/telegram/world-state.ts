import { FileShelf } from '../file-shelf.ts'
import type { ApiChat, ApiMessage, ApiUser, MemberStatus } from './api-types.ts'
import type { BotState } from './bot-state.ts'
import type { ChatRef, NewChat, NewUser, UserRef } from './driver-types.ts'
import type { TelegramLedger } from './ledger-entries.ts'
import { MessageStore } from './message-store.ts'

export interface Topic {
  readonly id: number
  readonly name: string
  readonly service: ApiMessage
  closed: boolean
  deleted: boolean
}

export interface ChatState {
  chat: ApiChat
  readonly members: Map<number, MemberStatus>
  readonly topics: Map<number, Topic>
  readonly messages: MessageStore
  /** True if the General topic of a forum was closed. */
  generalClosed: boolean
  migratedTo: number | undefined
  /** The group in which people discuss what is posted in this channel. */
  discussedIn: number | undefined
  /** The platform's ChatPermissions: what those who are no administrators may do. */
  membersMay: Readonly<Record<string, boolean>>
}

export interface WorldDeps {
  readonly bots: readonly BotState[]
  readonly ledger: TelegramLedger
  readonly now: () => number
}

const firstUserId = 1001
const firstGroupId = -2001
const firstSupergroupId = -1_001_000_000_001

/** The users, chats and memberships that exist. Asking for an unknown one is a mistake of the script, so it throws. */
export class WorldState {
  readonly bots: readonly BotState[]
  readonly now: () => number
  readonly files = new FileShelf()
  protected readonly ledger: TelegramLedger
  readonly #users = new Map<number, ApiUser>()
  readonly #chats = new Map<number, ChatState>()
  #nextUserId = firstUserId
  #nextGroupId = firstGroupId
  #nextSupergroupId = firstSupergroupId

  constructor(deps: WorldDeps) {
    this.bots = deps.bots
    this.ledger = deps.ledger
    this.now = deps.now
    for (const bot of deps.bots) this.#users.set(bot.user.id, bot.user)
  }

  addUser(input: NewUser): ApiUser {
    const user: ApiUser = {
      id: input.id ?? this.#nextUserId++,
      is_bot: input.isBot ?? false,
      first_name: input.firstName,
      ...(input.lastName !== undefined && { last_name: input.lastName }),
      ...(input.username !== undefined && { username: input.username }),
      ...(input.languageCode !== undefined && { language_code: input.languageCode }),
    }
    this.#users.set(user.id, user)
    return user
  }

  /** Adds a group, supergroup, forum or channel with the bots in it; no update reports it. */
  addChat(input: NewChat): ApiChat {
    const chat: ApiChat = {
      id: input.id ?? (input.type === 'group' ? this.#nextGroupId-- : this.#nextSupergroupId--),
      type: input.type,
      title: input.title,
      ...(input.username !== undefined && { username: input.username }),
      ...(input.forum === true && { is_forum: true as const }),
    }
    const state = this.#open(chat)
    if (input.discusses !== undefined) this.chat(input.discusses).discussedIn = chat.id
    // Message 1 is the beginning of a group, and in a forum the General topic.
    state.messages.nextId()
    for (const member of input.members ?? []) state.members.set(this.user(member).id, 'member')
    const status = input.botStatus ?? (input.type === 'channel' ? 'administrator' : 'member')
    if (status !== 'none') for (const bot of this.bots) state.members.set(bot.user.id, status)
    return chat
  }

  /**
   * Returns the private chat between a user and the bots; opened on first use, without the bots until the user writes.
   */
  privateChat(ref: UserRef): ChatState {
    const user = this.user(ref)
    const { id, first_name, last_name, username } = user
    return (
      this.#chats.get(id) ??
      this.#open({
        id,
        type: 'private',
        first_name,
        ...(last_name !== undefined && { last_name }),
        ...(username !== undefined && { username }),
      })
    )
  }

  user(ref: UserRef): ApiUser {
    const id = typeof ref === 'number' ? ref : ref.id
    const user = this.#users.get(id)
    if (user === undefined) throw new Error(`The rehearsal knows no user ${id}; add it with addUser.`)
    return user
  }

  chat(ref: ChatRef): ChatState {
    const id = typeof ref === 'number' ? ref : ref.id
    const chat = this.#chats.get(id) ?? (this.#users.has(id) ? this.privateChat(id) : undefined)
    if (chat === undefined) throw new Error(`The rehearsal knows no chat ${id}; add it with addChat.`)
    return chat
  }

  /** Returns a chat that a call may name; undefined where the platform answers "chat not found". */
  findChat(id: number | string): ChatState | undefined {
    if (typeof id === 'number') return this.#chats.get(id) ?? (this.#users.has(id) ? this.privateChat(id) : undefined)
    const name = id.slice(1).toLowerCase()
    for (const state of this.#chats.values()) {
      if (state.chat.type !== 'private' && state.chat.username?.toLowerCase() === name) return state
    }
    return undefined
  }

  bot(ref?: UserRef): BotState {
    const id = typeof ref === 'object' ? ref.id : ref
    const bot = id === undefined ? this.bots[0] : this.bots.find((other) => other.user.id === id)
    if (bot === undefined) throw new Error(`The rehearsal knows no bot ${id ?? 'at all'}.`)
    return bot
  }

  /** Returns a new supergroup with the members of a group, which from now on only points to it. */
  protected upgrade(group: ChatState): ChatState {
    const { title = '' } = group.chat
    const state = this.chat(this.addChat({ type: 'supergroup', title, botStatus: 'none' }))
    for (const [id, status] of group.members) state.members.set(id, status)
    group.migratedTo = state.chat.id
    return state
  }

  #open(chat: ApiChat): ChatState {
    const state: ChatState = {
      chat,
      members: new Map(),
      topics: new Map(),
      messages: new MessageStore(this.ledger, this.now),
      generalClosed: false,
      migratedTo: undefined,
      discussedIn: undefined,
      membersMay: lettingMembers(true),
    }
    this.#chats.set(chat.id, state)
    return state
  }
}

/** Returns the permissions of members who may send everything, or nothing. */
export function lettingMembers(send: boolean): Readonly<Record<string, boolean>> {
  const kinds = [
    'messages',
    'audios',
    'documents',
    'photos',
    'videos',
    'video_notes',
    'voice_notes',
    'polls',
    'other_messages',
  ]
  return Object.fromEntries(kinds.map((kind) => [`can_send_${kind}`, send]))
}
