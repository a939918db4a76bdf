import { describe, expect, test } from 'vitest'
import type { ApiMessage } from '../../../src/rehearsal/telegram/api-types.ts'

import { clientOf, rehearse, withheldReasons } from './rehearsal.ts'

interface Update {
  update_id: number
  message?: ApiMessage
}

const open = { bots: [{ token: '5:a', username: 'parley_bot', canReadAllGroupMessages: true }] }

describe('messages of people', () => {
  test('carry the entities of the text: mention, command, url and hashtag', async () => {
    const server = await rehearse(open)
    const ada = server.world.addUser({ firstName: 'Ada', username: 'ada' })

    const said = server.world.say({
      from: ada,
      text: '/ask@parley_bot 😀 hi @parley_bot, see https://a.example/x. #yes a@b.example',
    })

    const found = said.entities?.map(({ type, offset, length }) => [type, said.text?.slice(offset, offset + length)])
    expect(found).toEqual([
      ['bot_command', '/ask@parley_bot'],
      ['mention', '@parley_bot'],
      ['url', 'https://a.example/x'],
      ['hashtag', '#yes'],
    ])
  })

  test('in a topic carry the thread and its creation message, in General nothing', async () => {
    const server = await rehearse(open)
    const ada = server.world.addUser({ firstName: 'Ada' })
    const chat = server.world.addChat({ type: 'supergroup', title: 'Forum', forum: true, members: [ada] })
    const topic = server.world.addTopic({ chat, name: 'Plans', by: ada })

    const inTopic = server.world.say({ from: ada, chat, topic, text: 'one' })
    const reply = server.world.say({ from: ada, chat, replyTo: inTopic, text: 'two' })
    const general = server.world.say({ from: ada, chat, text: 'three' })

    expect(inTopic).toMatchObject({
      chat: { is_forum: true },
      is_topic_message: true,
      message_thread_id: topic,
      reply_to_message: { message_id: topic, forum_topic_created: { name: 'Plans' } },
    })
    expect(reply).toMatchObject({ message_thread_id: topic, reply_to_message: { text: 'one' } })
    expect(reply.reply_to_message).not.toHaveProperty('reply_to_message')
    expect(general).not.toHaveProperty('message_thread_id')
    expect(general).not.toHaveProperty('reply_to_message')
    expect(server.world.messages(chat, { topic }).map(({ message }) => message.text)).toEqual([undefined, 'one', 'two'])
    expect(await clientOf(server)('getUpdates')).toHaveLength(3)
  })

  test('a reply in a plain supergroup carries a thread id but is no topic message', async () => {
    const server = await rehearse(open)
    const ada = server.world.addUser({ firstName: 'Ada' })
    const chat = server.world.addChat({ type: 'supergroup', title: 'Plain' })
    const root = server.world.say({ from: ada, chat, text: 'one' })

    const reply = server.world.say({ from: ada, chat, replyTo: root, text: 'two' })

    expect(reply.message_thread_id).toBe(root.message_id)
    expect(reply).not.toHaveProperty('is_topic_message')
  })

  test('hide anonymous admins and channels behind the accounts of the platform', async () => {
    const server = await rehearse(open)
    const { world } = server
    const ada = world.addUser({ firstName: 'Ada' })
    const group = world.addChat({ type: 'supergroup', title: 'Group' })
    const channel = world.addChat({ type: 'channel', title: 'News' })

    const anonymous = world.say({ from: ada, chat: group, senderChat: group, text: 'x' })
    const forwarded = { is_automatic_forward: true }
    const linked = world.say({ from: ada, chat: group, senderChat: channel, text: 'x', extra: forwarded })
    const post = world.say({ from: ada, chat: channel, text: 'x' })

    expect(anonymous).toMatchObject({ from: { id: 1087968824, is_bot: true }, sender_chat: { id: group.id } })
    expect(linked).toMatchObject({ from: { id: 777000 }, sender_chat: { id: channel.id }, is_automatic_forward: true })
    expect(post).not.toHaveProperty('from')
    expect(await clientOf(server)('getUpdates', { offset: -1 })).toMatchObject([{ channel_post: { text: 'x' } }])
  })

  test('in a channel come once more in its discussion group, with each edit, whoever has posted them', async () => {
    const server = await rehearse(open)
    const { world } = server
    const ada = world.addUser({ firstName: 'Ada' })
    const channel = world.addChat({ type: 'channel', title: 'News' })
    const group = world.addChat({ type: 'supergroup', title: 'Talk', discusses: channel })

    const post = world.say({ from: ada, chat: channel, text: 'one' })
    world.edit({ chat: channel, message: post, text: 'two' })
    await clientOf(server)('sendMessage', { chat_id: channel.id, text: 'ours' })

    const copy = {
      from: { id: 777000 },
      sender_chat: { id: channel.id },
      is_automatic_forward: true,
      chat: { id: group.id },
    }
    const ofPost = { ...copy, forward_origin: { type: 'channel', message_id: post.message_id } }
    expect(await clientOf(server)('getUpdates')).toMatchObject([
      { channel_post: { text: 'one' } },
      { message: { ...ofPost, text: 'one' } },
      { edited_channel_post: { text: 'two' } },
      { edited_message: { ...ofPost, text: 'two', edit_date: expect.any(Number) } },
      { message: { ...copy, text: 'ours' } },
    ])
  })

  test('are reported as edited though nobody has edited them, and have only fields that the platform knows', async () => {
    const server = await rehearse(open)
    const ada = server.world.addUser({ firstName: 'Ada' })
    const message = server.world.say({ from: ada, text: 'one', extra: { effect_id: '5' } })

    server.world.touch({ chat: ada, message })
    server.world.touch({ chat: ada, message, dated: true, extra: { reply_markup: { inline_keyboard: [] } } })

    const [, first, second] = (await clientOf(server)('getUpdates')) as { edited_message?: ApiMessage }[]
    expect(first?.edited_message).toEqual(message)
    expect(second?.edited_message).toMatchObject({ text: 'one', edit_date: expect.any(Number), reply_markup: {} })
    expect(() => server.world.say({ from: ada, text: 'x', extra: { checklst: {} } })).toThrow('no checklst')
  })

  test('keep 52-bit chat ids exact', async () => {
    const server = await rehearse(open)
    const id = -(2 ** 52 - 1)
    const chat = server.world.addChat({ type: 'supergroup', title: 'Far', id })
    server.world.say({ from: server.world.addUser({ firstName: 'Ada' }), chat, text: 'x' })

    const [update] = (await clientOf(server)('getUpdates')) as Update[]

    expect(update?.message?.chat.id).toBe(id)
    expect(await clientOf(server)('sendMessage', { chat_id: id, text: 'y' })).toMatchObject({ chat: { id } })
  })
})

