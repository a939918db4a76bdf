import { LRUCache } from 'lru-cache'
import { titleOf } from '../../../src/core/titles.ts'
import { isFields } from '../../shared/fields.ts'
import { toIdText } from '../address.ts'

/** The name with which a forgotten topic began still comes along with each message in it. */
const MOST_TOPICS = 1000

/**
 * The names of forum topics, from the notices of the platform that make and rename them. Messages carry only the name
 * with which their topic began.
 */
export class TopicNames {
  readonly #names = new LRUCache<string, string>({ max: MOST_TOPICS })

  /** Remembers the name that an update gives to a topic; it never throws. */
  note(update: unknown): void {
    const message = isFields(update) ? update.message : undefined
    if (!isFields(message)) return
    const named = message.forum_topic_edited ?? message.forum_topic_created
    if (!isFields(named) || !isFields(message.chat)) return
    // A topic whose icon alone was changed keeps its name.
    const name = titleOf(named.name)
    const [chat, topic] = [toIdText(message.chat.id), toIdText(message.message_thread_id)]
    if (name !== undefined && chat !== undefined && topic !== undefined) this.#names.set(`${chat}/${topic}`, name)
  }

  get(chat: string, topic: string): string | undefined {
    return this.#names.get(`${chat}/${topic}`)
  }
}
