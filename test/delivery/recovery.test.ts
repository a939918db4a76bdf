import { afterEach, expect, test } from 'vitest'
import { type Address, formatAddress } from '../../src/core/address.ts'
import { armFailpoints, type Failpoint } from '../../src/core/failpoint.ts'
import type { TraceId, TurnId } from '../../src/core/ids.ts'
import type { OutboundMessage } from '../../src/core/outbound.ts'
import { deferred } from '../../src/rehearsal/deferred.ts'
import { sessionDraft } from '../store/sample-rows.ts'
import { answerLost, hanging } from './fake-channel.ts'
import { at, DM, GROUP, openRig, type Rig } from './rig.ts'

/** More than the sends of a stop ever take. */
const STOP_MS = 20_000

afterEach(() => armFailpoints(() => {}))

const PARTS = Array.from({ length: 8 }, (_, index) => `This is part number ${index + 1} of the answer.`)

/** Says it, and dies the first time the point is reached, so that nothing after it happens in that process. */
async function dieAt(point: Failpoint, rig: Rig, message: OutboundMessage): Promise<void> {
  const reached = deferred<void>()
  armFailpoints((passed) => {
    if (passed !== point) return
    reached.resolve()
    throw new Error('killed')
  })
  const planned = await rig.store.write((tx) => rig.delivery.plan(tx, message))
  try {
    rig.delivery.release(planned)
  } catch {
    // The process is dead.
  }
  await reached.promise
  armFailpoints(() => {})
  await rig.crash()
  await rig.ready()
}

test('F-A09: killed after the plan was committed, the message is sent exactly once', async () => {
  const rig = await openRig()
  await rig.say('before')
  rig.up = false
  const message = rig.message('hello')
  await dieAt('CP10-outbox-planned', rig, message)
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['before', 'hello'])
  expect(await rig.rows(message.source)).toMatchObject([{ state: 'sent' }])
})

test('F-A09: killed with `sending` committed and no byte sent, a person sees it exactly once', async () => {
  const rig = await openRig()
  const message = rig.message('hello')
  await dieAt('CP11-sending-committed', rig, message)
  expect(await rig.rows(message.source)).toMatchObject([{ state: 'uncertain' }])
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['(repeat) hello'])
  expect(await rig.rows(message.source)).toMatchObject([{ state: 'resent' }])
})

test('F-A14: killed after the bytes left, a reply is seen twice at most and the second is marked', async () => {
  const rig = await openRig()
  rig.channel.fates.push(hanging(true))
  const message = rig.message('hello')
  await rig.say('', message)
  await rig.channel.called(1)
  await rig.crash()
  await rig.ready()
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['hello', '(repeat) hello'])
})

test('F-A14: killed after the bytes left, an effect is never sent again and is listed', async () => {
  const rig = await openRig()
  rig.channel.fates.push(hanging(true))
  await rig.say('announcement', { class: 'effect' })
  await rig.channel.called(1)
  await rig.crash()
  await rig.ready()
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['announcement'])
  expect(await rig.store.read.outbox.counts()).toEqual({ given_up: 1 })
})

test('F-A14: killed while the repeat was on its way, it is not repeated again', async () => {
  const rig = await openRig()
  rig.channel.fates.push(answerLost, hanging(true))
  const message = rig.message('hello')
  await rig.say('', message)
  await rig.delivery.idle()
  rig.clock.moveTo(rig.clock.now() + 10_000)
  await rig.channel.called(2)
  await rig.crash()
  await rig.ready()
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['hello', '(repeat) hello'])
  expect(await rig.rows(message.source)).toMatchObject([{ state: 'given_up' }])
})

test('F-A15: killed between chunks, the rest follows in order with nothing missing or repeated', async () => {
  const rig = await openRig()
  const message = rig.message(PARTS.join('\n\n'))
  await dieAt('CP14-between-chunks', rig, message)
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(PARTS)
  expect(rig.channel.calls.filter(({ text }) => text === PARTS[0])).toHaveLength(1)
})

test('what is too old at boot is ended at once, and the rest goes out in order', async () => {
  const rig = await openRig()
  rig.up = false
  for (let count = 0; count < 30; count++) await rig.say(`old ${count}`)
  await rig.pass(23 * 3_600_000)
  await rig.say('new 1')
  await rig.say('new 2')
  await rig.pass(2 * 3_600_000)
  await rig.crash()
  expect(await rig.store.read.outbox.counts()).toEqual({ expired: 30, planned: 2 })
  await rig.ready()
  expect(rig.channel.visible(DM)).toEqual(['new 1', 'new 2'])
})

