import type { ApiChat, ApiMessage, ApiOrigin, ApiUser, UpdateKind } from './api-types.ts'
import { messageFields } from './api-types.ts'
import type { BotState } from './bot-state.ts'
import { forwardFields } from './build-forward.ts'
import { buildMessage, hiddenSenders, seconds } from './build-message.ts'
import type {
  ChatRef,
  EditSaid,
  Forward,
  Membership,
  MessageRef,
  Migrating,
  NewTopic,
  Press,
  RawUpdate,
  Say,
  TopicRef,
  Touch,
  UserRef,
} from './driver-types.ts'
import type { MessageFilter, StoredMessage } from './message-store.ts'
import { topicOf } from './message-store.ts'
import { asNumberedFor } from './own-numbers.ts'
import { findEntities } from './text-entities.ts'
import { isAllowed, withholding } from './visibility.ts'
import type { ChatState } from './world-state.ts'
import { WorldState } from './world-state.ts'

/**
 * The script of a rehearsal: people speak, edit, press buttons, come and go. Each act changes the world and offers the
 * platform's Update to every bot that may see it. Everything is immediate and synchronous.
 */
export class TelegramWorld extends WorldState {
  #nextPressId = 4_000_000_000_000

  /**
   * Adds a topic to a forum, or to the direct chat of a bot with topics, and returns its thread id, which is the id of
   * its creation message.
   */
  addTopic(input: NewTopic): number {
    const state = this.chat(input.chat)
    if (state.chat.is_forum !== true && state.chat.type !== 'private')
      throw new Error(`Chat ${state.chat.id} is no forum; add it with forum: true.`)
    const from = input.by === undefined ? this.bot().user : this.user(input.by)
    const service = buildMessage({ state, at: this.now(), from })
    service.message_thread_id = service.message_id
    service.is_topic_message = true
    service.forum_topic_created = { name: input.name, icon_color: 7322096 }
    const id = service.message_id
    state.topics.set(id, { id, name: input.name, service, closed: false, deleted: false })
    state.messages.add(service, null)
    if (input.announce === true) this.#publish(state, 'message', service)
    return id
  }

  /** Renames a topic; the service message is offered as an update. Messages still answer the notice that made it. */
  renameTopic({ chat, topic, name, by }: TopicRef & { readonly name: string; readonly by: UserRef }): void {
    const state = this.chat(chat)
    const renamed = state.topics.get(topic)
    if (renamed === undefined) throw new Error(`Chat ${state.chat.id} has no topic ${topic}.`)
    state.topics.set(topic, { ...renamed, name })
    const service = buildMessage({ state, at: this.now(), from: this.user(by), topic })
    service.forum_topic_edited = { name }
    state.messages.add(service, null)
    this.#publish(state, 'message', service)
  }

  /** Closes a topic (the General topic by id 1): a bot without admin rights can no longer write there. */
  closeTopic(ref: TopicRef): void {
    this.#setClosed(ref, true)
  }

  /** Deletes a topic with its messages; no update notifies the bot. */
  deleteTopic(ref: TopicRef): void {
    const state = this.chat(ref.chat)
    const topic = state.topics.get(ref.topic)
    if (topic === undefined) throw new Error(`Chat ${state.chat.id} has no topic ${ref.topic}.`)
    topic.deleted = true
    for (const stored of state.messages.list({ topic: ref.topic })) state.messages.remove(stored, null)
  }

