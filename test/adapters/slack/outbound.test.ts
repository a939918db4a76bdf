import { afterEach, describe, expect, test } from 'vitest'
import { slackFormat } from '../../../adapters/slack/format.ts'
import type { RenderedPart } from '../../../src/channels/adapter.ts'
import type { Address } from '../../../src/core/address.ts'
import { toAccountId } from '../../../src/core/ids.ts'
import { rateLimited } from '../../../src/rehearsal/slack/server.ts'
import { openRig, type Rig } from './rig.ts'

const rigs: Rig[] = []
afterEach(async () => {
  for (const rig of rigs.splice(0)) await rig.close()
})

const KEY = 'abcdefghijklmnopqrstuvwxy'
const words = (text: string): RenderedPart => ({ text, plain: text, markup: 'plain' })

async function open(options: Parameters<typeof openRig>[0] = {}) {
  const rig = await openRig(options)
  rigs.push(rig)
  const { world, ledger, faults } = rig.server
  const ada = world.addUser({ id: 'U333', name: 'ada' })
  const channel = world.addChannel({ name: 'engine-room', members: [ada] })
  const root = world.say({ from: ada, channel, text: 'a thread' })
  const at: Address = { channel: 'slack', account: toAccountId('default'), chatType: 'channel', chat: channel.id }
  const direct: Address = { ...at, chatType: 'direct', chat: world.direct(ada).id }
  const send = (rendered: RenderedPart, address: Address = at, more: { readonly replyTo?: string } = {}) =>
    rig.adapter.send({ address, rendered, key: KEY, ...more }, rig.signal)
  const sendFile = (address: Address, more: { readonly replyTo?: string }) => {
    const file = { media: 'x' as never, name: 'plan.txt', mime: 'text/plain', size: 4, as: 'document' } as const
    const part = { address, rendered: words('plan'), key: KEY, file, bytes: Buffer.from('plan'), ...more }
    return rig.adapter.sendFile(part, rig.signal)
  }
  const lost = { address: at, key: KEY, rendered: words('x'), ageMs: 1000 }
  return { ...rig, world, ledger, faults, ada, channel, root, at, direct, send, sendFile, lost }
}