test('an uncertain row older than its class allows is listed as given up', async () => {
  const rig = await openRig()
  rig.channel.fates.push(hanging(true))
  await rig.say('hello')
  await rig.channel.called(1)
  rig.clock.moveTo(rig.clock.now() + 25 * 3_600_000)
  await rig.crash()
  expect(await rig.store.read.outbox.counts()).toEqual({ given_up: 1 })
})

async function runningTurn(rig: Rig): Promise<TurnId> {
  const id = rig.ids.turn()
  await rig.store.write(async (tx) => {
    const startedAt = rig.clock.now()
    const { id: sessionId } = await tx.sessions.create(sessionDraft(1), startedAt)
    await tx.turns.start({ id, sessionId, traceId: 'tr_1' as TraceId, reply: { address: at(DM) }, startedAt })
  })
  return id
}

function liveOf(rig: Rig, turnId: TurnId): ReturnType<Rig['delivery']['live']> {
  return rig.delivery.live({ turnId, traceId: 'tr_1' as TraceId, address: at(DM) })
}

test('F-A04: killed in mid-stream, the resumed turn ends in the same message, which never shrinks before it grows', async () => {
  const rig = await openRig()
  const turnId = await runningTurn(rig)
  liveOf(rig, turnId).push('Once upon')
  await rig.pass(1_000)
  await rig.crash()
  await rig.ready()
  const live = liveOf(rig, turnId)
  live.push('Once')
  await rig.pass(1_000)
  live.push('Once upon a time')
  await rig.pass(1_000)
  await live.settle()
  expect(rig.channel.visible(DM)).toEqual(['Once upon'])
  await rig.say('The end.', { source: turnId })
  await rig.delivery.idle()
  expect(rig.channel.visible(DM)).toEqual(['The end.'])
  expect(rig.channel.calls.filter(({ op }) => op === 'send')).toHaveLength(1)
})

test('F-A04: killed in mid-stream, a turn that then ends at once still edits its preview', async () => {
  const rig = await openRig()
  const turnId = await runningTurn(rig)
  liveOf(rig, turnId).push('Once upon')
  await rig.pass(1_000)
  await rig.crash()
  await rig.ready()
  await rig.say('The end.', { source: turnId })
  await rig.delivery.idle()
  expect(rig.channel.visible(DM)).toEqual(['The end.'])
})

test('F-A04: killed while the first message was on its way, half a sentence is never repeated', async () => {
  const rig = await openRig()
  rig.channel.fates.push(hanging(true))
  const turnId = await runningTurn(rig)
  liveOf(rig, turnId).push('Once upon')
  rig.clock.moveTo(rig.clock.now() + 750)
  await rig.channel.called(1)
  await rig.crash()
  await rig.ready()
  await rig.pass(60_000)
  expect(rig.channel.calls).toHaveLength(1)
  const live = liveOf(rig, turnId)
  live.push('Once upon a time')
  await rig.pass(2_000)
  await live.settle()
  await rig.say('The end.', { source: turnId })
  await rig.pass(20_000)
  expect(rig.channel.visible(DM)).toEqual(['Once upon', '(repeat) The end.'])
})

test('F-A04: killed while the final edit was on its way, it is edited again and stays one message', async () => {
  const rig = await openRig()
  const turnId = await runningTurn(rig)
  const live = liveOf(rig, turnId)
  live.push('Once upon')
  await rig.pass(1_000)
  await live.settle()
  const usage = { input: 0, output: 0 }
  const planned = await rig.store.write(async (tx) => {
    await tx.turns.finish(turnId, { state: 'completed', outcome: 'answered', at: rig.clock.now(), usage })
    return rig.delivery.plan(tx, { ...rig.message('The end.'), source: turnId })
  })
  rig.channel.fates.push(hanging(false))
  rig.delivery.release(planned)
  await rig.channel.called(2)
  await rig.crash()
  await rig.ready()
  await rig.pass(5_000)
  expect(rig.channel.visible(DM)).toEqual(['The end.'])
  expect(await rig.rows(turnId)).toMatchObject([{ state: 'sent', op: 'edit', messageId: 'm1' }])
})

