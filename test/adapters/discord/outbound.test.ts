import { afterEach, describe, expect, test } from 'vitest'
import type { OutboundPart, RenderedPart } from '../../../src/channels/adapter.ts'
import { parseAddress } from '../../../src/core/address.ts'
import { armFailpoints } from '../../../src/core/failpoint.ts'
import type { DeliveryReceipt } from '../../../src/core/outbound.ts'
import { addressOf, openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

const markdown = (text: string): RenderedPart => ({ text, plain: text, markup: 'markdown' })
let keys = 0
/** A message with it shows no previews of the links in it. */
const SUPPRESS_EMBEDS = 1 << 2

async function open(options: Parameters<typeof openRig>[0] = {}) {
  const rig = await openRig(options)
  rigs.push(rig)
  const { adapter, server, channel, signal } = rig
  const address = addressOf('channel', channel.id)
  const send = (text: string, more: Partial<OutboundPart> = {}) =>
    adapter.send({ address, rendered: markdown(text), key: `key-${++keys}`, ...more }, signal)
  const texts = () => server.world.messages(channel, { bot: true }).map(({ message }) => message.content)
  return { ...rig, address, send, texts, calls: (method = 'createMessage') => server.ledger.calls(method) }
}

const idOf = (receipt: DeliveryReceipt) => (receipt.kind === 'sent' ? receipt.messageId : '')

describe('send', () => {
  test('a lost answer is unknown and never repeated, and the same key gives the first message back', async () => {
    const { send, texts, server, calls } = await open()
    server.faults.add({ method: 'createMessage', action: { kind: 'reset', when: 'after' } })
    expect(await send('hello', { key: 'once' })).toMatchObject({ kind: 'unknown' })
    expect(calls()).toHaveLength(1)
    expect(await send('hello', { key: 'once' })).toMatchObject({ kind: 'sent' })
    expect(texts()).toEqual(['hello'])
  })

  test('a crash can be had right after the bytes left and right after the answer was read', async () => {
    const { send } = await open()
    const passed: string[] = []
    armFailpoints((point) => passed.push(point))
    await send('hello')
    armFailpoints(() => {})
    expect(passed).toEqual(['CP12-bytes-written', 'CP13-response-read'])
  })

  test('a first message that shows less than this one is brought up to it', async () => {
    const { send, texts } = await open()
    const first = await send('Once upon', { key: 'growing' })
    expect(await send('Once upon a time', { key: 'growing' })).toEqual(first)
    expect(texts()).toEqual(['Once upon a time'])
  })

  test.each([502, 500])('an answer %i says nothing about what was done', async (status) => {
    const { send, server, calls } = await open()
    server.faults.add({ method: 'createMessage', action: { kind: 'answer', when: 'after', status, body: '<html>' } })
    expect(await send('hello')).toMatchObject({ kind: 'unknown' })
    expect(calls()).toHaveLength(1)
  })

  test('F-I10: whatever it says, nobody is pinged, nor the author of what is replied to', async () => {
    const { send, server, channel, ada } = await open()
    const asked = server.world.say({ from: ada, channel, text: 'hi' })
    const text = `@everyone @here <@${ada.id}> <@!${ada.id}> <@&5> ${'<@6> '.repeat(300)}`
    await send(text, { replyTo: asked.id })
    const [sent] = server.world.messages(channel, { bot: true })
    expect(sent?.message).toMatchObject({ mention_everyone: false, mentions: [] })
    expect(sent?.message.message_reference?.message_id).toBe(asked.id)
  })

  test('F-I06: no link in it is previewed, which would tell its host that somebody reads', async () => {
    const { send, server, channel } = await open()
    await send('see https://thief.example.net/?q=secret')
    const [sent] = server.world.messages(channel, { bot: true })
    expect((sent?.message.flags ?? 0) & SUPPRESS_EMBEDS).toBe(SUPPRESS_EMBEDS)
  })

  test('makes no sound where none is wanted', async () => {
    const { adapter, address, signal, server, channel } = await open()
    const part = { text: 'night', plain: 'night', markup: 'markdown' } as const
    await adapter.send({ address, key: 'k'.repeat(25), rendered: { ...part, silent: true } }, signal)
    const [sent] = server.world.messages(channel, { bot: true })
    expect(sent?.message.flags).toBe(SUPPRESS_EMBEDS | 4096)
  })

  test('a reply to a message that is gone is sent without it', async () => {
    const { send, texts } = await open()
    expect(await send('hello', { replyTo: '5' })).toMatchObject({ kind: 'sent' })
    expect(texts()).toEqual(['hello'])
  })

  test.each(['no_history', 'system'] as const)(
    'an answer that may not be shown as one (%s) is sent without',
    async (why) => {
      const { send, texts, calls, server, channel, ada, adapter, address, signal } = await open()
      const extra = why === 'system' ? { type: 7 } : {}
      const asked = server.world.say({ from: ada, channel, text: 'hi', extra })
      if (why === 'no_history') server.world.setAccess(channel, 'no_history')
      const file = { media: 'x' as never, name: 'plan.txt', mime: 'text/plain', size: 4, as: 'document' } as const
      const part = { address, key: 'file', rendered: markdown('plan'), replyTo: asked.id }
      expect(await send('hello', { replyTo: asked.id })).toMatchObject({ kind: 'sent' })
      expect(await adapter.sendFile({ ...part, file, bytes: Buffer.from('plan') }, signal)).toMatchObject({
        kind: 'sent',
      })
      expect(texts()).toEqual(['hello', 'plan'])
      // Where none may be shown as an answer, the next one is not tried as one.
      expect(calls()).toHaveLength(why === 'system' ? 4 : 3)
    },
  )

  test('an answer that was refused for what it answers is sent without', async () => {
    const { send, texts, server } = await open()
    const body = { message: 'Unknown Message', code: 10_008 }
    server.faults.add({ method: 'createMessage', action: { kind: 'answer', when: 'before', status: 404, body } })
    expect(await send('hello', { replyTo: '5' })).toMatchObject({ kind: 'sent' })
    expect(texts()).toEqual(['hello'])
  })

  test('a thread that is locked or gone is a refusal of the thread, and nothing falls back to its channel', async () => {
    const { send, texts, server, channel, address } = await open()
    const thread = server.world.addThread({ channel, name: 'plans' })
    server.world.setThread(thread, { locked: true })
    const to = (topic: string) => send('hello', { address: { ...address, topic } })
    expect(await to(thread.id)).toEqual({ kind: 'rejected', reason: '160005: Thread is locked', of: 'topic' })
    expect(await to('5')).toEqual({ kind: 'rejected', reason: '10003: Unknown Channel', of: 'topic' })
    expect(texts()).toEqual([])
  })

  test('a person is written to in their direct chat, which is opened once', async () => {
    const { send, server, ada, calls } = await open()
    const address = addressOf('direct', ada.id)
    await send('one', { address })
    await send('two', { address })
    expect(calls('openDirect')).toHaveLength(1)
    expect(server.world.messages(server.world.direct(ada).channel)).toHaveLength(2)
  })

  test.each(['telegram:group:-5', 'discord:channel:engines', 'discord:channel:5/plans'])(
    'the address %s is refused before anything is sent',
    async (address) => {
      const { send, server } = await open()
      expect(await send('hello', { address: parseAddress(address) })).toMatchObject({ kind: 'rejected' })
      expect(server.ledger.entries.filter(({ kind }) => kind === 'call')).toEqual([])
    },
  )
})

describe('F-C10: refusals that stay', () => {
  type Opened = Awaited<ReturnType<typeof open>>
  test.each([
    ['a channel that is gone', () => '5', '10003: Unknown Channel'],
    ['a hidden channel', (opened: Opened) => closed(opened, 'hidden'), '50001: Missing Access'],
    ['a read-only channel', (opened: Opened) => closed(opened, 'read_only'), '50013: Missing Permissions'],
    ['a locked thread', (opened: Opened) => lockedThread(opened), '160005: Thread is locked'],
  ])('%s', async (_, spoil, reason) => {
    const opened = await open()
    const receipt = await opened.send('hello', { address: addressOf('channel', spoil(opened)) })
    expect(receipt).toEqual({ kind: 'rejected', reason })
  })

  test('a person who takes no messages', async () => {
    const { send, server } = await open()
    const eve = server.world.addUser({ username: 'eve', closedDirect: true })
    expect(await send('hello', { address: addressOf('direct', eve.id) })).toEqual({
      kind: 'rejected',
      reason: '50007: Cannot send messages to this user',
    })
  })

  test('F-C02: a text that is too long', async () => {
    const { send } = await open()
    expect(await send('x'.repeat(2001))).toMatchObject({
      kind: 'rejected',
      reason: expect.stringContaining('2000 or fewer'),
    })
  })

  function closed({ server, channel }: Opened, access: 'hidden' | 'read_only'): string {
    server.world.setAccess(channel, access)
    return channel.id
  }

  function lockedThread({ server, channel }: Opened): string {
    const thread = server.world.addThread({ channel, name: 'plans' })
    server.world.setThread(thread, { locked: true })
    return thread.id
  }
})

describe('F-C11: refusals that pass', () => {
  test('an empty bucket gives the time to wait, and is asked no second time before it', async () => {
    const { send, calls } = await open({ server: { rateLimit: { limit: 2, windowMs: 60_000 } } })
    await send('one')
    await send('two')
    const receipts = [await send('three'), await send('four')]
    for (const receipt of receipts)
      expect(receipt).toMatchObject({ kind: 'rejected', retryAfterMs: expect.any(Number) })
    expect(calls()).toHaveLength(2)
  })

  test('a 429 whose time cannot be read is waited for a while', async () => {
    const { send, server } = await open()
    const headers = { 'retry-after': 'soon', 'x-ratelimit-reset-after': 'soon' }
    const body = { message: 'slow down', retry_after: 'soon', global: false }
    server.faults.add({
      method: 'createMessage',
      action: { kind: 'answer', when: 'before', status: 429, body, headers },
    })
    expect(await send('hello')).toMatchObject({ kind: 'rejected', retryAfterMs: 5_000 })
  })

  test('a 429 that comes all the same gives its own time', async () => {
    const { send, server } = await open()
    const body = { message: 'You are being rate limited.', retry_after: 35, global: true }
    const headers = { 'retry-after': '35', 'x-ratelimit-global': 'true' }
    server.faults.add({
      method: 'createMessage',
      action: { kind: 'answer', when: 'before', status: 429, body, headers },
    })
    const receipt = await send('hello')
    expect(receipt).toMatchObject({ kind: 'rejected', reason: expect.stringContaining('429') })
    expect(receipt.kind === 'rejected' && receipt.retryAfterMs).toBeGreaterThanOrEqual(35_000)
  })

  test.each([
    ['3000000', 86_400_000],
    ['1e999', 86_400_000],
  ])('a refusal for %s s is a wait of a day', async (asked, retryAfterMs) => {
    const { send, server } = await open()
    const body = `{"code":20016,"message":"Slow down","retry_after":${asked}}`
    server.faults.add({ method: 'createMessage', action: { kind: 'answer', when: 'before', status: 400, body } })
    expect(await send('hello')).toMatchObject({ kind: 'rejected', retryAfterMs })
  })

  test('a server that repeats what it was sent gets the token into no text of ours', async () => {
    const { send, server } = await open()
    for (const filler of [0, 280]) {
      const body = { code: 50035, message: `${'x'.repeat(filler)} Bot ${server.token}` }
      server.faults.add({ method: 'createMessage', action: { kind: 'answer', when: 'before', status: 400, body } })
      expect(JSON.stringify(await send('hello'))).not.toContain(server.token.slice(0, 8))
    }
  })

  test('F-C09: a refused token keeps the message waiting, and one that is given back works at once', async () => {
    const { send, server } = await open()
    const { token } = server
    server.token = 'another'
    expect(await send('hello')).toMatchObject({ kind: 'rejected', retryAfterMs: 60_000 })
    server.token = token
    expect(await send('hello')).toMatchObject({ kind: 'sent' })
  })
})

describe('edit, delete, typing', () => {
  test('an edit replaces the text, also by the same; a message that is gone is refused', async () => {
    const { adapter, send, address, texts, signal } = await open()
    const messageId = idOf(await send('one'))
    const target = { address, messageId }
    expect(await adapter.edit(target, markdown('two'), signal)).toEqual({ kind: 'sent', messageId })
    expect(await adapter.edit(target, markdown('two'), signal)).toEqual({ kind: 'sent', messageId })
    expect(texts()).toEqual(['two'])
    expect(await adapter.delete(target, signal)).toEqual({ kind: 'sent', messageId })
    expect(await adapter.delete(target, signal)).toEqual({ kind: 'sent', messageId })
    expect(await adapter.edit(target, markdown('three'), signal)).toEqual({
      kind: 'rejected',
      reason: '10008: Unknown Message',
    })
  })

  test('S30: a marker leaves no trace in an edit', async () => {
    const { adapter, send, address, texts, signal } = await open()
    const messageId = idOf(await send('one'))
    await adapter.edit({ address, messageId }, markdown('two **<NO_REPLY>**'), signal)
    expect(texts()).toEqual(['two'])
  })

  test('typing shows in the thread, and a failure is nobody’s concern', async () => {
    const { adapter, server, channel, signal, calls } = await open()
    const thread = server.world.addThread({ channel, name: 'plans' })
    server.faults.add({ method: 'showTyping', action: { kind: 'reset', when: 'before' } })
    const address = addressOf('channel', channel.id, { topic: thread.id })
    await adapter.showTyping(address, signal)
    await adapter.showTyping(address, signal)
    expect(calls('showTyping').at(-1)).toMatchObject({ path: `/channels/${thread.id}/typing`, status: 204 })
  })
})

describe('findOwn', () => {
  async function lose() {
    const opened = await open()
    await opened.listen()
    const lost = { address: opened.address, key: 'k', rendered: markdown(' hello '), ageMs: 1000 }
    return { ...opened, lost, find: () => opened.adapter.findOwn(lost, opened.signal) }
  }

  test('finds what arrived, by author and text', async () => {
    const { find, send, server, ada, channel } = await lose()
    server.world.say({ from: ada, channel, text: 'hello' })
    const sent = await send('hello')
    expect(await find()).toEqual({ kind: 'found', messages: [{ messageId: idOf(sent) }] })
  })

  test('says that nothing arrived', async () => {
    const { find, send, server, ada, channel } = await lose()
    server.world.say({ from: ada, channel, text: 'hello' })
    await send('something else')
    expect(await find()).toEqual({ kind: 'absent' })
  })

  test('looks through more than one page, and no further than five', async () => {
    const { find, send, server, ada, channel } = await lose()
    for (let count = 0; count < 130; count++) server.world.say({ from: ada, channel, text: 'chatter' })
    const sent = await send('hello')
    expect(await find()).toEqual({ kind: 'found', messages: [{ messageId: idOf(sent) }] })
    server.world.remove(channel, idOf(sent))
    for (let count = 0; count < 400; count++) server.world.say({ from: ada, channel, text: 'chatter' })
    expect(await find()).toMatchObject({ kind: 'cannot_tell' })
  })

  test('cannot tell where the history is closed, and only for now where nobody answers', async () => {
    const { find, server, channel } = await lose()
    server.faults.add({ method: 'getMessages', action: { kind: 'reset', when: 'before' } })
    expect(await find()).toMatchObject({ kind: 'cannot_tell', retryAfterMs: expect.any(Number) })
    server.world.setAccess(channel, 'hidden')
    expect(await find()).toEqual({ kind: 'cannot_tell', reason: '50001: Missing Access' })
  })

  test('cannot tell where the history is shown empty, as it is without the permission to read it', async () => {
    const { find } = await lose()
    const told = await find()
    expect(told).toMatchObject({ kind: 'cannot_tell', reason: expect.stringContaining('Read Message History') })
    expect(told).not.toHaveProperty('retryAfterMs')
  })
})