  /** Sends a person's message. It is kept also where privacy mode or membership hides it from the bot. */
  say(input: Say): ApiMessage {
    refuseUnknown(input.extra)
    const state = input.chat === undefined ? this.privateChat(input.from) : this.chat(input.chat)
    if (state.chat.type === 'private') this.#openTo(state, input)
    const replied = input.replyTo === undefined ? undefined : this.#message(state, input.replyTo).message
    const topic = input.topic ?? (replied === undefined ? undefined : (topicOf(replied) ?? undefined))
    if (topic !== undefined && !state.topics.has(topic)) throw new Error(`Chat ${state.chat.id} has no topic ${topic}.`)
    const message = buildMessage({
      state,
      at: this.now(),
      ...this.#senderOf(state, input),
      ...(topic !== undefined && { topic }),
      ...(replied !== undefined && { replyTo: replied }),
      text: input.text,
      entities: input.entities ?? findEntities(input.text),
    })
    if (input.via !== undefined) message.via_bot = this.#inlineBot(input.via)
    Object.assign(message, input.extra)
    this.#put(state, message, input)
    return message
  }

  /** Forwards a message of any chat for a person, a caption with its file too; it comes with its own entities. */
  forward({ from, chat, topic, of, hidden, old }: Forward): ApiMessage {
    const original = this.#message(this.chat(of.chat), of.message).message
    const state = chat === undefined ? this.privateChat(from) : this.chat(chat)
    if (state.chat.type === 'private') this.#openTo(state, {})
    if (topic !== undefined && !state.topics.has(topic)) throw new Error(`Chat ${state.chat.id} has no topic ${topic}.`)
    const place = topic === undefined ? {} : { topic }
    const message = buildMessage({ state, at: this.now(), ...this.#senderOf(state, { from }), ...place })
    Object.assign(message, forwardFields(original, { hidden, old }))
    this.#put(state, message, {})
    return message
  }

  /** Edits a person's message. */
  edit(input: EditSaid): ApiMessage {
    const state = this.chat(input.chat)
    const stored = this.#message(state, input.message)
    const { entities: _, ...before } = stored.message
    const entities = input.entities ?? findEntities(input.text)
    const message: ApiMessage = { ...before, text: input.text, edit_date: seconds(this.now()) }
    if (entities.length > 0) message.entities = [...entities]
    state.messages.replace(stored, message, null)
    this.#publishEdit(state, message)
    return message
  }

  /** Reports an edit though nobody has edited anything: a first reaction, a preview, new buttons. */
  touch({ chat, message: ref, dated, extra }: Touch): ApiMessage {
    refuseUnknown(extra)
    const state = this.chat(chat)
    const stored = this.#message(state, ref)
    const message = { ...stored.message, ...extra, ...(dated && { edit_date: seconds(this.now()) }) }
    state.messages.replace(stored, message, null)
    this.#publishEdit(state, message)
    return message
  }

  /** Copies what was posted in a channel, by whomever, into its discussion group, as the platform does by itself. */
  discuss({ chat, discussedIn }: ChatState, post: ApiMessage): void {
    if (discussedIn === undefined) return
    const state = this.chat(discussedIn)
    const from = hiddenSenders.linkedChannel
    const copy = buildMessage({ state, at: this.now(), from, senderChat: chat })
    const { reply_to_message: _original, ...content } = post
    Object.assign(copy, { ...content, ...copy, is_automatic_forward: true, forward_origin: originOf(chat, post) })
    state.messages.add(copy, null)
    this.#publish(state, 'message', copy)
  }

  /** Presses a button of a bot's message for a person; returns the id of the callback query. */
  press(input: Press): string {
    const state = this.chat(input.chat)
    const stored = this.#message(state, input.message)
    if (stored.botId === null) throw new Error('Only a message of a bot carries buttons.')
    const bot = this.bot(stored.botId)
    const id = String(this.#nextPressId++)
    bot.openPresses.add(id)
    const from = this.user(input.from)
    const press = { id, from, message: stored.message, chat_instance: String(-state.chat.id), data: input.data }
    this.#offer(bot, 'callback_query', press)
    return id
  }

  /** Changes the status of a bot (my_chat_member) or a person (chat_member, and a service message) in a chat. */
  setMember(input: Membership): void {
    const state = this.chat(input.chat)
    const user = this.user(input.user ?? this.bot().user)
    const before = state.members.get(user.id) ?? 'left'
    state.members.set(user.id, input.status)
    const by = input.by === undefined ? user : this.user(input.by)
    const change = {
      chat: state.chat,
      from: by,
      date: seconds(this.now()),
      old_chat_member: { user, status: before },
      new_chat_member: { user, status: input.status },
    }
    const own = this.bots.find((bot) => bot.user.id === user.id)
    if (own === undefined) {
      this.#tellComingOrGoing(state, { user, by, came: before === 'left' && input.status === 'member' })
      for (const bot of this.bots) this.#offer(bot, 'chat_member', change)
    } else this.#offer(own, 'my_chat_member', change)
  }

  /** Blocks the bot in a person's private chat, or unblocks it. */
  block(person: UserRef, blocked = true): void {
    this.setMember({ chat: this.privateChat(person).chat, status: blocked ? 'kicked' : 'member', by: person })
  }

  /**
   * Turns a group into a supergroup with a new id; sends to the old one are refused with `migrate_to_chat_id`. Both
   * chats report it: `tell` says which and in what order, for updates can be late or lost.
   */
  migrate(group: ChatRef, { tell = ['leaving', 'arriving'] }: Migrating = {}): ApiChat {
    const old = this.chat(group)
    const fresh = this.upgrade(old)
    const from = hiddenSenders.anonymousAdmin
    const leaving = buildMessage({ state: old, at: this.now(), from, senderChat: old.chat })
    leaving.migrate_to_chat_id = fresh.chat.id
    old.messages.add(leaving, null)
    const arriving = buildMessage({ state: fresh, at: this.now(), from, senderChat: fresh.chat })
    arriving.migrate_from_chat_id = old.chat.id
    fresh.messages.add(arriving, null)
    for (const notice of tell) {
      if (notice === 'leaving') this.#publish(old, 'message', leaving)
      else this.#publish(fresh, 'message', arriving)
    }
    return fresh.chat
  }

  /** Offers an update the driver cannot build: unknown kinds, nonsense, odd ids. It skips privacy and allowed_updates. */
  raw(input: RawUpdate): number {
    const bot = this.bot(input.bot)
    const { update } = input
    const write = (update_id: number) => {
      if (typeof update === 'string') return update
      return JSON.stringify('update_id' in update ? update : { update_id, ...update })
    }
    const id = bot.queue.offer({ type: 'raw', payload: null, write })
    bot.wake()
    return id
  }

  /** Sets the next update id of a bot, also above 2^31; lower than before only while nothing waits unconfirmed. */
  setNextUpdateId(updateId: number, bot?: UserRef): void {
    this.bot(bot).queue.jumpTo(updateId)
  }

  /** Returns the messages of a chat as they are now, oldest first, with their history. */
  messages(chat: ChatRef, filter: MessageFilter = {}): StoredMessage[] {
    return this.chat(chat).messages.list(filter)
  }

  #put(state: ChatState, message: ApiMessage, { bot }: Pick<Say, 'bot'>): void {
    state.messages.add(message, null)
    const readers = state.chat.type === 'private' ? [this.bot(bot)] : this.bots
    this.#publish(state, state.chat.type === 'channel' ? 'channel_post' : 'message', message, readers)
    this.discuss(state, message)
  }

  #publishEdit(state: ChatState, message: ApiMessage): void {
    this.#publish(state, state.chat.type === 'channel' ? 'edited_channel_post' : 'edited_message', message)
    this.discussEdit(state, message)
  }

  /** Changes the copy of a post that was changed, by whomever. */
  discussEdit(state: ChatState, message: ApiMessage): void {
    if (state.discussedIn === undefined) return
    const group = this.chat(state.discussedIn)
    const isCopy = ({ forward_origin: origin }: ApiMessage): boolean =>
      origin?.type === 'channel' && origin.chat.id === state.chat.id && origin.message_id === message.message_id
    const stored = group.messages.list({}).find((one) => isCopy(one.message))
    if (stored === undefined) return
    const { message_id, chat, from, date, sender_chat, is_automatic_forward, forward_origin } = stored.message
    const frame = { message_id, chat, date, forward_origin, is_automatic_forward, sender_chat, from }
    const copy = { ...message, ...frame } as ApiMessage
    group.messages.replace(stored, copy, null)
    this.#publish(group, 'edited_message', copy)
  }

  #inlineBot(ref: UserRef): ApiUser {
    const bot = this.user(ref)
    if (!bot.is_bot) throw new Error(`${bot.first_name} is no bot.`)
    return bot
  }

