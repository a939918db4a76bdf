import { expect, test } from 'vitest'
import type { TraceId } from '../../src/core/ids.ts'
import type { OutboundMessage } from '../../src/core/outbound.ts'
import type { LiveTurn } from '../../src/delivery/growing-message.ts'
import { answerLost, hanging, refused, swallowed, unreachable } from './fake-channel.ts'
import { anInbox, at, DM, GROUP, openRig, type Rig, TELEGRAM, TURN } from './rig.ts'

const LONG = Array.from({ length: 60 }, (_, nth) => `a word of number ${nth}`).join(' ')
const STRANGERS: Pick<OutboundMessage, 'address' | 'lowPriority'> = { address: at(GROUP), lowPriority: {} }

/** Says something to somebody known and returns how long it took to leave, in ms. */
async function wait(rig: Rig, changes: Partial<OutboundMessage> = {}): Promise<number> {
  const from = rig.clock.now()
  const text = `for the owner ${from}`
  await rig.say(text, { address: at(GROUP), ...changes })
  for (let passed = 0; passed < 120; passed++) {
    const call = rig.channel.calls.find((one) => one.text.includes(text))
    if (call) return call.at - from
    await rig.pass(1_000)
  }
  return Number.POSITIVE_INFINITY
}

test('after a restart what is left of a long answer for strangers lets everybody else go ahead, and comes whole', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  await rig.say(LONG, { ...STRANGERS, source: anInbox('long') })
  await rig.pass(5_000)
  const sent = rig.channel.calls.length
  expect(sent).toBeGreaterThan(1)
  await rig.crash()
  await rig.ready()
  await rig.pass(10_000)
  expect(await wait(rig)).toBe(0)
  await rig.pass(600_000)
  const rows = await rig.rows(anInbox('long'))
  expect(rows.every(({ state }) => state === 'sent')).toBe(true)
  const parts = rows.map(({ part }) => part.text)
  expect(rig.channel.visible(GROUP).filter((text) => !text.includes('owner'))).toEqual(parts)
})

test('a send of unknown outcome for strangers keeps nobody waiting after a restart, and is repeated once', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  rig.channel.fates.push(hanging(true))
  await rig.say('for strangers', { ...STRANGERS, source: anInbox('lost') })
  await rig.channel.called(1)
  await rig.crash()
  await rig.ready()
  expect(await wait(rig)).toBe(0)
  await rig.pass(60_000)
  const seen = rig.channel.visible(GROUP)
  expect(seen.filter((text) => text.includes('for strangers'))).toEqual(['for strangers', '(repeat) for strangers'])
  expect(await rig.rows(anInbox('lost'))).toMatchObject([{ state: 'resent', lowPriority: {} }])
})

test('a send for strangers whose outcome stays unknown keeps nobody waiting, and is repeated once', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  rig.channel.fates.push(answerLost)
  await rig.say('for strangers', STRANGERS)
  await rig.delivery.idle()
  expect(await wait(rig)).toBe(0)
  await rig.pass(60_000)
  expect(rig.channel.visible(GROUP).filter((text) => text.includes('(repeat)'))).toHaveLength(1)
})

test('what was refused for now, or could not leave, keeps nobody waiting longer than the chat itself', async () => {
  for (const [fate, most] of [
    [unreachable, 0],
    [refused('slow down', { retryAfterMs: 3_000 }), 3_000],
  ] as const) {
    const rig = await openRig({ limits: TELEGRAM })
    rig.channel.fates.push(fate)
    await rig.say(LONG, STRANGERS)
    await rig.delivery.idle()
    expect(await wait(rig)).toBeLessThanOrEqual(most)
  }
})

test('what waits for its slot lets go ahead what was said in the same moment', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  for (let nth = 0; nth < 3; nth++) await rig.say('before', { address: at(GROUP) })
  await rig.pass(2_000)
  const [first, second] = await rig.store.write(async (tx) => [
    await rig.delivery.plan(tx, rig.message('for strangers', STRANGERS)),
    await rig.delivery.plan(tx, rig.message('for the owner', { address: at(GROUP) })),
  ])
  if (first) rig.delivery.release(first)
  if (second) rig.delivery.release(second)
  await rig.pass(60_000)
  expect(rig.channel.visible(GROUP).slice(3)).toEqual(['for the owner', 'for strangers'])
})

test('an answer for strangers that was tried in vain and one for the owner, said at once, leave in that order', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  rig.channel.fates.push(refused('slow down', { retryAfterMs: 5_000 }))
  await rig.say('for strangers', STRANGERS)
  await rig.say('for the owner', { address: at(GROUP) })
  await rig.pass(60_000)
  expect(rig.channel.visible(GROUP)).toEqual(['for the owner', 'for strangers'])
})

/** An answer for strangers that is shown while it grows, in a topic of the group. */
async function grown(rig: Rig, topic: number): Promise<() => Promise<void>> {
  const source = rig.ids.turn()
  const turn: LiveTurn = { ...STRANGERS, turnId: source, traceId: 'tr_1' as TraceId, address: at(`${GROUP}/${topic}`) }
  const live = rig.delivery.live(turn)
  live.push('Once')
  await rig.pass(5_000)
  live.push('Once upon')
  await rig.pass(1_000)
  return async () => {
    await live.settle()
    await rig.say('Once upon a time.', { ...turn, source })
  }
}