describe('a send', () => {
  test('carries the key as opaque metadata, unfurls nothing and parses nothing', async () => {
    const { send, ledger } = await open()
    await send(words('hello'))

    expect(ledger.calls('chat.postMessage')[0]?.params).toMatchObject({
      metadata: JSON.stringify({ event_type: 'parley_delivery', event_payload: { id: KEY } }),
      unfurl_links: 'false',
      unfurl_media: 'false',
      parse: 'none',
    })
  })

  test('goes into the thread its address names, and a thread that is gone is a refusal, never the channel', async () => {
    const { send, at, root, world, ledger, channel } = await open()
    await send(words('in the thread'), { ...at, topic: root.ts })
    expect(ledger.fromBot()).toMatchObject([{ thread: root.ts }])
    world.remove(channel, root)

    expect(await send(words('too late'), { ...at, topic: root.ts })).toEqual({
      kind: 'rejected',
      reason: 'thread_not_found',
      of: 'topic',
    })
    expect(ledger.fromBot()).toHaveLength(1)
  })

  test('that is refused for its thread goes without it where that is the same conversation, and files do', async () => {
    const { send, sendFile, at, root, world, ledger, channel, direct } = await open()
    world.remove(channel, root)
    const begun = { ...at, topic: root.ts }
    expect(await send(words('begun'), begun, { replyTo: root.ts })).toMatchObject({ kind: 'sent', address: at })
    expect(await sendFile(begun, { replyTo: root.ts })).toMatchObject({ kind: 'sent', address: at })
    expect(await send(words('alone'), { ...direct, topic: root.ts })).toMatchObject({ kind: 'sent', address: direct })
    world.forbidThreads(channel)
    expect(await send(words('threadless'), begun)).toMatchObject({ kind: 'sent', address: at })
    expect(ledger.fromBot().map(({ thread }) => thread)).toEqual([null, null, null, null])
  })

  test('that the platform has put into the channel without a word is known to be there', async () => {
    const { send, at, root, faults } = await open()
    const body = {
      ok: true,
      channel: at.chat,
      ts: '1700000000.000001',
      message: { text: 'x', ts: '1700000000.000001' },
    }
    faults.add({ method: 'chat.postMessage', action: { kind: 'answer', when: 'before', status: 200, body } })
    const receipt = { kind: 'sent', messageId: body.ts, address: at }
    expect(await send(words('x'), { ...at, topic: root.ts })).toEqual(receipt)
  })

  test('to a thread that was locked is a refusal of the thread, also where it would have begun there', async () => {
    const { send, sendFile, at, root, world, ledger, channel } = await open()
    world.lockThread(channel, root)
    const reason = 'restricted_action_thread_locked'
    const there = { ...at, topic: root.ts }
    expect(await send(words('x'), there, { replyTo: root.ts })).toEqual({ kind: 'rejected', reason, of: 'topic' })
    expect(await sendFile(there, {})).toEqual({ kind: 'rejected', reason, of: 'topic' })
    expect(ledger.fromBot()).toEqual([])
  })

  test('for one person alone stands beside a thread that is gone', async () => {
    const { at, root, world, ledger, channel, adapter, signal, ada } = await open()
    world.remove(channel, root)
    const part = { address: { ...at, topic: root.ts }, key: KEY, rendered: words('psst') }
    const recipient = { id: ada.id, otherwise: 'direct' } as const
    expect(await adapter.answerPrivately({ ...part, recipient, partNo: 0 }, signal)).toMatchObject({ kind: 'sent' })
    expect(ledger.entries.filter(({ kind }) => kind === 'whisper')).toMatchObject([{ thread: null }])
  })

  test.each(['<!channel> wake up', '<!here>', '<@U333> you', '<!subteam^S1|@crew>', '@channel'])(
    'F-I10: %s in a text of a model pings nobody, however it is rendered',
    async (text) => {
      const { send, ledger } = await open()
      const forms: RenderedPart[] = [words(text), { text, plain: text, markup: 'mrkdwn' }, ...slackFormat.split(text)]
      for (const form of forms) await send(form)

      expect(ledger.fromBot()).toHaveLength(3)
      expect(ledger.fromBot().flatMap(({ pings }) => pings)).toEqual([])
    },
  )

  test.each([
    ['not_in_channel', (rig: Awaited<ReturnType<typeof open>>) => rig.world.setMember(rig.channel, false)],
    ['is_archived', (rig: Awaited<ReturnType<typeof open>>) => rig.world.archive(rig.channel)],
  ])('F-C12: %s is permanent, with that reason', async (reason, happen) => {
    const rig = await open()
    happen(rig)
    expect(await rig.send(words('x'))).toEqual({ kind: 'rejected', reason })
  })

  test('F-C12: a channel that is not there is permanent', async () => {
    const { send, at } = await open()
    expect(await send(words('x'), { ...at, chat: 'C404' })).toEqual({ kind: 'rejected', reason: 'channel_not_found' })
  })

  test.each([
    ['another channel', { channel: 'telegram', chat: '5' }],
    ['no id of the platform', { chat: '../x' }],
    ['no thread of the platform', { topic: '42' }],
  ])('an address that names %s is refused without a call', async (_, fields) => {
    const { send, at, ledger } = await open()
    expect(await send(words('x'), { ...at, ...fields } as Address)).toMatchObject({ kind: 'rejected' })
    expect(ledger.calls('chat.postMessage')).toEqual([])
  })

  test('F-C13: a rate limit says how long to wait', async () => {
    const { send, faults } = await open()
    faults.add(rateLimited('chat.postMessage', 7))
    expect(await send(words('x'))).toEqual({ kind: 'rejected', reason: 'ratelimited', retryAfterMs: 7000 })
    expect(await send(words('x'))).toMatchObject({ kind: 'sent' })
  })

  test('a rate limit of more than a day is one of a day', async () => {
    const { send, faults } = await open()
    faults.add(rateLimited('chat.postMessage', 3_000_000))
    expect(await send(words('x'))).toMatchObject({ kind: 'rejected', retryAfterMs: 86_400_000 })
  })

  test('a missing scope waits for somebody to grant it, and names it', async () => {
    const { send } = await open({ server: { app: { scopes: [] } } })
    expect(await send(words('x'))).toEqual({
      kind: 'rejected',
      reason: 'missing_scope: chat:write',
      retryAfterMs: 60_000,
    })
  })

  test.each([
    ['the connection breaks before the answer', { kind: 'drop', when: 'after' }, 1],
    ['a page of a proxy', { kind: 'answer', when: 'after', status: 200, body: '<html>gateway</html>' }, 1],
    ['a 502', { kind: 'answer', when: 'before', status: 502, body: 'bad gateway' }, 0],
    ['fatal_error', { kind: 'answer', when: 'after', status: 200, body: { ok: false, error: 'fatal_error' } }, 1],
    ['an answer without a ts', { kind: 'answer', when: 'after', status: 200, body: { ok: true } }, 1],
    ['half an answer', { kind: 'truncate', bytes: 20 }, 1],
  ] as const)('%s is unknown, and not repeated', async (_, action, copies) => {
    const { send, faults, ledger } = await open()
    const fault = faults.add({ method: 'chat.postMessage', action })
    expect(await send(words('x'))).toMatchObject({ kind: 'unknown' })
    expect(fault.hits).toBe(1)
    expect(ledger.fromBot()).toHaveLength(copies)
  })

  test('an answer that does not come is given up after its deadline', async () => {
    const { ManualClock } = await import('../telegram/manual-clock.ts')
    const clock = new ManualClock()
    const { send, faults } = await open({ clock })
    const held = faults.add({ method: 'chat.postMessage', action: { kind: 'hold', when: 'before' } })
    const sending = send(words('x'))
    await held.reached
    await clock.advance(15_000)

    expect(await sending).toEqual({
      kind: 'unknown',
      reason: expect.stringMatching(/^chat\.postMessage at 127\.0\.0\.1:\d+\/api: no answer within 15 s$/),
    })
    held.release('drop')
  })
})