test('the uncertain preview of a turn that was stopped is given up at the next start', async () => {
  const rig = await openRig()
  rig.channel.fates.push(answerLost)
  const turnId = await runningTurn(rig)
  const live = liveOf(rig, turnId)
  live.push('Once upon')
  await rig.pass(1_000)
  await live.settle()
  const usage = { input: 0, output: 0 }
  await rig.store.write((tx) =>
    tx.turns.finish(turnId, { state: 'cancelled', outcome: 'cancelled', at: rig.clock.now(), usage }),
  )
  await rig.crash()
  await rig.ready()
  await rig.pass(60_000)
  expect(rig.channel.calls).toHaveLength(1)
  expect(await rig.rows(turnId)).toMatchObject([{ state: 'given_up' }])
})

test('stop waits for the send in flight, starts none, and what is left goes out after the next start', async () => {
  const rig = await openRig()
  const receipt = deferred<{ kind: 'sent'; messageId: string }>()
  rig.channel.fates.push({ receipt: receipt.promise, done: true })
  const [first, second] = [rig.message('first'), rig.message('second')]
  await rig.say('', first)
  await rig.say('', second)
  await rig.channel.called(1)
  const stopped = rig.delivery.stop(STOP_MS)
  receipt.resolve({ kind: 'sent', messageId: 'm1' })
  await stopped
  const late = await rig.say('late', { address: at(GROUP) })
  expect(late.outcome).toBe('planned')
  expect((await rig.rows(first.source)).map(({ state }) => state)).toEqual(['sent'])
  expect((await rig.rows(second.source)).map(({ state }) => state)).toEqual(['planned'])
  await rig.crash()
  await rig.ready()
  expect([rig.channel.visible(DM), rig.channel.visible(GROUP)]).toEqual([['first', 'second'], ['late']])
})

test('stop aborts a send that does not return and records it as uncertain', async () => {
  const rig = await openRig({ settings: { stopWithinMs: 3_000 } })
  rig.channel.fates.push(hanging(true))
  const message = rig.message('hello')
  await rig.say('', message)
  await rig.channel.called(1)
  const stopped = rig.delivery.stop(STOP_MS)
  rig.clock.moveTo(rig.clock.now() + 3_000)
  await stopped
  expect(await rig.rows(message.source)).toMatchObject([{ state: 'uncertain', reason: 'aborted' }])
})

test('a plan released after stop is put back, so that the next start knows it never left', async () => {
  const rig = await openRig()
  const message = rig.message('hello')
  const planned = await rig.store.write((tx) => rig.delivery.plan(tx, message))
  await rig.delivery.stop(STOP_MS)
  rig.delivery.release(planned)
  await rig.delivery.idle()
  expect(await rig.rows(message.source)).toMatchObject([{ state: 'waiting' }])
})

const SPOILED = ['spoiled', 'null', '[]', '{"type":"odd"}', '{"text":5,"plain":5,"markup":"plain"}']

test.each(SPOILED)('a row whose part reads %s is set aside at the start and keeps nothing waiting', async (part) => {
  const unreadable: Address[] = []
  const rig = await openRig({ unreadable: (to) => unreadable.push(to) })
  rig.up = false
  const [broken, next] = [rig.message('broken'), rig.message('next')]
  await rig.say('', broken)
  await rig.say('', next)
  rig.spoil(broken.source, part)
  await rig.crash()
  await rig.ready()
  await rig.pass(60_000)
  expect(rig.channel.visible(DM)).toEqual(['next'])
  expect(await rig.store.read.outbox.counts()).toEqual({ given_up: 1, sent: 1 })
  expect(unreadable.map(formatAddress)).toEqual([DM])
})

test.each(SPOILED)(
  'a row whose part comes to read %s while it waits is set aside and keeps nothing waiting',
  async (part) => {
    const unreadable: Address[] = []
    const rig = await openRig({ unreadable: (to) => unreadable.push(to) })
    rig.up = false
    const [broken, next] = [rig.message('broken'), rig.message('next')]
    await rig.say('', broken)
    await rig.say('', next)
    rig.spoil(broken.source, part)
    await rig.ready()
    await rig.pass(60_000)
    expect(rig.channel.visible(DM)).toEqual(['next'])
    expect(await rig.store.read.outbox.counts()).toEqual({ given_up: 1, sent: 1 })
    expect(unreadable.map(formatAddress)).toEqual([DM])
  },
)
