import { expect, test } from 'vitest'
import { refused, unreachable } from './fake-channel.ts'
import { at, DM, GROUP, openRig, TELEGRAM, TURN } from './rig.ts'

const MINUTE = 60_000

/** The most calls within any window, its end excluded. */
function mostWithin(times: readonly number[], windowMs: number): number {
  return Math.max(0, ...times.map((from) => times.filter((time) => time >= from && time < from + windowMs).length))
}

test('F-D04: 300 replies to one group go at most 20 a minute, in order, and other chats are on time', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  const group = at(GROUP)
  for (let count = 1; count <= 300; count++) await rig.say(`reply ${count}`, { address: group })
  const late: number[] = []
  for (let minute = 0; minute < 20; minute++) {
    const asked = rig.clock.now()
    await rig.say(`minute ${minute}`)
    await rig.pass(MINUTE)
    late.push((rig.channel.calls.filter(({ to }) => to === DM).at(-1)?.at ?? 0) - asked)
  }
  const times = rig.channel.calls.filter(({ to }) => to === GROUP).map((call) => call.at)
  expect(rig.channel.visible(GROUP)).toEqual(Array.from({ length: 300 }, (_, index) => `reply ${index + 1}`))
  expect(mostWithin(times, MINUTE)).toBeLessThanOrEqual(20)
  expect(Math.max(...late)).toBe(0)
})

test('two topics of one group share its limit', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  for (let count = 1; count <= 30; count++) {
    await rig.say(`a ${count}`, { address: at(`${GROUP}/1`) })
    await rig.say(`b ${count}`, { address: at(`${GROUP}/2`) })
  }
  await rig.pass(5 * MINUTE)
  const times = rig.channel.calls.map((call) => call.at)
  expect(times).toHaveLength(60)
  expect(mostWithin(times, MINUTE)).toBeLessThanOrEqual(20)
})

test('200 chats answered at once stay within what the account may send a second', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  const start = rig.clock.now()
  for (let chat = 1; chat <= 200; chat++) await rig.say('hello', { address: at(`telegram:direct:${chat}`) })
  await rig.pass(20_000)
  const times = rig.channel.calls.map((call) => call.at)
  expect(times).toHaveLength(200)
  expect(mostWithin(times, 1_000)).toBeLessThanOrEqual(30)
  expect((times.at(-1) ?? 0) - start).toBeLessThanOrEqual(10_000)
})

test('F-C04: a chat told to wait 35 s waits, its topics too, and nobody else', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  rig.channel.fates.push(refused('Too Many Requests', { retryAfterMs: 35_000 }))
  const { source } = rig.message('')
  const from = rig.clock.now()
  await rig.say('to the group', { address: at(GROUP), source })
  await rig.delivery.idle()
  await rig.say('to its topic', { address: at(`${GROUP}/4`) })
  await rig.say('to a person')
  await rig.pass(34_900)
  expect([rig.channel.visible(GROUP), rig.channel.visible(`${GROUP}/4`)]).toEqual([[], []])
  expect(rig.channel.visible(DM)).toEqual(['to a person'])
  await rig.pass(2_000)
  expect([rig.channel.visible(GROUP), rig.channel.visible(`${GROUP}/4`)]).toEqual([['to the group'], ['to its topic']])
  expect(
    rig.channel.calls
      .filter(({ to }) => to !== DM)
      .slice(1)
      .every((call) => call.at >= from + 35_000),
  ).toBe(true)
  expect(await rig.rows(source)).toMatchObject([{ state: 'sent', attempt: 2 }])
})

test('F-C04: while a chat is told to wait, typing is dropped and nothing of it is queued', async () => {
  const rig = await openRig({ limits: TELEGRAM })
  rig.channel.fates.push(refused('Too Many Requests', { retryAfterMs: 35_000 }))
  await rig.say('hello')
  const end = rig.delivery.typing(TURN)
  await rig.pass(34_000)
  expect(rig.channel.typed).toEqual([])
  end()
  await rig.pass(10_000)
  expect(rig.channel.typed).toEqual([])
})

test('an unreachable platform is asked ever more rarely, at most each half minute', async () => {
  const rig = await openRig()
  rig.channel.rule = () => unreachable
  await rig.say('hello')
  await rig.pass(10 * MINUTE)
  const times = rig.channel.calls.map((call) => call.at)
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0))
  expect(gaps.slice(0, 4)).toEqual([375, 750, 1_500, 3_000])
  expect(Math.max(...gaps)).toBeLessThanOrEqual(30_000)
})