  #openTo(state: ChatState, input: Pick<Say, 'bot'>): void {
    const bot = this.bot(input.bot)
    if (state.members.get(bot.user.id) === undefined) state.members.set(bot.user.id, 'member')
  }

  #senderOf(
    state: ChatState,
    input: Pick<Say, 'from' | 'senderChat' | 'extra'>,
  ): { from?: ApiUser; senderChat?: ApiChat } {
    if (state.chat.type === 'channel') return { senderChat: state.chat }
    if (input.senderChat === undefined) return { from: this.user(input.from) }
    const senderChat = this.chat(input.senderChat).chat
    if (senderChat.id === state.chat.id) return { from: hiddenSenders.anonymousAdmin, senderChat }
    const linked = input.extra?.is_automatic_forward === true
    return { from: linked ? hiddenSenders.linkedChannel : hiddenSenders.channelSpeaker, senderChat }
  }

  #message(state: ChatState, ref: MessageRef): StoredMessage {
    const id = typeof ref === 'number' ? ref : ref.message_id
    const stored = state.messages.find(id)
    if (stored === undefined) throw new Error(`Chat ${state.chat.id} has no message ${id}.`)
    return stored
  }

  #setClosed({ chat, topic: id }: TopicRef, closed: boolean): void {
    const state = this.chat(chat)
    const topic = state.topics.get(id)
    if (topic !== undefined) topic.closed = closed
    else if (id === 1 && state.chat.is_forum === true) state.generalClosed = closed
    else throw new Error(`Chat ${state.chat.id} has no topic ${id}.`)
  }

  #tellComingOrGoing(state: ChatState, { user, by, came }: { user: ApiUser; by: ApiUser; came: boolean }): void {
    if (state.chat.type !== 'group' && state.chat.type !== 'supergroup') return
    const gone = !came && state.members.get(user.id) !== 'member'
    if (!came && !gone) return
    const message = buildMessage({ state, at: this.now(), from: by })
    if (came) message.new_chat_members = [user]
    else message.left_chat_member = user
    state.messages.add(message, null)
    this.#publish(state, 'message', message)
  }

  #publish(state: ChatState, type: UpdateKind, message: ApiMessage, readers = this.bots): void {
    for (const bot of readers) {
      const reason = withholding(bot, state, message)
      if (reason === null) this.#offer(bot, type, message)
      else this.ledger.append({ kind: 'withheld', at: this.now(), botId: bot.user.id, reason, type })
    }
  }

  #offer(bot: BotState, type: UpdateKind, payload: object): void {
    if (!isAllowed(bot, type)) {
      this.ledger.append({ kind: 'withheld', at: this.now(), botId: bot.user.id, reason: 'not_allowed', type })
      return
    }
    const write = (id: number) => `{"update_id":${id},"${type}":${JSON.stringify(asNumberedFor(bot, payload))}}`
    bot.queue.offer({ type, payload, write })
    bot.wake()
  }
}

function originOf(chat: ApiChat, { date, message_id }: ApiMessage): ApiOrigin {
  return { type: 'channel', date, chat, message_id }
}

/** Throws for a field that no message has: a kind that is misspelt would be rehearsed as one that came later. */
function refuseUnknown(extra: Readonly<Record<string, unknown>> = {}): void {
  const unknown = Object.keys(extra).filter((name) => !messageFields.includes(name))
  if (unknown.length > 0) throw new Error(`A message has no ${unknown.join(', ')}; offer it by raw.`)
}