test('the last edits of answers that grew in four topics leave their slots to everybody else', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  const ends = [await grown(rig, 1), await grown(rig, 2), await grown(rig, 3), await grown(rig, 4)]
  await rig.pass(30_000)
  for (const end of ends) await end()
  expect(await wait(rig, { address: at(`${GROUP}/5`) })).toBe(0)
  expect(await wait(rig, { address: at(`${GROUP}/1`) })).toBe(0)
  await rig.pass(60_000)
  for (const topic of [1, 2, 3, 4]) expect(rig.channel.visible(`${GROUP}/${topic}`)).toContain('Once upon a time.')
})

test('answers of strangers that grow leave the chat to everybody else', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  const growing = Array.from({ length: 12 }, (_, topic) => {
    const turn = {
      ...STRANGERS,
      turnId: rig.ids.turn(),
      traceId: 'tr_1' as TraceId,
      address: at(`${GROUP}/${topic + 1}`),
    }
    return rig.delivery.live(turn)
  })
  for (let nth = 1; nth < 40; nth++) {
    for (const live of growing) live.push('word '.repeat(nth))
    await rig.pass(500)
  }
  expect(await wait(rig, { address: at(`${GROUP}/99`) })).toBe(0)
})

test('a final edit has the priority of the whole turn: whoever joined it waits for no stranger', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  const turnId = rig.ids.turn()
  const live = rig.delivery.live({ ...STRANGERS, turnId, traceId: 'tr_1' as TraceId })
  live.push('Once')
  await rig.pass(1_000)
  await live.settle()
  expect(await rig.rows(turnId)).toMatchObject([{ state: 'sent', lowPriority: {} }])
  await rig.say('Once upon a time.', { address: at(GROUP), source: turnId })
  await rig.delivery.idle()
  const [row] = await rig.rows(turnId)
  expect(row).toMatchObject({ state: 'sent', op: 'edit' })
  expect(row).not.toHaveProperty('lowPriority')
})

test('siblings of a refused part leave the account as free as it was', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  for (let chat = 1; chat <= 12; chat++) {
    rig.channel.fates.push(refused('blocked'))
    await rig.say(LONG, { ...STRANGERS, address: at(`telegram:direct:${chat}`), source: anInbox(`${chat}`) })
    await rig.pass(10_000)
    expect((await rig.rows(anInbox(`${chat}`))).every(({ state }) => state === 'rejected')).toBe(true)
  }
  expect(rig.delivery.crowded(at('telegram:direct:99'))).toBe(false)
})

test('the answer to a command of a member goes ahead of what strangers caused, and behind an answer', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  const told = { supersedes: 'telegram:444', known: true } as const
  rig.up = false
  await rig.say('for strangers', STRANGERS)
  await rig.say('your status', { address: at(GROUP), class: 'control', source: anInbox('c'), lowPriority: told })
  await rig.say('an answer', { address: at(GROUP) })
  await rig.crash()
  await rig.ready()
  await rig.pass(20_000)
  expect(rig.channel.visible(GROUP)).toEqual(['an answer', 'your status', 'for strangers'])
})

test('the answer to a command of a member waits for no slot that strangers take in the chat or the account', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  for (let topic = 1; topic <= 8; topic++) await rig.say(LONG, { ...STRANGERS, address: at(`${GROUP}/${topic}`) })
  for (let chat = 1; chat <= 90; chat++) {
    await rig.say('for strangers', { ...STRANGERS, address: at(`telegram:direct:${chat + 100}`) })
  }
  await rig.pass(1_000)
  const lowPriority = { supersedes: 'telegram:444', known: true } as const
  for (const [nth, to] of [`${GROUP}/9`, DM].entries()) {
    expect(await wait(rig, { address: at(to), class: 'control', source: anInbox(`${nth}`), lowPriority })).toBe(0)
  }
})

test('in a group with few slots strangers in its topics take none that somebody known waits for', async () => {
  const rig = await openRig({ limits: { perSecond: 30, perChatPerSecond: 1, perGroupPerMinute: 4 } })
  for (let topic = 1; topic <= 6; topic++) await rig.say(LONG, { ...STRANGERS, address: at(`${GROUP}/${topic}`) })
  await rig.pass(60_000)
  // A slot every 20 seconds.
  for (let nth = 1; nth <= 3; nth++) expect(await wait(rig, { address: at(`${GROUP}/9`) })).toBeLessThanOrEqual(20_000)
})

test.each([
  ['an effect of a tool', { class: 'effect' }],
  ['a notice', { class: 'notice', session: TURN.session }],
  ['the answer to a command of an owner', { class: 'control', source: anInbox('command') }],
] as const)('%s waits for no answer that strangers caused, whatever became of that', async (_, changes) => {
  const rig = await openRig({ limits: TELEGRAM })
  rig.channel.fates.push(swallowed)
  await rig.say(LONG, { ...STRANGERS, source: anInbox('long') })
  await rig.pass(5_000)
  expect(await wait(rig, changes)).toBe(0)
})

test('what strangers cause by a tool goes behind everything else, after a restart too', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  rig.up = false
  for (let nth = 1; nth <= 30; nth++) await rig.say(`post ${nth}`, { ...STRANGERS, class: 'effect' })
  await rig.crash()
  await rig.ready()
  await rig.pass(1_000)
  expect(await wait(rig)).toBe(0)
})