describe('edits and deletions', () => {
  const sent = async (rig: Awaited<ReturnType<typeof open>>) => {
    const receipt = await rig.send(words('first'))
    return { address: rig.at, messageId: receipt.kind === 'sent' ? receipt.messageId : '' }
  }

  test('an edit replaces the text and keeps the key; the same text again is success', async () => {
    const rig = await open()
    const target = await sent(rig)
    for (const _ of [1, 2])
      expect(await rig.adapter.edit(target, words('second'), rig.signal)).toMatchObject({ kind: 'sent' })
    const [stored] = rig.world.messages(rig.channel, { by: 'bot' })

    expect(stored?.message).toMatchObject({ text: 'second', metadata: { event_payload: { id: KEY } } })
    expect(rig.adapter.editIntervalMs()).toBe(1200)
  })

  test('a deletion of what is gone is success', async () => {
    const rig = await open()
    const target = await sent(rig)
    for (const _ of [1, 2])
      expect(await rig.adapter.delete(target, rig.signal)).toEqual({ kind: 'sent', messageId: target.messageId })
    expect(rig.world.messages(rig.channel, { by: 'bot' })).toEqual([])
  })

  test('an edit of what is gone is refused', async () => {
    const rig = await open()
    const target = await sent(rig)
    await rig.adapter.delete(target, rig.signal)
    expect(await rig.adapter.edit(target, words('x'), rig.signal)).toEqual({
      kind: 'rejected',
      reason: 'message_not_found',
    })
  })

  test('a full part of the format can be edited in', async () => {
    const rig = await open()
    const target = await sent(rig)
    const [part = words('')] = slackFormat.split('a & b '.repeat(2000))
    expect(await rig.adapter.edit(target, part, rig.signal)).toMatchObject({ kind: 'sent' })
  })
})

