import { describe, expect, test } from 'vitest'
import { TopicNames } from '../../../adapters/telegram/inbound/known-threads.ts'
import { readUpdate } from '../../../adapters/telegram/inbound/read-event.ts'
import { RecordingSink } from '../../contracts/recording-sink.ts'
import { context } from './inbound-context.ts'
import { adapterFor, openRig } from './rig.ts'

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
  const topics = new TopicNames(new RecordingSink().state)
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

describe('a later name of a topic', () => {
  const renamed = notice({ forum_topic_edited: { name: 'Rowing' } })

  test('is the name after a start, which the name it began with is not', async () => {
    const rig = await openRig()
    const { world } = rig.server
    const bob = world.addUser({ id: 222, firstName: 'Bob' })
    const { id: club } = world.addChat({ type: 'supergroup', title: 'Club', forum: true, members: [bob] })
    const topic = world.addTopic({ chat: club, name: 'Boats' })
    await rig.listen()
    world.renameTopic({ chat: club, topic, name: 'Rowing', by: bob })
    const { ledger } = rig.server
    await ledger.confirmed(ledger.updateIdOf(world.say({ from: bob, chat: club, topic, text: 'one' })))
    await rig.adapter.stop()
    const sink = new RecordingSink(rig.sink.stored)
    const again = adapterFor(rig.server)
    try {
      await again.start(sink, rig.signal)
      world.say({ from: bob, chat: club, topic, text: 'two' })
      await sink.committed(1)
      expect(sink.events).toMatchObject([{ text: 'two', titles: { topic: 'Rowing' } }])
    } finally {
      await again.stop()
      await rig.close()
    }
  })

  test('that could not be stored is stored with the next one', async () => {
    const { state, stored } = new RecordingSink()
    let isFull = true
    const set: typeof state.set = (...given) => (isFull ? Promise.reject(new Error('full')) : state.set(...given))
    const topics = new TopicNames({ ...state, set })
    topics.note(renamed)
    await expect(topics.write()).rejects.toThrow('full')
    isFull = false
    await topics.write()
    const later = new TopicNames({ ...state, set: () => Promise.reject(new Error('nothing is new')) })
    await later.load()
    await later.write()
    expect(later.get('-100', '42')).toBe('Rowing')
    expect([...stored.values()].join()).not.toContain('Boats')
  })

  test.each(['null', '7', '[]', '{"-100/42":7}', '{"-100/42":{"name":"x"}}'])('is not taken from %j', async (text) => {
    const topics = new TopicNames(new RecordingSink(new Map([['topic-names', text]])).state)
    await topics.load()
    expect(topics.get('-100', '42')).toBeUndefined()
  })
})
