import { expect, test } from 'vitest'
import { deferred } from '../../src/core/deferred.ts'
import type { DeliveryReceipt, OutboundMessage } from '../../src/core/outbound.ts'
import { hanging, unreachable } from './fake-channel.ts'
import { anInbox, at, DM, GROUP, openRig, type Rig, TELEGRAM } from './rig.ts'

/** The answer to a command of somebody who is no owner. */
function answer(rig: Rig, nth: number, changes: Partial<OutboundMessage> = {}): Promise<unknown> {
  const source = anInbox(`${changes.lowPriority?.supersedes}-${nth}`)
  const own = { class: 'control', lowPriority: { supersedes: 'telegram:444' }, source, address: at(GROUP) } as const
  return rig.say(`answer ${nth}`, { ...own, ...changes })
}

const statesOf = async (rig: Rig, count: number, person?: string): Promise<readonly (string | undefined)[]> => {
  const rows = Array.from({ length: count }, (_, index) => rig.rows(anInbox(`${person}-${index + 1}`)))
  return (await Promise.all(rows)).map(([row]) => row?.state)
}

test("200 answers to one member's commands do not delay the owner's, and each has its outcome", async () => {
  const rig = await openRig({ limits: TELEGRAM })
  for (let nth = 1; nth <= 200; nth++) await answer(rig, nth)
  await rig.delivery.idle()
  const before = rig.channel.calls.length
  expect(before).toBeLessThanOrEqual(3)
  await rig.say('for the owner', { address: at(GROUP) })
  await rig.pass(2_000)
  expect(rig.channel.calls[before]?.text).toBe('for the owner')

  await rig.pass(60_000)
  const states = await statesOf(rig, 200)
  expect(states.filter((state) => state === 'expired').length).toBeGreaterThan(190)
  expect(new Set(states)).toEqual(new Set(['sent', 'expired']))
  expect(states.slice(-3)).toEqual(['sent', 'sent', 'sent'])
  expect(rig.channel.visible(GROUP).slice(-3)).toEqual(['answer 198', 'answer 199', 'answer 200'])
  const dropped = (await rig.rows(anInbox('undefined-100')))[0]
  expect(dropped).toMatchObject({ state: 'expired', reason: 'newer answers took its place while it waited for a slot' })
})

test('of what one person asks for while a chat waits, the newest three answers are given, and no more count', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  rig.up = false
  for (let nth = 1; nth <= 150; nth++) await answer(rig, nth)
  expect(rig.delivery.crowded(at(DM))).toBe(false)
  await rig.ready()
  await rig.pass(120_000)
  expect(rig.channel.visible(GROUP)).toEqual(['answer 148', 'answer 149', 'answer 150'])
})

test('what many people ask for in one chat is bounded too, the newest are answered', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  rig.up = false
  for (let person = 1; person <= 50; person++)
    await answer(rig, 1, { lowPriority: { supersedes: `telegram:${person}` }, source: anInbox(`${person}`) })
  await rig.ready()
  await rig.pass(120_000)
  expect(rig.channel.visible(GROUP)).toHaveLength(10)
  expect((await rig.rows(anInbox('50')))[0]?.state).toBe('sent')
  expect((await rig.rows(anInbox('40')))[0]?.state).toBe('expired')
})

test('what strangers ask for takes the place of nothing that somebody known asked for', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  rig.up = false
  await answer(rig, 1, { lowPriority: { supersedes: 'telegram:444', known: true }, source: anInbox('known') })
  for (let person = 1; person <= 50; person++)
    await answer(rig, person, { lowPriority: { supersedes: `telegram:${person}` } })
  await rig.ready()
  await rig.pass(120_000)
  expect((await rig.rows(anInbox('known')))[0]?.state).toBe('sent')
  expect(rig.channel.visible(GROUP)).toHaveLength(11)
})

test('lines to 90 strangers leave the account free for everything else', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  for (let stranger = 1; stranger <= 90; stranger++) {
    const address = at(`telegram:direct:${stranger + 100}`)
    await answer(rig, stranger, { address, lowPriority: { supersedes: `telegram:${stranger}` } })
  }
  for (let chat = 1; chat <= 3; chat++) await rig.say('at once', { address: at(`telegram:direct:${chat}`) })
  await rig.delivery.idle()
  const atOnce = rig.channel.calls.filter(({ text }) => text === 'at once')
  expect(atOnce.map((call) => call.at)).toEqual([rig.clock.now(), rig.clock.now(), rig.clock.now()])
  await rig.pass(30_000)
  expect(rig.channel.calls).toHaveLength(93)
})

test('an account for which 100 lines wait is crowded until they have left', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  rig.up = false
  for (let stranger = 1; stranger <= 100; stranger++) {
    const address = at(`telegram:direct:${stranger}`)
    expect(rig.delivery.crowded(address)).toBe(false)
    await answer(rig, stranger, { address, lowPriority: { supersedes: `telegram:${stranger}` } })
  }
  expect(rig.delivery.crowded(at(DM))).toBe(true)
  expect(rig.delivery.crowded(at('telegram@second:direct:7'))).toBe(false)
  await rig.ready()
  await rig.pass(60_000)
  expect(rig.channel.calls).toHaveLength(100)
  expect(rig.delivery.crowded(at(DM))).toBe(false)
})

