import { describe, expect, it, test } from 'vitest'
import { parseAddress } from '../../src/core/address.ts'
import { toScheduleId } from '../../src/core/ids.ts'
import type { ConfiguredSchedule, CronDefinition } from '../../src/core/schedule.ts'
import { lastUserText, type Script, textReply } from '../../src/rehearsal/anthropic/script.ts'
import { createGate } from '../../src/rehearsal/deferred.ts'
import type { MessageEntry } from '../../src/rehearsal/telegram/ledger-entries.ts'
import type { TelegramServer } from '../../src/rehearsal/telegram/server.ts'
import { type Household, recorded, startHousehold } from './household.ts'
import { type SetClock, setClock } from './set-clock.ts'

const [FAMILY, OFFICE] = [-1001000000001, -1001000000002]

/** How long a daemon that stops waits for running turns. */
/** Turns are waited for so long before they are interrupted. */
const DRAIN_MS = 16_000

/** Repeats what people said in the digest, and answers everything else with what it was asked. */
const summing: Script = (request) => {
  const text = lastUserText(request)
  const said = [...text.matchAll(/^> \[.*?\] (.*)$/gm)].map(([, line]) => line)
  if (!text.startsWith('Summarise')) return textReply(`heard ${text}`)
  return textReply(said.length === 0 ? '<NO_REPLY>' : `Digest: ${said.join('; ')}`)
}

interface Scene extends Household {
  readonly clock: SetClock
  readonly topic: number
}

/** A family group, and an office forum whose topic the digest goes to. */
async function office(start: string, definition: Partial<CronDefinition>, script: Script = summing): Promise<Scene> {
  const clock = setClock(start)
  let topic = 0
  const schedules = ({ world }: TelegramServer): readonly ConfiguredSchedule[] => {
    world.addChat({ type: 'supergroup', title: 'Family', id: FAMILY, members: [111, 444, 555] })
    world.addChat({ type: 'supergroup', title: 'Office', id: OFFICE, forum: true, members: [111, 444] })
    topic = world.addTopic({ chat: OFFICE, name: 'Digest' })
    const digest: CronDefinition = {
      cron: '30 2 * * *',
      timezone: 'Europe/Berlin',
      prompt: 'Summarise the family group.',
      digestOf: parseAddress(`telegram:group:${FAMILY}`),
      deliverTo: parseAddress(`telegram:group:${OFFICE}/${topic}`),
      missed: { kind: 'once' },
      overlap: 'skip',
      ...definition,
    }
    const { digestOf: _, ...rest } = digest
    const deliverTo = parseAddress('telegram:direct:111')
    const witness = { ...rest, cron: '*/15 * * * *', prompt: 'tick', deliverTo }
    return [
      { id: toScheduleId('morning'), definition: digest },
      { id: toScheduleId('witness'), definition: witness },
    ]
  }
  const house = await startHousehold({ script, schedules, clock })
  house.telegram.world.say({ from: 111, text: '/help' })
  await house.telegram.ledger.nextFromBot('sent')
  return Object.assign(house, { clock, topic })
}

/** Somebody says something in the family group, and it is stored. */
async function overhear({ telegram }: Household, text: string, from = 444): Promise<void> {
  await telegram.ledger.confirmed(telegram.ledger.updateIdOf(telegram.world.say({ from, chat: FAMILY, text })))
}

function nextIn({ telegram }: Household, chat: number, after: number): Promise<MessageEntry> {
  return telegram.ledger.nextFromBot('sent', { after, where: ({ chatId }) => chatId === chat })
}

/** Sets the clock and waits until a tick has seen it: the witness is looked at after the digest. */
async function passTo(scene: Scene, at: string): Promise<void> {
  const mark = scene.telegram.ledger.mark()
  scene.clock.set(at)
  await nextIn(scene, 111, mark)
  await recorded(scene)
}

const texts = ({ telegram }: Household, chat: number): string[] =>
  telegram.world.messages(chat, { by: 'bot' }).map(({ message }) => message.text ?? '')

