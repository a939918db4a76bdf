import { describe, expect, test } from 'vitest'
import { telegramFloodLimits } from '../../../src/rehearsal/telegram/flood.ts'
import { clientOf, raw, refusal, rehearse } from './rehearsal.ts'

describe('authorization and names', () => {
  test('401 for an unknown token, 404 for a malformed one and for an unknown method', async () => {
    const server = await rehearse()
    const status = async (path: string) => (await fetch(`${server.apiRoot}/${path}`)).status

    expect(await status('bot42:wrong/getMe')).toBe(401)
    expect(await status('botnonsense/getMe')).toBe(404)
    expect(await status(`bot${server.token}/fly`)).toBe(404)
    expect(await status(`bot${server.token}/GETME`)).toBe(200)
  })

  test('getMe tells whether privacy mode hides group messages', async () => {
    const server = await rehearse({ bots: [{ token: '5:a', username: 'ada_bot', canReadAllGroupMessages: true }] })
    expect(await clientOf(server)('getMe')).toMatchObject({
      id: 5,
      is_bot: true,
      username: 'ada_bot',
      can_read_all_group_messages: true,
    })
  })
})

describe('sendMessage', () => {
  test.each([
    ['urlencoded', new URLSearchParams({ chat_id: '1001', text: 'hi' })],
    ['multipart', formOf({ chat_id: '1001', text: 'hi', reply_parameters: '{"message_id":1}' })],
  ])('takes %s bodies', async (_name, body) => {
    const server = await rehearse()
    server.world.say({ from: server.world.addUser({ firstName: 'Ada' }), text: 'hello' })

    const response = await fetch(`${server.apiRoot}/bot${server.token}/sendMessage`, { method: 'POST', body })

    expect(response.status).toBe(200)
    expect(server.world.messages(1001, { by: 'bot' }).map(({ message }) => message.text)).toEqual(['hi'])
  })

  test('takes a file by sendDocument alone: one beside a text is left out', async () => {
    const server = await rehearse()
    server.world.say({ from: server.world.addUser({ firstName: 'Ada' }), text: 'hello' })
    const send = async (method: string, text: Record<string, string>) => {
      const body = formOf({ chat_id: '1001', ...text })
      body.append('document', new Blob(['x']), 'x.txt')
      return (await fetch(`${server.apiRoot}/bot${server.token}/${method}`, { method: 'POST', body })).status
    }

    expect(await send('sendDocument', { caption: 'a file' })).toBe(200)
    expect(await send('sendMessage', { text: 'hi' })).toBe(200)

    const [document, text] = server.world.messages(1001, { by: 'bot' }).map(({ message }) => message)
    expect(document).toMatchObject({ caption: 'a file', document: { file_name: 'x.txt', file_size: 1 } })
    expect(text).toMatchObject({ text: 'hi' })
    expect(text).not.toHaveProperty('document')
    expect(server.ledger.count((entry) => entry.kind === 'unrehearsed')).toBe(0)
  })

  test('refuses texts as the platform does, counted after entity parsing in UTF-16 units', async () => {
    const server = await rehearse()
    const { id } = server.world.addUser({ firstName: 'Ada' })
    server.world.say({ from: id, text: 'hello' })
    const send = (params: object) => refusal(server, 'sendMessage', { chat_id: id, ...params })

    expect(await send({ text: ' \n ' })).toBe('400 Bad Request: message text is empty')
    expect(await send({ text: '<b> </b>', parse_mode: 'HTML' })).toBe('400 Bad Request: message text is empty')
    expect(await send({ text: 'x'.repeat(4097) })).toBe('400 Bad Request: message is too long')
    expect(await send({ text: '😀'.repeat(2049) })).toBe('400 Bad Request: message is too long')
    expect(await send({ text: `<b>${'😀'.repeat(2048)}</b>`, parse_mode: 'HTML' })).toBe('accepted')
    expect(await send({ text: 'x', parse_mode: 'MarkdownV2' })).toContain('not rehearsed')
    expect(await send({ text: 'lone \ud800 half' })).toContain('UTF-8')
  })

  test('refuses chats that are unknown, not started, blocked, left or upgraded', async () => {
    const server = await rehearse()
    const { world } = server
    const silent = world.addUser({ firstName: 'Silent' })
    const blocker = world.addUser({ firstName: 'Blocker' })
    world.say({ from: blocker, text: 'hello' })
    world.block(blocker)
    const gone = world.addChat({ type: 'supergroup', title: 'Gone' })
    world.setMember({ chat: gone, status: 'kicked' })
    const small = world.addChat({ type: 'group', title: 'Small' })
    const big = world.migrate(small)
    const send = (chat_id: number | string) => refusal(server, 'sendMessage', { chat_id, text: 'x' })

    expect(await send(-999)).toBe('400 Bad Request: chat not found')
    expect(await send('')).toBe('400 Bad Request: chat_id is empty')
    expect(await send(silent.id)).toBe("403 Forbidden: bot can't initiate conversation with a user")
    expect(await send(blocker.id)).toBe('403 Forbidden: bot was blocked by the user')
    expect(await send(gone.id)).toBe('403 Forbidden: bot was kicked from the supergroup chat')
    expect(await raw(server, 'sendMessage', { chat_id: small.id, text: 'x' })).toMatchObject({
      status: 400,
      body: { parameters: { migrate_to_chat_id: big.id } },
    })
    expect(await send(big.id)).toBe('accepted')
  })

  test('sends into topics, knows General by no id at all, and refuses closed, deleted and unknown ones', async () => {
    const server = await rehearse()
    const { world } = server
    const forum = world.addChat({ type: 'supergroup', title: 'Forum', forum: true })
    const [open, closed, deleted] = ['Open', 'Closed', 'Deleted'].map((name) => world.addTopic({ chat: forum, name }))
    world.closeTopic({ chat: forum, topic: closed ?? 0 })
    world.deleteTopic({ chat: forum, topic: deleted ?? 0 })
    const send = (message_thread_id?: number) =>
      refusal(server, 'sendMessage', { chat_id: forum.id, text: 'x', message_thread_id })

    expect(await send(open)).toBe('accepted')
    expect(await send()).toBe('accepted')
    expect(await send(1)).toBe('400 Bad Request: message thread not found')
    expect(await send(closed)).toBe('400 Bad Request: TOPIC_CLOSED')
    expect(await send(deleted)).toBe('400 Bad Request: message thread not found')
    expect(await send(77)).toBe('400 Bad Request: message thread not found')
    const action = { chat_id: forum.id, action: 'typing', message_thread_id: 1 }
    expect(await refusal(server, 'sendChatAction', action)).toBe('accepted')
    const [sent] = world.messages(forum, { by: 'bot', topic: open ?? 0 })
    expect(sent?.message).toMatchObject({
      is_topic_message: true,
      message_thread_id: open,
      reply_to_message: { forum_topic_created: { name: 'Open' } },
    })
    expect(world.messages(forum, { by: 'bot', topic: null })[0]?.message).not.toHaveProperty('message_thread_id')
  })

  test('replies, and refuses a reply to nothing unless it may be sent without', async () => {
    const server = await rehearse()
    const said = server.world.say({ from: server.world.addUser({ firstName: 'Ada' }), text: 'hello' })
    const reply = (reply_parameters: object) => ({ chat_id: 1001, text: 'x', reply_parameters })

    expect(await refusal(server, 'sendMessage', reply({ message_id: 99 }))).toBe(
      '400 Bad Request: message to be replied not found',
    )
    const loose = reply({ message_id: 99, allow_sending_without_reply: true })
    expect(await refusal(server, 'sendMessage', loose)).toBe('accepted')
    expect(await clientOf(server)('sendMessage', reply({ message_id: said.message_id }))).toMatchObject({
      reply_to_message: { message_id: said.message_id, text: 'hello' },
    })
  })

  test('is limited by flood control when asked for, with retry_after', async () => {
    let now = 1_000_000
    const server = await rehearse({ flood: telegramFloodLimits, now: () => now })
    const group = server.world.addChat({ type: 'supergroup', title: 'Busy' })
    const send = () => raw(server, 'sendMessage', { chat_id: group.id, text: 'x' })

    const burst = [await send(), await send(), await send(), await send()]
    expect(burst.map(({ status }) => status)).toEqual([200, 200, 200, 429])
    expect(burst[3]?.body).toMatchObject({
      description: 'Too Many Requests: retry after 1',
      parameters: { retry_after: 1 },
    })
    for (let i = 0; i < 17; i++) {
      now += 1000
      expect((await send()).status).toBe(200)
    }
    now += 1000
    expect((await send()).body.parameters).toEqual({ retry_after: 42 })
  })
})