describe('finding a message again', () => {
  test.each([['in the channel'], ['in a thread']])('F-A12: %s, by the key it carried', async (where) => {
    const { send, adapter, at, root, lost, signal, faults } = await open()
    const address = where === 'in a thread' ? { ...at, topic: root.ts } : at
    faults.add({ method: 'chat.postMessage', action: { kind: 'drop', when: 'after' } })
    expect(await send(words('lost?'), address)).toMatchObject({ kind: 'unknown' })

    const message = { messageId: expect.any(String) }
    const found = { kind: 'found', messages: [message] }
    expect(await adapter.findOwn({ ...lost, address, rendered: words('lost?') }, signal)).toEqual(found)
    const outdated = { kind: 'found', messages: [{ ...message, outdated: true }] }
    expect(await adapter.findOwn({ ...lost, address }, signal)).toEqual(outdated)
    expect(await adapter.findOwn({ ...lost, address, key: 'another' }, signal)).toEqual({ kind: 'absent' })
  })

  test('it looks through more than one page', async () => {
    const { send, adapter, lost, signal, world, channel, ada } = await open()
    await send(words('lost?'))
    for (let count = 0; count < 450; count++) world.say({ from: ada, channel, text: `and ${count}` })
    expect(await adapter.findOwn(lost, signal)).toMatchObject({ kind: 'found' })
  })

  test('it cannot tell when too much was written since', async () => {
    const { adapter, lost, signal, world, channel, ada } = await open()
    for (let count = 0; count < 1100; count++) world.say({ from: ada, channel, text: `and ${count}` })
    expect(await adapter.findOwn(lost, signal)).toMatchObject({ kind: 'cannot_tell' })
  })

  test('it cannot tell without the scope, and names it', async () => {
    const { adapter, lost, signal } = await open({ server: { app: { scopes: ['chat:write'] } } })
    expect(await adapter.findOwn(lost, signal)).toEqual({
      kind: 'cannot_tell',
      reason: 'the scope channels:history is missing',
    })
  })

  test('it cannot tell now when Slack is out or says wait, and says when to look again', async () => {
    const { adapter, lost, signal, server, faults } = await open()
    faults.add(rateLimited('conversations.history', 9))
    expect(await adapter.findOwn(lost, signal)).toMatchObject({ kind: 'cannot_tell', retryAfterMs: 9000 })
    await server.close()
    expect(await adapter.findOwn(lost, signal)).toMatchObject({ kind: 'cannot_tell', retryAfterMs: 5000 })
  })
})

describe('the question whether a message would arrive', () => {
  test.each([['in the channel'], ['in a thread']])(
    '%s is answered without a message and without any scope of history',
    async (where) => {
      const { adapter, at, root, signal, ledger } = await open({ server: { app: { scopes: ['chat:write'] } } })
      const address = where === 'in a thread' ? { ...at, topic: root.ts } : at
      expect(await adapter.proveSending(address, signal)).toEqual({ works: true })
      expect(ledger.fromBot()).toEqual([])
    },
  )

  test('is answered by no line that is cut, by no refusal that passes, and by one about the conversation', async () => {
    const { adapter, at, signal, faults, server } = await open()
    faults.add({ method: 'chat.delete', action: { kind: 'reset', when: 'before' } })
    expect(await adapter.proveSending(at, signal)).toEqual({ works: false })
    faults.add(rateLimited('chat.delete', 9))
    expect(await adapter.proveSending(at, signal)).toEqual({ works: false, retryAfterMs: 9000 })
    expect(await adapter.proveSending({ ...at, chat: 'C404' }, signal)).toEqual({ works: true })
    await server.close()
    expect(await adapter.proveSending(at, signal)).toEqual({ works: false })
  })
})
