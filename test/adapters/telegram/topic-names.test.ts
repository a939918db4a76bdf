import { describe, expect, test } from 'vitest'
import { readUpdate } from '../../../adapters/telegram/inbound/read-event.ts'
import { TopicNames } from '../../../adapters/telegram/inbound/topic-names.ts'
import { context } from './inbound-context.ts'

const chat = { id: -100, type: 'supergroup', title: 'Club', is_forum: true }
const frame = { message_id: 50, chat, date: 1_795_000_000, message_thread_id: 42, is_topic_message: true }
const notice = (change: object) => ({ update_id: 1, message: { ...frame, ...change } })
const said = {
  update_id: 2,
  message: {
    ...frame,
    from: { id: 222, first_name: 'Bob' },
    text: 'hello',
    reply_to_message: { ...frame, message_id: 42, forum_topic_created: { name: 'Boats' } },
  },
}

/** Returns the titles of a message in the topic after these updates. */
function titlesAfter(...updates: readonly unknown[]) {
  const topics = new TopicNames()
  for (const update of updates) topics.note(update)
  const reading = readUpdate(said, { ...context, topics })
  return reading.kind === 'event' ? reading.event.titles : undefined
}

describe('the name of a topic', () => {
  test('is the one it began with, as long as no notice says another', () => {
    expect(titlesAfter()).toEqual({ chat: 'Club', topicBegan: 'Boats' })
    expect(titlesAfter(notice({ forum_topic_created: { name: 'Boats' } }))).toEqual({ chat: 'Club', topic: 'Boats' })
  })

  test('follows a renaming, which another icon is not', () => {
    const renamed = notice({ forum_topic_edited: { name: 'Rowing' } })
    expect(titlesAfter(renamed)).toEqual({ chat: 'Club', topic: 'Rowing' })
    expect(titlesAfter(renamed, notice({ forum_topic_edited: { icon_custom_emoji_id: '5' } }))).toEqual({
      chat: 'Club',
      topic: 'Rowing',
    })
  })

  test('of another topic or chat changes nothing', () => {
    expect(
      titlesAfter(
        notice({ message_thread_id: 43, forum_topic_edited: { name: 'Chess' } }),
        notice({ chat: { ...chat, id: -101 }, forum_topic_edited: { name: 'Chess' } }),
      ),
    ).toEqual({ chat: 'Club', topicBegan: 'Boats' })
  })

  test.each([
    undefined,
    null,
    7,
    {},
    { message: null },
    { message: { forum_topic_edited: 'x' } },
    notice({ forum_topic_edited: { name: 7 } }),
    notice({ chat: null, forum_topic_edited: { name: 'x' } }),
  ])('is not taken from %j', (update) => {
    expect(titlesAfter(update)).toEqual({ chat: 'Club', topicBegan: 'Boats' })
  })

  test.each([7, null, {}, ['x']])('a title that is %j costs nobody a message', (title) => {
    const reading = readUpdate({ ...said, message: { ...said.message, chat: { ...chat, title } } }, context)
    expect(reading).toMatchObject({ kind: 'event', event: { text: 'hello', titles: { topicBegan: 'Boats' } } })
  })
})