describe('editMessageText and deleteMessage', () => {
  test('keep the history of a message and refuse what cannot be changed', async () => {
    const server = await rehearse()
    const call = clientOf(server)
    const said = server.world.say({ from: server.world.addUser({ firstName: 'Ada' }), text: 'hello' })
    const group = server.world.addChat({ type: 'supergroup', title: 'Group' })
    const foreign = server.world.say({ from: 1001, chat: group, text: 'mine' })
    const { message_id } = (await call('sendMessage', { chat_id: 1001, text: 'a' })) as { message_id: number }
    const edit = (params: object) => refusal(server, 'editMessageText', { chat_id: 1001, message_id, ...params })

    expect(await edit({ text: 'a' })).toContain('400 Bad Request: message is not modified')
    expect(await edit({ text: '<b>a</b>', parse_mode: 'HTML' })).toBe('accepted')
    expect(await edit({ text: 'b' })).toBe('accepted')
    expect(await edit({ text: 'c', message_id: 99 })).toBe('400 Bad Request: message to edit not found')
    expect(await edit({ text: 'c', message_id: said.message_id })).toBe("400 Bad Request: message can't be edited")
    expect(await edit({ text: 'x'.repeat(4097) })).toBe('400 Bad Request: MESSAGE_TOO_LONG')
    const [stored] = server.world.messages(1001, { by: 'bot' })
    expect(stored?.history.map(({ text }) => text)).toEqual(['a', 'a', 'b'])
    const remove = (chat_id: number, id: number) => refusal(server, 'deleteMessage', { chat_id, message_id: id })
    expect(await remove(group.id, foreign.message_id)).toBe("400 Bad Request: message can't be deleted")
    expect(await remove(1001, message_id)).toBe('accepted')
    expect(await remove(1001, message_id)).toBe('400 Bad Request: message to delete not found')
    expect(await edit({ text: 'd' })).toBe('400 Bad Request: message to edit not found')
    expect(server.world.messages(1001, { by: 'bot' })).toEqual([])
  })
})

