import { describe, expect, onTestFinished, test } from 'vitest'
import { type Address, parseAddress } from '../../src/core/address.ts'
import type { TraceId } from '../../src/core/ids.ts'
import type { Delivery } from '../../src/core/outbound.ts'
import { type FloodLimits, telegramFloodLimits } from '../../src/rehearsal/telegram/flood.ts'
import { startTelegramServer, type TelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { adapterFor } from '../adapters/telegram/rig.ts'
import { at, openRig, type Rig, type RigOptions, TELEGRAM } from './rig.ts'

interface Rehearsal {
  readonly rig: Rig
  readonly server: TelegramServer
  readonly direct: Address
  readonly group: Address
  /** What the bot has in a chat now. */
  shown(address: Address): readonly string[]
}

/** The service with the real client against the rehearsal server; both go by the same moved clock. */
async function rehearse(flood?: FloodLimits, options: RigOptions = {}): Promise<Rehearsal> {
  const rig = await openRig({ limits: TELEGRAM, ...options })
  const server = await startTelegramServer({ now: () => rig.clock.now(), ...(flood ? { flood } : {}) })
  onTestFinished(() => server.close())
  rig.adapter = adapterFor(server)
  const ada = server.world.addUser({ firstName: 'Ada' })
  server.world.say({ from: ada, text: '/start' })
  const chat = server.world.addChat({ type: 'supergroup', title: 'Engine Room', members: [ada] })
  const shown = (address: Address): readonly string[] =>
    server.world.messages(Number(address.chat), { by: 'bot', deleted: false }).map(({ message }) => message.text ?? '')
  return { rig, server, direct: at(`telegram:direct:${ada.id}`), group: at(`telegram:group:${chat.id}`), shown }
}

test('F-D04: the platform never refuses one of 60 replies to a group, and they keep their order', async () => {
  const { rig, server, group, shown } = await rehearse(telegramFloodLimits)
  for (let count = 1; count <= 60; count++) await rig.say(`reply ${count}`, { address: group })
  await rig.pass(5 * 60_000)
  expect(shown(group)).toEqual(Array.from({ length: 60 }, (_, index) => `reply ${index + 1}`))
  expect(server.ledger.calls('sendMessage').filter(({ answer }) => answer && !answer.ok)).toEqual([])
})

test('F-A14: an answer lost on the wire leads to one marked repeat', async () => {
  const { rig, server, direct, shown } = await rehearse()
  server.faults.add({ method: 'sendMessage', action: { kind: 'reset', when: 'after' } })
  const message = rig.message('hello', { address: direct })
  await rig.say('', message)
  await rig.pass(11_000)
  expect(shown(direct)).toEqual(['hello', '(repeat) hello'])
  expect(await rig.rows(message.source)).toMatchObject([{ state: 'resent' }])
})

/** A turn whose answer is shown before it has ended. */
async function shownAnswer({ rig, direct }: Rehearsal, text: string) {
  const turnId = rig.ids.turn()
  const live = rig.delivery.live({ turnId, traceId: 'tr_1' as TraceId, address: direct })
  live.push(text)
  await rig.pass(1_000)
  await live.settle()
  return turnId
}

test('F-C08: a final answer that is shown already is no call', async () => {
  const rehearsal = await rehearse(telegramFloodLimits)
  const { rig, server, direct, shown } = rehearsal
  const turnId = await shownAnswer(rehearsal, 'Once upon a **time**')
  await rig.say('Once upon a **time** \n', { address: direct, source: turnId })
  await rig.pass(1_000)
  expect(server.ledger.calls('editMessageText')).toEqual([])
  expect(shown(direct)).toEqual(['Once upon a time'])
  expect(await rig.rows(turnId)).toMatchObject([{ state: 'sent', op: 'edit' }])
})

test('F-C08: an edit that the platform refuses as changing nothing counts as sent', async () => {
  const rehearsal = await rehearse(telegramFloodLimits)
  const { rig, server, direct, shown } = rehearsal
  const turnId = await shownAnswer(rehearsal, 'Once upon a time')
  await rig.crash()
  await rig.ready()
  await rig.say('Once upon a time', { address: direct, source: turnId })
  await rig.pass(1_000)
  expect(server.ledger.calls('editMessageText')).toMatchObject([{ answer: { ok: false } }])
  expect(shown(direct)).toEqual(['Once upon a time'])
  expect(await rig.rows(turnId)).toMatchObject([{ state: 'sent', op: 'edit' }])
})

test('F-C08: a burst whose answers are shown before their turns end on a slow machine is a call for each answer', async () => {
  const { rig, server } = await rehearse()
  const chats = Array.from({ length: 30 }, (_, at) => {
    const ada = server.world.addUser({ firstName: `Ada ${at}` })
    server.world.say({ from: ada, text: '/start' })
    return parseAddress(`telegram:direct:${ada.id}`)
  })
  const turns = chats.map((address) => ({ turnId: rig.ids.turn(), traceId: 'tr_1' as TraceId, address }))
  const lives = turns.map((turn) => rig.delivery.live(turn))
  for (const live of lives) live.push('The same to everybody.')
  await rig.pass(5_000)
  for (const live of lives) await live.settle()
  for (const { turnId, address } of turns) await rig.say('The same to everybody.', { address, source: turnId })
  await rig.pass(5_000)
  expect(server.ledger.calls('sendMessage')).toHaveLength(turns.length)
  expect(server.ledger.calls('editMessageText')).toEqual([])
})

describe('an answer that is refused for its topic', () => {
  const parts = ['The first part of three has words.', 'The second part of three has words.', 'The third has few.']

  async function inTopic(place: 'direct' | 'group', options: RigOptions = {}) {
    const rehearsal = await rehearse(undefined, options)
    const { server, direct, group, rig } = rehearsal
    const chat = place === 'direct' ? Number(direct.chat) : server.world.addChat({ ...FORUM, members: [] }).id
    const topic = server.world.addTopic({ chat, name: 'Engines' })
    const address = { ...(place === 'direct' ? direct : { ...group, chat: String(chat) }), topic: String(topic) }
    const shownIn = (where: number | null) =>
      server.world.messages(chat, { by: 'bot', topic: where }).map(({ message }) => message.text ?? message.caption)
    return { ...rehearsal, chat, topic, address, shownIn, gone: () => server.world.deleteTopic({ chat, topic }), rig }
  }

  const FORUM = { type: 'supergroup', title: 'Workshop', forum: true } as const

  test('goes into the direct chat whole, and its later parts and its file go straight there', async () => {
    const { rig, server, address, gone, shownIn, direct } = await inTopic('direct')
    gone()
    const message = rig.message(parts.join('\n\n'), { address })
    await rig.say('', message)
    await rig.pass(10_000)
    expect(shownIn(null)).toEqual(parts)
    expect(server.ledger.calls('sendMessage')).toHaveLength(4)
    expect((await rig.rows(message.source)).map((row) => row.address)).toEqual([direct, direct, direct])
  })

  test('goes into the direct chat whole also where the process dies between its parts', async () => {
    const { rig, address, gone, shownIn, server } = await inTopic('direct')
    gone()
    const asked = server.faults.add({
      method: 'sendMessage',
      where: isSecond,
      action: { kind: 'hold', when: 'before' },
    })
    await rig.say(parts.join('\n\n'), { address })
    await asked.reached
    asked.release('drop')
    await rig.crash()
    await rig.ready()
    await rig.pass(60_000)
    expect(shownIn(null)).toEqual([parts[0], '(repeat) The second part of three has w…', parts[2]])
    expect(server.ledger.calls('sendMessage').filter(({ params }) => params.message_thread_id)).toHaveLength(1)
  })

  test('goes on where it was shown, if the topic went while it was written', async () => {
    const rehearsal = await inTopic('direct')
    const { rig, address, gone, shownIn, server } = rehearsal
    gone()
    const turnId = await shownAnswer({ ...rehearsal, direct: address }, parts[0] ?? '')
    await rig.say(parts.join('\n\n'), { address, source: turnId })
    await rig.pass(10_000)
    expect(shownIn(null)).toEqual(parts)
    expect(server.ledger.calls('sendMessage').filter(({ params }) => params.message_thread_id)).toHaveLength(1)
  })

  test('F-C06: stays refused in a group, once and with all its parts, and whoever waits is to read so', async () => {
    const stranded: Delivery[] = []
    const { rig, server, address, gone, shownIn } = await inTopic('group', {
      stranded: async (_, row) => void stranded.push(row),
    })
    gone()
    const message = rig.message(parts.join('\n\n'), { address })
    await rig.say('', message)
    await rig.pass(10_000)
    expect(shownIn(null)).toEqual([])
    expect(server.ledger.calls('sendMessage')).toHaveLength(1)
    expect((await rig.rows(message.source)).map(({ state }) => state)).toEqual(['rejected', 'rejected', 'rejected'])
    expect(stranded.map(({ partNo }) => partNo)).toEqual([0])
  })

  function isSecond({ params }: { readonly params: Readonly<Record<string, unknown>> }): boolean {
    return String(params.text).startsWith('The second')
  }
})

test("what is left of an answer below a channel's post stays there when the process dies between its parts", async () => {
  const { rig, server, group } = await rehearse()
  const chat = Number(group.chat)
  const asker = server.world.addUser({ firstName: 'Bob' })
  const post = server.world.say({ from: asker, chat, text: 'the pool opens' })
  const asked = server.world.say({ from: asker, chat, text: 'when?', replyTo: post })
  const address = { ...group, post: String(post.message_id) }
  const parts = ['The first part of two has words.', 'The second part of two has words.']
  const isSecond = ({ params }: { readonly params: Readonly<Record<string, unknown>> }) => params.text === parts[1]
  const held = server.faults.add({ method: 'sendMessage', where: isSecond, action: { kind: 'hold', when: 'before' } })
  await rig.say(parts.join('\n\n'), { address, replyTo: String(asked.message_id) })
  await held.reached
  held.release('drop')
  await rig.crash()
  await rig.ready()
  await rig.pass(60_000)
  const own = server.world.messages(chat, { by: 'bot' }).map(({ message }) => message)
  expect(own.map(({ text }) => text)).toEqual([parts[0], '(repeat) The second part of two has wor…'])
  expect(own.map(({ message_thread_id: thread }) => thread)).toEqual([post.message_id, post.message_id])
  expect(own.map(({ reply_to_message: above }) => above?.message_id)).toEqual([asked.message_id, post.message_id])
})

test('S28: a streamed reply that ends in silence leaves nothing in the chat', async () => {
  const { rig, direct, shown } = await rehearse(telegramFloodLimits)
  const turnId = rig.ids.turn()
  const live = rig.delivery.live({ turnId, traceId: 'tr_1' as TraceId, address: direct })
  live.push('Let me see <NO_RE')
  await rig.pass(1_000)
  expect(shown(direct)).toEqual(['Let me see'])
  await live.settle()
  await rig.say('<NO_REPLY>', { address: direct, source: turnId })
  await rig.pass(1_000)
  expect(shown(direct)).toEqual([])
})