const lastRun = async ({ daemon }: Household) =>
  (await daemon.operator.schedules.list()).find(({ id }) => id === 'morning')?.last

describe('UB5: a scheduled digest of one group into a topic of another', () => {
  test.each([
    { season: 'spring', before: '2026-03-29T01:15:01Z', due: '2026-03-29T01:30:01Z', next: '2026-03-30T00:30:01Z' },
    { season: 'autumn', before: '2026-10-25T00:15:01Z', due: '2026-10-25T00:30:01Z', next: '2026-10-26T01:30:01Z' },
  ])('over the change of clocks in $season: once a day, each message once', async ({ before, due, next }) => {
    const start = new Date(Date.parse(before) - 600_000).toISOString()
    const scene = await office(start, {})
    await overhear(scene, 'dinner at seven')
    await passTo(scene, before)
    expect(texts(scene, OFFICE)).toEqual([])
    const mark = scene.telegram.ledger.mark()
    scene.clock.set(due)
    const digest = await nextIn(scene, OFFICE, mark)
    expect(digest).toMatchObject({ text: 'Digest: Bob: dinner at seven', topic: scene.topic })
    await recorded(scene)
    // In autumn this is 02:30 once more.
    await passTo(scene, new Date(Date.parse(due) + 3_600_000).toISOString())
    await overhear(scene, 'bring bread', 555)
    const later = scene.telegram.ledger.mark()
    scene.clock.set(next)
    await nextIn(scene, OFFICE, later)
    expect(texts(scene, OFFICE)).toEqual(['Digest: Bob: dinner at seven', 'Digest: Cy: bring bread'])
    expect(await scene.daemon.operator.sessions.show('cron:morning')).toMatchObject({
      id: 'schedule:morning',
      kind: 'cron',
      turns: 2,
      source: { kind: 'schedule', interactive: false, triggerId: 'morning', triggerType: 'cron' },
    })
  })

  it('a digest with nothing to say is silent, and counts as run', async () => {
    const scene = await office('2026-11-21T01:20Z', {})
    await passTo(scene, '2026-11-21T01:30:01Z')
    // Time must not pass over a model that is being asked: that would count as one that stalls.
    await expect.poll(() => lastRun(scene)).toMatchObject({ state: 'done', outcome: 'silent' })
    await passTo(scene, '2026-11-21T01:45:01Z')
    await passTo(scene, '2026-11-21T02:00:01Z')
    expect(await lastRun(scene)).toMatchObject({ state: 'done', outcome: 'silent' })
    expect(texts(scene, OFFICE)).toEqual([])
  })

  it('a daemon stopped in the middle of the run goes on with it, and delivers once', async () => {
    const gate = createGate()
    let asked = 0
    const script: Script = (request, turn) => {
      if (!lastUserText(request).startsWith('Summarise')) return summing(request, turn)
      const holds = asked++ === 0 ? { holds: [{ beforeDelta: 1, gate }] } : {}
      return textReply('Digest: all is well', holds)
    }
    const scene = await office('2026-11-21T01:20Z', {}, script)
    scene.clock.set('2026-11-21T01:30:01Z')
    await gate.reached
    const draining = scene.clock.timerOf(DRAIN_MS, 900)
    const stopping = scene.daemon.stop()
    await draining
    scene.clock.skip(DRAIN_MS)
    await stopping
    gate.release()
    const mark = scene.telegram.ledger.mark()
    await scene.restart()
    await nextIn(scene, OFFICE, mark)
    await passTo(scene, '2026-11-21T01:45:01Z')
    await passTo(scene, '2026-11-21T02:00:01Z')
    expect(texts(scene, OFFICE)).toEqual(['Digest: all is well'])
    await expect.poll(() => lastRun(scene)).toMatchObject({ state: 'done', outcome: 'answered' })
  })

  it('an answer to the digest makes sense: its topic knows what was posted there', async () => {
    const scene = await office('2026-11-21T01:20Z', {})
    await overhear(scene, 'dinner at seven')
    const mark = scene.telegram.ledger.mark()
    scene.clock.set('2026-11-21T01:30:01Z')
    const { messageId } = await nextIn(scene, OFFICE, mark)
    const asked = scene.telegram.ledger.mark()
    const topic = { chat: OFFICE, topic: scene.topic }
    scene.telegram.world.say({ from: 111, ...topic, text: 'at whose place?', replyTo: messageId })
    await nextIn(scene, OFFICE, asked)
    const request = scene.anthropic?.ledger.requests().find((one) => lastUserText(one).includes('at whose place?'))
    expect(JSON.stringify(request?.messages)).toContain('"Digest: Bob: dinner at seven"')
    expect(request?.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
    const { events } = await scene.daemon.operator.sessions.show(`telegram:group:${OFFICE}/${scene.topic}`)
    expect(events.map(({ type }) => type)).toContain('assistant_posted')
  })

  it('the next run is not shown the messages of the last one again', async () => {
    const scene = await office('2026-11-21T01:20Z', {})
    await overhear(scene, 'dinner at seven')
    await scene.daemon.operator.schedules.run('morning')
    await nextIn(scene, OFFICE, 0)
    await overhear(scene, 'bring bread')
    const mark = scene.telegram.ledger.mark()
    await passTo(scene, '2026-11-21T01:30:01Z')
    await nextIn(scene, OFFICE, mark)
    const [, second] = (scene.anthropic?.ledger.requests() ?? []).filter((one) =>
      lastUserText(one).startsWith('Summarise'),
    )
    const sent = JSON.stringify(second?.messages)
    expect(sent).toContain('bring bread')
    expect(sent.match(/> \[[^\]]*\] Bob: dinner at seven/)).toBeNull()
  })
})