describe('privacy mode', () => {
  test('delivers commands, replies to the bot and mentions, and records the rest', async () => {
    const server = await rehearse({ bots: [{ token: '5:a', username: 'parley_bot' }] })
    const { world } = server
    const call = clientOf(server)
    const ada = world.addUser({ firstName: 'Ada' })
    const chat = world.addChat({ type: 'supergroup', title: 'Group' })
    const own = (await call('sendMessage', { chat_id: chat.id, text: 'I am here' })) as ApiMessage
    const say = (text: string, replyTo?: ApiMessage) =>
      world.say({ from: ada, chat, text, ...(replyTo && { replyTo }) })

    const hidden = say('just talking')
    say('to another', hidden)
    say('/start@other_bot')
    say('mail me at x@parley_bot')
    say('/start')
    say('/start@Parley_Bot')
    say('hello @parley_bot')
    say('to you', own)

    const updates = (await call('getUpdates')) as Update[]
    expect(updates.map((update) => update.message?.text)).toEqual([
      '/start',
      '/start@Parley_Bot',
      'hello @parley_bot',
      'to you',
    ])
    expect(withheldReasons(server)).toEqual(['privacy', 'privacy', 'privacy', 'privacy'])
    expect(world.messages(chat, { by: 'person' })).toHaveLength(8)
    world.setMember({ chat, status: 'administrator', by: ada })
    say('an admin bot sees this')
    expect(((await call('getUpdates', { offset: -1 })) as Update[])[0]?.message?.text).toBe('an admin bot sees this')
  })

  test('does not reach a bot that was never in the group', async () => {
    const server = await rehearse(open)
    const chat = server.world.addChat({ type: 'group', title: 'Group', botStatus: 'none' })
    server.world.say({ from: server.world.addUser({ firstName: 'Ada' }), chat, text: '@parley_bot hello' })

    expect(await clientOf(server)('getUpdates')).toEqual([])
    expect(withheldReasons(server)).toEqual(['not_member'])
  })
})

