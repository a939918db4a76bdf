import { afterEach, describe, expect, test } from 'vitest'
import type { OutboundPart } from '../../../src/channels/adapter.ts'
import type { Address } from '../../../src/core/address.ts'
import { parseAddress } from '../../../src/core/address.ts'
import type { RenderedPart } from '../../../src/core/outbound.ts'
import { telegramFloodLimits } from '../../../src/rehearsal/telegram/flood.ts'
import { openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

async function open(options: Parameters<typeof openRig>[0] = {}) {
  const rig = await openRig(options)
  rigs.push(rig)
  const { world } = rig.server
  const ada = world.addUser({ firstName: 'Ada' })
  world.say({ from: ada, text: '/start' })
  const direct = parseAddress(`telegram:direct:${ada.id}`)
  const family = world.addChat({ type: 'supergroup', title: 'Family', members: [ada] })
  const send = (rendered: RenderedPart, more: Partial<OutboundPart> = {}) =>
    rig.adapter.send({ address: direct, key: 'k'.repeat(25), rendered, ...more }, rig.signal)
  const calls = (method = 'sendMessage') => rig.server.ledger.calls(method)
  return { ...rig, world, ada, family, direct, send, calls }
}

const html = (text: string, plain = text): RenderedPart => ({ text, plain, markup: 'html' })
const groupOf = (id: number, topic?: number): Address =>
  parseAddress(`telegram:group:${id}${topic === undefined ? '' : `/${topic}`}`)

describe('send', () => {
  test('sends HTML without link previews, as a reply', async () => {
    const { send, calls, world, ada, family } = await open()
    const asked = world.say({ from: ada, chat: family, text: 'what?' })
    const receipt = await send(html('see <b>https://example.org</b>'), {
      address: groupOf(family.id),
      replyTo: String(asked.message_id),
    })

    expect(receipt).toEqual({ kind: 'sent', messageId: String(asked.message_id + 1) })
    expect(calls()[0]?.params).toEqual({
      chat_id: String(family.id),
      text: 'see <b>https://example.org</b>',
      parse_mode: 'HTML',
      link_preview_options: { is_disabled: true },
      reply_parameters: { message_id: asked.message_id },
    })
  })

  test('makes no sound where none is wanted', async () => {
    const { send, calls } = await open()
    await send({ ...html('night'), silent: true })
    await send(html('day'))
    expect(calls().map(({ params }) => params.disable_notification)).toEqual([true, undefined])
  })

  test('in a direct chat no answer shows what it answers', async () => {
    const { send, calls, world, ada } = await open()
    const asked = world.say({ from: ada, text: 'what?' })

    expect(await send(html('this'), { replyTo: String(asked.message_id) })).toMatchObject({ kind: 'sent' })
    expect(calls()[0]?.params).not.toHaveProperty('reply_parameters')
  })

  test('F-C01: what cannot be parsed goes out once more as plain text', async () => {
    const { send, calls } = await open()
    const receipt = await send(html('<b>bold', 'bold'))

    expect(receipt.kind).toBe('sent')
    expect(calls().map(({ params }) => [params.text, params.parse_mode])).toEqual([
      ['<b>bold', 'HTML'],
      ['bold', undefined],
    ])
  })

  test('F-C01: plain text that is refused is not tried a third time', async () => {
    const { send, calls, server } = await open()
    const body = { ok: false, error_code: 400, description: "Bad Request: can't parse entities: for ever" }
    server.faults.add({
      method: 'sendMessage',
      times: 9,
      action: { kind: 'answer', when: 'before', status: 400, body },
    })

    expect(await send(html('<b>x</b>'))).toMatchObject({ kind: 'rejected', reason: expect.stringContaining('parse') })
    expect(calls()).toHaveLength(2)
  })

  test('F-C02: a reply to a message that is gone goes out once without the reference', async () => {
    const { send, calls, family } = await open()

    expect(await send(html('answer'), { address: groupOf(family.id), replyTo: '9999' })).toMatchObject({ kind: 'sent' })
    expect(calls().map(({ params }) => params.reply_parameters)).toEqual([{ message_id: 9999 }, undefined])
  })

  test('F-C02: bad markup and a bad reference are both mended', async () => {
    const { send, calls, world, family } = await open()

    const there = { address: groupOf(family.id), replyTo: '9999' }
    expect(await send(html('<i>answer', 'answer'), there)).toMatchObject({ kind: 'sent' })
    expect(calls()).toHaveLength(3)
    expect(world.messages(family, { by: 'bot' })).toHaveLength(1)
  })

  test.each([
    ['F-C02: a text that is too long', html('x'.repeat(4097)), 'too long'],
    ['F-C02: an empty text', html('<b> </b>', ' '), 'empty'],
  ])('%s is rejected for good', async (_, rendered, reason) => {
    const { send } = await open()
    const receipt = await send(rendered)

    expect(receipt).toEqual({ kind: 'rejected', reason: expect.stringContaining(reason) })
  })

  test('F-C03: a person who blocked the bot is a permanent refusal', async () => {
    const { send, calls, world, ada } = await open()
    world.block(ada)

    expect(await send(html('hello'))).toEqual({
      kind: 'rejected',
      reason: '403: Forbidden: bot was blocked by the user',
    })
    expect(calls()).toHaveLength(1)
  })

  test('F-C04: flood control gives the time to wait and is not retried here', async () => {
    const { send, calls, server } = await open({ server: { flood: telegramFloodLimits } })
    const parameters = { retry_after: 35 }
    const body = { ok: false, error_code: 429, description: 'Too Many Requests: retry after 35', parameters }
    server.faults.add({ method: 'sendMessage', action: { kind: 'answer', when: 'before', status: 429, body } })

    expect(await send(html('hello'))).toMatchObject({ kind: 'rejected', retryAfterMs: 35_000 })
    expect(calls()).toHaveLength(1)
  })

  test.each([
    ['2.00015', 2001],
    ['3000000', 86_400_000],
    ['1e999', 86_400_000],
  ])('flood control of %s s is a wait of whole milliseconds, and no longer than a day', async (asked, retryAfterMs) => {
    const { send, server } = await open()
    const body = `{"ok":false,"error_code":429,"description":"Too Many Requests","parameters":{"retry_after":${asked}}}`
    server.faults.add({ method: 'sendMessage', action: { kind: 'answer', when: 'before', status: 429, body } })

    expect(await send(html('hello'))).toMatchObject({ kind: 'rejected', retryAfterMs })
  })

  test.each([
    ['closed', (server: Rig['server'], chat: number, topic: number) => server.world.closeTopic({ chat, topic })],
    ['deleted', (server: Rig['server'], chat: number, topic: number) => server.world.deleteTopic({ chat, topic })],
  ])('F-C06: a %s topic is a permanent refusal, and nothing falls back into the chat', async (_, spoil) => {
    const { send, calls, world, server } = await open()
    const forum = world.addChat({ type: 'supergroup', title: 'Workshop', forum: true })
    const topic = world.addTopic({ chat: forum, name: 'Engines' })
    spoil(server, forum.id, topic)
    const receipt = await send(html('hello'), { address: groupOf(forum.id, topic) })

    const reason = expect.stringMatching(/TOPIC_CLOSED|thread not found/)
    expect(receipt).toEqual({ kind: 'rejected', reason, of: 'topic' })
    expect(calls()).toHaveLength(1)
    expect(world.messages(forum, { by: 'bot' })).toEqual([])
  })

  test('a topic of a direct chat that is gone is left out, since the same person reads the chat', async () => {
    const { send, world, ada, direct, adapter, signal } = await open()
    const topic = world.addTopic({ chat: ada.id, name: 'Engines' })
    world.deleteTopic({ chat: ada.id, topic })
    const address = { ...direct, topic: String(topic) }
    const file = { media: 'x' as never, name: 'plan.txt', mime: 'text/plain', size: 4, as: 'document' } as const
    const part = { address, key: 'k'.repeat(25), rendered: html('plan') }
    expect(await send(html('hello'), { address })).toMatchObject({ kind: 'sent', address: direct })
    expect(await adapter.sendFile({ ...part, file, bytes: Buffer.from('plan') }, signal)).toMatchObject({
      kind: 'sent',
      address: direct,
    })
    const shown = world
      .messages(ada.id, { by: 'bot', topic: null })
      .map(({ message }) => message.text ?? message.caption)
    expect(shown).toEqual(['hello', 'plan'])
  })

  test.each([
    'Bad Request: message to be replied not found',
    'Bad Request: replied message not found',
    'Bad Request: reply message not found',
    'Bad Request: REPLY_MESSAGE_ID_INVALID',
    'Bad Request: REPLY_TO_INVALID',
    'Bad Request: MESSAGE_ID_INVALID',
    'Bad Request: QUOTE_TEXT_INVALID',
  ])('F-C02: an answer refused with "%s" goes out without what it answers', async (description) => {
    const { send, calls, server, world, ada, family } = await open()
    const asked = world.say({ from: ada, chat: family, text: 'what?' })
    const body = { ok: false, error_code: 400, description }
    server.faults.add({ method: 'sendMessage', action: { kind: 'answer', when: 'before', status: 400, body } })
    const address = groupOf(family.id)
    expect(await send(html('this'), { address, replyTo: String(asked.message_id) })).toMatchObject({ kind: 'sent' })
    expect(calls().map(({ params }) => params.reply_parameters !== undefined)).toEqual([true, false])
  })

  test('a keyboard that is refused is no answer that is, and is not sent again', async () => {
    const { send, calls, server, world, ada, family } = await open()
    const asked = world.say({ from: ada, chat: family, text: 'what?' })
    const body = { ok: false, error_code: 400, description: 'Bad Request: reply markup is too long' }
    server.faults.add({ method: 'sendMessage', action: { kind: 'answer', when: 'before', status: 400, body } })
    const there = { address: groupOf(family.id), replyTo: String(asked.message_id) }
    expect(await send(html('this'), there)).toEqual({ kind: 'rejected', reason: `400: ${body.description}` })
    expect(calls()).toHaveLength(1)
  })

  test('below a post every message stays there, and goes into the group once the post is gone', async () => {
    const { send, world, ada } = await open()
    const channel = world.addChat({ type: 'channel', title: 'News' })
    const group = world.addChat({ type: 'supergroup', title: 'Talk', discusses: channel, members: [ada] })
    world.say({ from: ada, chat: channel, text: 'the pool opens' })
    const post = world.messages(group)[0]?.message.message_id ?? 0
    const asked = world.say({ from: ada, chat: group, text: 'when?', replyTo: post })
    const address = { ...groupOf(group.id), post: String(post) }
    const threads = () => world.messages(group, { by: 'bot' }).map(({ message }) => message.message_thread_id)
    await send(html('at nine'), { address, replyTo: String(asked.message_id) })
    await send(html('and until six'), { address })
    await send(html('what was asked is gone'), { address, replyTo: '9999' })
    expect(threads()).toEqual([post, post, post])
    world.chat(group).messages.remove(world.messages(group)[0] as never, null)
    expect(await send(html('too late'), { address })).toEqual({
      kind: 'sent',
      messageId: expect.any(String),
      address: groupOf(group.id),
    })
    expect(threads()).toEqual([post, post, post, undefined])
  })

  test('F-C07: a group that moved names its new address', async () => {
    const { send, world } = await open()
    const group = world.addChat({ type: 'group', title: 'Old Group' })
    const moved = world.migrate(group)
    const receipt = await send(html('hello'), { address: groupOf(group.id) })

    expect(receipt).toMatchObject({ kind: 'rejected', movedTo: groupOf(moved.id) })
    expect(receipt).not.toHaveProperty('retryAfterMs')
  })

  test('F-C09: a refused token keeps the message waiting', async () => {
    const { send, server } = await open()
    const body = { ok: false, error_code: 401, description: 'Unauthorized' }
    server.faults.add({ method: 'sendMessage', action: { kind: 'answer', when: 'before', status: 401, body } })

    expect(await send(html('hello'))).toMatchObject({ kind: 'rejected', retryAfterMs: 60_000 })
  })

  test('F-G04: a chat id of any length leaves as it is', async () => {
    const { send, calls } = await open()
    await send(html('hello'), { address: parseAddress('telegram:group:-100900719925474099312345') })

    expect(calls()[0]?.params.chat_id).toBe('-100900719925474099312345')
  })

  test.each(['telegram:group:Engine Room', 'discord:channel:5', 'telegram:group:-5/90071992547409931'])(
    'the address %s is refused before anything is sent',
    async (address) => {
      const { send, calls } = await open()

      expect(await send(html('hello'), { address: parseAddress(address) })).toMatchObject({ kind: 'rejected' })
      expect(calls()).toEqual([])
    },
  )
})

describe('edit and delete', () => {
  test('F-C08: an edit that changes nothing is a success', async () => {
    const { adapter, send, direct, signal, world, ada } = await open()
    const sent = await send(html('one'))
    const target = { address: direct, messageId: sent.kind === 'sent' ? sent.messageId : '' }
    const results = [
      await adapter.edit(target, html('<b>two</b>'), signal),
      await adapter.edit(target, html('<b>two</b>'), signal),
    ]

    expect(results).toEqual([sent, sent])
    expect(world.messages(ada, { by: 'bot' })[0]?.history.map(({ text }) => text)).toEqual(['one', 'two'])
  })

  test('F-C01: an edit that cannot be parsed becomes plain text', async () => {
    const { adapter, send, direct, signal, world, ada } = await open()
    const sent = await send(html('one'))
    const target = { address: direct, messageId: sent.kind === 'sent' ? sent.messageId : '' }

    expect(await adapter.edit(target, html('<b>two', 'two'), signal)).toEqual(sent)
    expect(world.messages(ada, { by: 'bot' })[0]?.message.text).toBe('two')
  })

  test('an edit of a message that is gone is refused, a delete of it succeeds', async () => {
    const { adapter, send, direct, signal } = await open()
    const sent = await send(html('one'))
    const target = { address: direct, messageId: sent.kind === 'sent' ? sent.messageId : '' }

    expect(await adapter.delete(target, signal)).toEqual(sent)
    expect(await adapter.delete(target, signal)).toEqual(sent)
    expect(await adapter.edit(target, html('two'), signal)).toMatchObject({ kind: 'rejected' })
  })

  test('S30: a marker leaves no trace in an edit', async () => {
    const { adapter, send, direct, signal, world, ada } = await open()
    const sent = await send(html('one'))
    const target = { address: direct, messageId: sent.kind === 'sent' ? sent.messageId : '' }
    await adapter.edit(target, html('two &lt;NO_REPLY&gt;', 'two <NO_REPLY>'), signal)

    expect(world.messages(ada, { by: 'bot' })[0]?.message.text).toBe('two')
  })
})

describe('typing, pace and menu', () => {
  test('typing shows in the topic, and a failure is nobody’s concern', async () => {
    const { adapter, calls, world, signal, server } = await open()
    const forum = world.addChat({ type: 'supergroup', title: 'Workshop', forum: true })
    const topic = world.addTopic({ chat: forum, name: 'Engines' })
    server.faults.add({ method: 'sendChatAction', times: 1, action: { kind: 'reset', when: 'before' } })
    await adapter.showTyping(groupOf(forum.id, topic), signal)
    await adapter.showTyping(groupOf(forum.id, topic), signal)

    expect(calls('sendChatAction').at(-1)).toMatchObject({
      params: { chat_id: String(forum.id), action: 'typing', message_thread_id: topic },
      answer: { ok: true },
    })
  })

  test('edits wait a second in private and three in groups', async () => {
    const { adapter, direct } = await open()

    expect([adapter.editIntervalMs(direct), adapter.editIntervalMs(groupOf(-5))]).toEqual([1000, 3000])
    expect(adapter.typingLastsMs).toBe(5000)
  })

  test('the menu is registered once, and again only when it changed', async () => {
    const { adapter, calls, listen } = await open()
    const menu = [
      { name: 'new', description: 'Start afresh', who: 'anyone' },
      { name: 'not-a-name', description: 'Typed only', who: 'anyone' },
    ] as const
    await expect(adapter.registerCommands(menu, [])).rejects.toMatchObject({ code: 'unavailable' })
    await listen()
    await adapter.registerCommands(menu, [])
    await adapter.registerCommands(menu, [])
    await adapter.registerCommands([...menu, { name: 'stop', description: '', who: 'anyone' }], [])

    expect(calls('setMyCommands').map(({ params }) => params.commands)).toEqual([
      [{ command: 'new', description: 'Start afresh' }],
      [
        { command: 'new', description: 'Start afresh' },
        { command: 'stop', description: 'stop' },
      ],
    ])
  })

  test('a menu that the platform has already is not written again from a new store', async () => {
    const { adapter, calls, listen, sink } = await open()
    const menu = [{ name: 'new', description: 'Start afresh', who: 'anyone' }] as const
    await listen()
    await adapter.registerCommands(menu, [])
    await sink.state.delete('menus')
    await adapter.registerCommands(menu, [])
    await adapter.registerCommands(menu, [])
    expect([calls('setMyCommands').length, calls('getMyCommands').length]).toEqual([1, 2])
    await sink.state.delete('menus')
    await adapter.registerCommands([{ ...menu[0], description: 'Begin' }], [])
    expect(calls('setMyCommands')).toHaveLength(2)
  })

  test("an owner's commands are in the menu of their direct chat alone, and leave it with their role", async () => {
    const { adapter, calls, listen, ada } = await open()
    const menu = [
      { name: 'new', description: 'Start afresh', who: 'anyone' },
      { name: 'status', description: 'How I am', who: 'owner' },
    ] as const
    await listen()
    const stranger = '987654321'
    await adapter.registerCommands(menu, [String(ada.id), stranger, 'U333'])
    await adapter.registerCommands(menu, [String(ada.id)])
    await adapter.registerCommands(menu, [])

    const names = (params: Readonly<Record<string, unknown>>) => JSON.stringify(params.commands)
    const scope = { type: 'chat', chat_id: ada.id }
    const set = calls('setMyCommands').map(({ params, answer }) => ({
      scope: params.scope,
      ok: answer?.ok,
      all: names(params).includes('status'),
    }))
    expect(set).toEqual([
      { scope: { type: 'default' }, ok: true, all: false },
      { scope, ok: true, all: true },
      { scope: { type: 'chat', chat_id: Number(stranger) }, ok: false, all: true },
    ])
    expect(calls('deleteMyCommands').map(({ params }) => params.scope)).toEqual([scope])
  })
})
