import { LRUCache } from 'lru-cache'
import type { ChannelState } from '../../../src/channels/adapter.ts'
import { titleOf } from '../../../src/core/titles.ts'
import { isFields } from '../../shared/fields.ts'
import { toIdText } from '../address.ts'
import { isAutomatic } from './sender.ts'

const MOST_TOPICS = 1000
/** The key of the names that topics were given later: the first one comes along with each message. */
const RENAMED = 'topic-names'

interface TopicName {
  readonly name: string
  /** The topic began with another one. */
  readonly isLater?: true
}

/**
 * The names of forum topics, from the notices of the platform that make and rename them. Messages carry only the name
 * with which their topic began.
 */
export class TopicNames {
  readonly #names = new LRUCache<string, TopicName>({ max: MOST_TOPICS })
  readonly #state: Pick<ChannelState, 'get' | 'set'>
  #isStored = true

  constructor(state: Pick<ChannelState, 'get' | 'set'>) {
    this.#state = state
  }

  /** Called before the first update. */
  async load(): Promise<void> {
    const names: unknown = JSON.parse((await this.#state.get(RENAMED)) ?? '{}')
    for (const [topic, given] of isFields(names) ? Object.entries(names) : []) {
      const name = titleOf(given)
      if (name !== undefined) this.#names.set(topic, { name, isLater: true })
    }
  }

  /** Stores the names that were noted; after a failure the next call does. */
  async write(): Promise<void> {
    if (this.#isStored) return
    const later: Record<string, string> = {}
    // The oldest first, so that they are the first to go after the next start, too.
    this.#names.rforEach(({ name, isLater }, topic) => {
      if (isLater) later[topic] = name
    })
    this.#isStored = true
    try {
      await this.#state.set(RENAMED, JSON.stringify(later))
    } catch (error) {
      this.#isStored = false
      throw error
    }
  }

  /** Remembers the name that an update gives to a topic; it never throws. */
  note(update: unknown): void {
    const message = isFields(update) ? update.message : undefined
    if (!isFields(message)) return
    const named = message.forum_topic_edited ?? message.forum_topic_created
    if (!isFields(named) || !isFields(message.chat)) return
    // A topic whose icon alone was changed keeps its name.
    const name = titleOf(named.name)
    const [chat, topic] = [toIdText(message.chat.id), toIdText(message.message_thread_id)]
    if (name === undefined || chat === undefined || topic === undefined) return
    const isLater = named === message.forum_topic_edited
    this.#names.set(`${chat}/${topic}`, { name, ...(isLater ? { isLater } : {}) })
    if (isLater) this.#isStored = false
  }

  get(chat: string, topic: string): string | undefined {
    return this.#names.get(`${chat}/${topic}`)?.name
  }
}

const MOST_POSTS = 500
const POSTS = 'posts'

/**
 * The messages of discussion groups that are posts of a channel, from the updates that bring them or answer them. A
 * comment that answers another comment has only the number of its post.
 */
export class Posts {
  readonly #posts = new LRUCache<string, true>({ max: MOST_POSTS })
  readonly #state: Pick<ChannelState, 'get' | 'set'>
  /** False while a post was noted that is not stored yet. */
  isStored = true

  constructor(state: Pick<ChannelState, 'get' | 'set'>) {
    this.#state = state
  }

  /** Called before the first update. */
  async load(): Promise<void> {
    const posts = (await this.#state.get(POSTS)) ?? ''
    for (const post of posts.split(' ')) this.#posts.set(post, true)
  }

  /** Stores the posts that were noted; after a failure the next call does. */
  async write(): Promise<void> {
    if (this.isStored) return
    this.isStored = true
    try {
      // The oldest first, so that they are the first to go after the next start, too.
      await this.#state.set(POSTS, [...this.#posts.rkeys()].join(' '))
    } catch (error) {
      this.isStored = false
      throw error
    }
  }

  /** Remembers the posts in an update; it never throws. */
  note(update: unknown): void {
    const message = isFields(update) ? update.message : undefined
    if (!isFields(message)) return
    for (const one of [message, message.reply_to_message]) {
      const post = isFields(one) && isAutomatic(one) && isFields(one.chat) ? one : undefined
      const [chat, id] = [toIdText(isFields(post?.chat) ? post.chat.id : undefined), toIdText(post?.message_id)]
      if (chat === undefined || id === undefined) continue
      this.isStored &&= this.#posts.has(`${chat}/${id}`)
      this.#posts.set(`${chat}/${id}`, true)
    }
  }

  has(chat: string, id: string): boolean {
    return this.#posts.has(`${chat}/${id}`)
  }
}