it('T31: /send off in a chat holds back what a schedule would say there, until /send on', async () => {
  const schedule: ConfiguredSchedule = {
    id: toScheduleId('morning'),
    definition: {
      cron: '0 8 * * *',
      timezone: 'UTC',
      prompt: 'Good morning',
      deliverTo: parseAddress('telegram:direct:111'),
      missed: { kind: 'once' },
      overlap: 'skip',
    },
  }
  const house = await startHousehold({ clock: setClock('2026-11-21T07:50Z'), schedules: () => [schedule] })
  const { ledger, world } = house.telegram
  const tell = async (text: string): Promise<void> => {
    const mark = ledger.mark()
    world.say({ from: 111, text })
    await ledger.nextFromBot('sent', { after: mark })
  }
  await tell('/send off')
  const { traceId } = await house.daemon.operator.schedules.run('morning')
  await expect.poll(async () => (await house.daemon.operator.why(traceId))[0]?.outcome).toBe('refused: send_policy')
  expect(ledger.calls('sendMessage')).toHaveLength(1)
  await tell('/send on')
  const mark = ledger.mark()
  await house.daemon.operator.schedules.run('morning')
  expect((await ledger.nextFromBot('sent', { after: mark })).text).toContain('Good morning')
})

it('S47, T31: where nothing may be sent nothing runs, and the run says why it failed', async () => {
  const clock = setClock('2026-11-21T07:50Z')
  const schedule: ConfiguredSchedule = {
    id: toScheduleId('morning'),
    definition: {
      cron: '0 8 * * *',
      timezone: 'UTC',
      prompt: 'Good morning',
      deliverTo: parseAddress('telegram:direct:111'),
      missed: { kind: 'once' },
      overlap: 'skip',
    },
  }
  const house = await startHousehold({
    clock,
    schedules: () => [schedule],
    routing: { sendPolicy: { rules: [{ match: { keyPrefix: 'cron:' }, action: 'deny' }], default: 'allow' } },
  })
  const { traceId } = await house.daemon.operator.schedules.run('morning')
  await house.daemon.operator.schedules.run('morning')
  expect(await house.daemon.operator.why(traceId)).toMatchObject([{ reason: 'send_policy', decision: 'context' }])
  expect(house.telegram.ledger.calls('sendMessage')).toEqual([])
})