test('lines that wait for their slot make an account crowded', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  for (let stranger = 1; stranger <= 150; stranger++) {
    const address = at(`telegram:direct:${stranger}`)
    await answer(rig, stranger, { address, lowPriority: { supersedes: `telegram:${stranger}` } })
  }
  await rig.delivery.idle()
  expect(rig.delivery.crowded(at(DM))).toBe(true)
})

test('lines whose channel went away as they were sent make an account crowded', async () => {
  const rig = await openRig()
  const failed = deferred()
  const receipt = failed.promise.then((): DeliveryReceipt => ({ kind: 'not_sent', reason: 'no route' }))
  rig.channel.rule = () => ({ receipt, done: false })
  for (let stranger = 1; stranger <= 100; stranger++) {
    const address = at(`telegram:direct:${stranger}`)
    await answer(rig, stranger, { address, lowPriority: { supersedes: `telegram:${stranger}` } })
    await rig.channel.called(stranger)
  }
  expect(rig.delivery.crowded(at(DM))).toBe(false)
  rig.up = false
  failed.resolve()
  await rig.delivery.idle()
  expect(rig.delivery.crowded(at(DM))).toBe(true)
})

test('what is being sent does not wait: an account that keeps up with many chats is not crowded', async () => {
  const rig = await openRig()
  rig.channel.fates.push(...Array.from({ length: 150 }, () => hanging(true)))
  for (let stranger = 1; stranger <= 150; stranger++) {
    const address = at(`telegram:direct:${stranger}`)
    await answer(rig, stranger, { address, lowPriority: { supersedes: `telegram:${stranger}` } })
    await rig.channel.called(stranger)
    expect(rig.delivery.crowded(address)).toBe(false)
  }
})

const LONG = Array.from({ length: 60 }, (_, nth) => `a word of number ${nth}`).join(' ')

test.each([
  ['eight direct chats', (nth: number) => at(`telegram:direct:${nth + 100}`)],
  ['eight topics of one group', (nth: number) => at(`${GROUP}/${nth}`)],
])('long answers that wait for %s leave the account to everybody else', async (_, where) => {
  const rig = await openRig({ limits: TELEGRAM })
  for (let nth = 1; nth <= 8; nth++)
    await rig.say(LONG, { address: where(nth), source: anInbox(`${nth}`), lowPriority: {} })
  await rig.delivery.idle()
  expect(await rig.rows(anInbox('8'))).toHaveLength(20)
  expect(rig.delivery.crowded(at(DM))).toBe(false)
  expect(rig.delivery.crowded(where(1))).toBe(where(1).chat === where(2).chat)
})

test('whether an account is crowded is not asked of conversations in which nothing of low priority waits', async () => {
  const rig = await openRig()
  rig.up = false
  let looks = 0
  for (let chat = 1; chat <= 20; chat++) {
    const address = at(`telegram:direct:${chat}`)
    const { account } = address
    const get = () => {
      looks++
      return account
    }
    const watched = Object.defineProperty({ ...address }, 'account', { get, enumerable: true })
    await rig.say('an answer', { address: watched, ...(chat > 18 ? { lowPriority: {} } : {}) })
  }
  looks = 0
  expect(rig.delivery.crowded(at(DM))).toBe(false)
  expect(looks).toBe(2)
  await rig.ready()
  looks = 0
  rig.delivery.crowded(at(DM))
  expect(looks).toBe(0)
})

test('a message of low priority that has begun is brought to its end, and nothing comes between its attempts', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  rig.channel.fates.push(unreachable)
  const long = 'one two three four five six seven eight nine ten eleven twelve thirteen'
  await answer(rig, 1, { text: long, source: anInbox('long') })
  for (let nth = 2; nth <= 20; nth++) await answer(rig, nth)
  await rig.pass(60_000)
  const rows = await rig.rows(anInbox('long'))
  expect(rows.length).toBeGreaterThan(1)
  expect(new Set(rows.map(({ state }) => state))).toEqual(new Set(['sent']))
})

test('a card that nobody may miss goes after everything else, and is sent in any case', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  for (let nth = 1; nth <= 20; nth++) await answer(rig, nth, { address: at(DM), lowPriority: {} })
  await rig.delivery.idle()
  const before = rig.channel.calls.length
  await rig.say('an answer')
  await rig.delivery.idle()
  expect(rig.channel.calls[before]).toMatchObject({ text: 'an answer', at: rig.clock.now() })
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toHaveLength(21)
})

test.each([
  ['waited for its slot', false],
  ['was under way with its plan', true],
])('what is urgent goes ahead of the rest of a long answer of low priority that %s', async (_, claimed) => {
  const rig = await openRig({ limits: TELEGRAM })
  rig.up = claimed
  const long = Array.from({ length: 40 }, (_, nth) => `a word of number ${nth}`).join(' ')
  await rig.say(long, { address: at(GROUP), source: anInbox('long'), lowPriority: {} })
  if (!claimed) await rig.ready()
  await rig.pass(1_000)
  await rig.say('at once', { address: at(GROUP) })
  await rig.pass(10_000)
  const seen = rig.channel.visible(GROUP)
  expect(seen).toContain('at once')
  expect(seen.length).toBeLessThan((await rig.rows(anInbox('long'))).length)
  await rig.pass(600_000)
  expect((await rig.rows(anInbox('long'))).every(({ state }) => state === 'sent')).toBe(true)
})