describe('changes of chats', () => {
  test('my_chat_member tells the bot what it became, chat_member comes only when asked for', async () => {
    const server = await rehearse(open)
    const { world } = server
    const call = clientOf(server)
    const ada = world.addUser({ firstName: 'Ada' })
    const chat = world.addChat({ type: 'supergroup', title: 'Group' })

    world.setMember({ chat, user: ada, status: 'member' })
    world.setMember({ chat, status: 'kicked', by: ada })

    expect(await call('getUpdates')).toMatchObject([
      { message: { new_chat_members: [{ id: ada.id }] } },
      {
        my_chat_member: {
          from: { id: ada.id },
          old_chat_member: { status: 'member' },
          new_chat_member: { user: { id: 5 }, status: 'kicked' },
        },
      },
    ])
    expect(withheldReasons(server)).toEqual(['not_allowed'])
  })

  test('a migration is told in both chats', async () => {
    const server = await rehearse(open)
    const group = server.world.addChat({ type: 'group', title: 'Group' })

    const supergroup = server.world.migrate(group)

    expect(await clientOf(server)('getUpdates')).toMatchObject([
      { message: { chat: { id: group.id }, migrate_to_chat_id: supergroup.id } },
      { message: { chat: { id: supergroup.id, type: 'supergroup' }, migrate_from_chat_id: group.id } },
    ])
  })
})

describe('two bots and two servers', () => {
  test('each bot of a server has its own queue and private talks', async () => {
    const server = await rehearse({ bots: [{ token: '5:a' }, { token: '6:b', username: 'other_bot' }] })
    const ada = server.world.addUser({ firstName: 'Ada' })

    server.world.say({ from: ada, text: 'to the first' })
    server.world.say({ from: ada, bot: 6, text: 'to the second' })

    const texts = async (token: string) =>
      ((await clientOf(server, token)('getUpdates')) as Update[]).map((update) => update.message?.text)
    expect(await texts('5:a')).toEqual(['to the first'])
    expect(await texts('6:b')).toEqual(['to the second'])
  })

  test.each([
    ['group', 2],
    ['supergroup', 0],
  ] as const)('in a %s the second counts messages %i ahead of the first', async (type, ahead) => {
    const bots = ['5:a', '6:b'].map((token) => ({ token, username: token, canReadAllGroupMessages: true }))
    const server = await rehearse({ bots })
    const ada = server.world.addUser({ firstName: 'Ada' })
    const chat = server.world.addChat({ type, title: 'Family', members: [ada] })
    const first = server.world.say({ from: ada, chat, text: 'one' })
    const second = server.world.say({ from: ada, chat, text: 'two', replyTo: first })
    const numbersFor = async (token: string) => {
      const updates = (await clientOf(server, token)('getUpdates')) as Update[]
      return updates.map(({ message }) => [message?.message_id, message?.reply_to_message?.message_id])
    }
    expect(await numbersFor('5:a')).toEqual([
      [2, undefined],
      [3, 2],
    ])
    expect(await numbersFor('6:b')).toEqual([
      [2 + ahead, undefined],
      [3 + ahead, 2 + ahead],
    ])

    const call = clientOf(server, '6:b')
    const reply_parameters = { message_id: second.message_id + ahead }
    const said = { chat_id: chat.id, text: 'three', reply_parameters }
    const answer = (await call('sendMessage', said)) as ApiMessage
    expect(answer).toMatchObject({ message_id: 4 + ahead, reply_to_message: { ...reply_parameters, text: 'two' } })
    await call('editMessageText', { chat_id: chat.id, message_id: answer.message_id, text: 'four' })
    expect(server.world.messages(chat).map(({ message }) => message.text)).toEqual(['one', 'two', 'four'])
  })

  test('two servers of one process share nothing', async () => {
    const [one, two] = [await rehearse(), await rehearse()]
    one.world.say({ from: one.world.addUser({ firstName: 'Ada' }), text: 'x' })

    expect(two.ledger.entries).toEqual([])
    expect(await clientOf(two)('getUpdates')).toEqual([])
  })
})