describe('commands and buttons', () => {
  test('setMyCommands refuses bad names and gives the list back by scope', async () => {
    const server = await rehearse()
    const commands = [{ command: 'new', description: 'Start over' }]
    const scope = { type: 'all_private_chats' }

    const bad = { commands: [{ command: 'New!', description: 'x' }] }
    expect(await refusal(server, 'setMyCommands', bad)).toBe('400 Bad Request: BOT_COMMAND_INVALID')
    await clientOf(server)('setMyCommands', { commands, scope })
    expect(await clientOf(server)('getMyCommands', { scope })).toEqual(commands)
    expect(await clientOf(server)('getMyCommands')).toEqual([])
  })

  test('a press comes as callback_query and can be answered once', async () => {
    const server = await rehearse()
    const call = clientOf(server)
    const ada = server.world.addUser({ firstName: 'Ada' })
    server.world.say({ from: ada, text: 'hello' })
    const reply_markup = { inline_keyboard: [[{ text: 'Yes', callback_data: 'y' }]] }
    const sent = (await call('sendMessage', { chat_id: ada.id, text: 'Sure?', reply_markup })) as { message_id: number }
    const long = { inline_keyboard: [[{ text: 'Yes', callback_data: 'y'.repeat(65) }]] }
    expect(await refusal(server, 'sendMessage', { chat_id: ada.id, text: 'x', reply_markup: long })).toBe(
      '400 Bad Request: BUTTON_DATA_INVALID',
    )

    const callback_query_id = server.world.press({ from: ada, chat: ada, message: sent, data: 'y' })

    expect(await call('getUpdates', { offset: -1 })).toMatchObject([
      { callback_query: { id: callback_query_id, data: 'y', from: { id: ada.id }, message: sent } },
    ])
    expect(await call('answerCallbackQuery', { callback_query_id })).toBe(true)
    expect(await refusal(server, 'answerCallbackQuery', { callback_query_id })).toContain('query is too old')
  })
})

function formOf(fields: Record<string, string>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields)) form.append(name, value)
  return form
}
